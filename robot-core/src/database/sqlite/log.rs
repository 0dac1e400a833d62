//! Write-ahead log of a database: the file beside it, and its size.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use super::companions::LOG;
use crate::files::path::with_suffix;

/// The length of the header of the log in bytes.
const HEADER_LENGTH: u64 = 32;

/// The length of the header of a page in bytes.
const PAGE_HEADER_LENGTH: u64 = 24;

/// Random numbers in both headers.
type Salts = [u8; 8];

/// The log of a database that is open.
#[derive(Debug, Clone)]
pub(super) struct Log(PathBuf);

impl Log {
    /// The log of the database at a path, which is resolved.
    pub(super) fn of(database: &Path) -> Self {
        Self(with_suffix(database, LOG))
    }

    /// Whether the log has no bytes, as after it was created, or truncated by another program.
    ///
    /// A connection must not reuse its page cache then. SQLite keeps the cache of a connection if the
    /// header of the shared memory is the same as at its last transaction. The header contains random
    /// numbers of the log, so it never repeats; but if it is rebuilt over an empty log, because
    /// another process was killed while it wrote the header, it is always the same. The cache would
    /// be taken for current, whatever was committed in between, and the next commit would write its
    /// old pages.
    pub(super) fn is_empty(&self) -> bool {
        self.length() == Some(0)
    }

    /// Whether the log has at least this many pages since it last started again.
    ///
    /// The file keeps its length then, but its header gets other random numbers, the salts, which are
    /// repeated before each page: see <https://sqlite.org/fileformat2.html#walformat>. SQLite before
    /// 3.51 has no statement that returns the number.
    pub(super) fn has_pages(&self, count: u64) -> bool {
        let salts = || -> io::Result<(Salts, Salts)> {
            let mut file = File::open(&self.0)?;
            let page_size = u32::from_be_bytes(read_at(&mut file, 8)?);
            let page = HEADER_LENGTH + (count - 1) * (PAGE_HEADER_LENGTH + u64::from(page_size));
            Ok((read_at(&mut file, 16)?, read_at(&mut file, page + 8)?))
        };
        // A page that cannot be read does not exist; errors are found when SQLite reads the log.
        salts().is_ok_and(|(log, page)| log == page)
    }

    /// The length of the file in bytes. `None` if it does not exist, or cannot be accessed: `Files` reports that.
    pub(super) fn length(&self) -> Option<u64> {
        fs::metadata(&self.0).ok().map(|found| found.len())
    }
}

/// The log of a connection that is open. SQLite neither deletes nor replaces the file meanwhile, so it
/// is opened once: examining an open file takes a third of the time of examining its path.
#[derive(Debug)]
pub(super) struct OpenLog {
    log: Log,
    /// `None` until it is examined, or while it does not exist.
    file: Option<File>,
}

impl OpenLog {
    pub(super) fn new(log: Log) -> Self {
        Self { log, file: None }
    }

    /// See [`Log::is_empty`]. The connection must have been used.
    pub(super) fn is_empty(&mut self) -> bool {
        if self.file.is_none() {
            self.file = File::open(&self.log.0).ok();
        }
        let found = self.file.as_ref().and_then(|file| file.metadata().ok());
        found.is_some_and(|found| found.len() == 0)
    }
}

fn read_at<const LENGTH: usize>(file: &mut File, offset: u64) -> io::Result<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use diesel::{
        RunQueryDsl, SqliteConnection, connection::SimpleConnection, dsl::sql, sql_types::Integer,
    };

    use super::*;
    use crate::{
        catalogue::OpenOptions,
        database::sqlite::{
            connection::{Purpose, enable_wal},
            file::DatabaseFile,
        },
    };

    fn write(connection: &mut SqliteConnection, pages: u64) {
        for _ in 0..pages {
            connection.batch_execute("PRAGMA user_version = 0").unwrap();
        }
    }

    #[test]
    fn pages_are_counted_since_the_log_started_again() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/robots.db", folder.path().display());
        let file = DatabaseFile::from_url(&url, &OpenOptions::new()).unwrap();
        for page_size in [512, 4096, 65_536] {
            let mut connection = file.connect(Purpose::Create).unwrap();
            let page_size = format!("PRAGMA journal_mode = DELETE; PRAGMA page_size = {page_size}");
            connection.batch_execute(&page_size).unwrap();
            connection.batch_execute("VACUUM").unwrap();
            enable_wal(&mut connection, file.timeout()).unwrap();
            let log = Log::of(file.resolved());
            assert!(!log.has_pages(1));
            write(&mut connection, 3);
            assert!(log.has_pages(3) && !log.has_pages(4));
            let length = log.length();
            let restart = "PRAGMA wal_checkpoint(RESTART)";
            let busy = sql::<Integer>(restart).get_result::<i32>(&mut connection);
            assert_eq!(busy, Ok(0));
            write(&mut connection, 2);
            assert!(log.has_pages(2) && !log.has_pages(3));
            assert_eq!(log.length(), length);
        }
    }
}
