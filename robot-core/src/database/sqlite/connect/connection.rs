//! Connection to an SQLite file: its settings, and how it waits for locks.

use std::{
    thread,
    time::{Duration, Instant},
};

use diesel::{
    QueryResult, RunQueryDsl, SqliteConnection,
    connection::SimpleConnection,
    dsl::sql,
    sql_types::{Nullable, Text},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{database::sqlite::errors::is_locked, model::fold};

/// The pause between two attempts to take a lock that SQLite does not wait for. It is needed only
/// when several processes create one file at the same time.
pub(crate) const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The pause between two attempts to take the write lock. Too long, and a program that writes without a
/// pause leaves the lock free only while this one sleeps; too short, and waiting takes a whole core.
pub(super) const WRITE_LOCK_PAUSE: Duration = Duration::from_micros(20);

/// The size in bytes to which SQLite shortens the WAL when it starts again from the beginning. Too
/// low, and the WAL is shortened and extended all the time, which makes commits slower; too high, and
/// the disk space of a burst is never freed. Four times the size at which it is checkpointed.
pub(crate) const WAL_LIMIT: u64 = 48 << 20;

/// Characters that are percent-encoded in a file URI.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_');

/// Purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To create the file and its tables.
    Create,
    /// To read, in a snapshot, while other connections read and one writes.
    Read,
    /// To read on a thread that must not block: without waiting for locks.
    ReadInline,
    /// To write.
    Write,
}

impl Purpose {
    /// Only the first connection of a catalogue creates the file. If the file disappears later, an
    /// empty one in its place would only hide the loss.
    pub(crate) fn mode(self) -> &'static str {
        match self {
            Self::Create => "rwc",
            Self::Read | Self::ReadInline | Self::Write => "rw",
        }
    }

    /// Size of the page cache, in KiB: larger for the few connections that are always busy.
    fn cache_size(self) -> u32 {
        match self {
            Self::Read => 250,
            Self::ReadInline => 8_000,
            Self::Create | Self::Write => 16_000,
        }
    }
}

/// The URI by which SQLite opens a file in a mode.
pub(crate) fn uri(path: &str, mode: &str) -> String {
    // An absolute path needs an empty host, or SQLite parses its first segment as a host.
    let host = if path.starts_with('/') { "//" } else { "" };
    let path = utf8_percent_encode(path, ENCODED);
    format!("file:{host}{path}?mode={mode}")
}

#[diesel::declare_sql_function]
extern "SQL" {
    /// Folds a text.
    fn robots_fold(text: Nullable<Text>) -> Nullable<Text>;
}

/// Sets what the catalogue relies on. Statements wait for locks of other processes up to `timeout`.
pub(crate) fn set_up(
    connection: &mut SqliteConnection,
    purpose: Purpose,
    timeout: Duration,
) -> QueryResult<()> {
    let busy_timeout = match purpose {
        Purpose::ReadInline => 0,
        Purpose::Create | Purpose::Read | Purpose::Write => timeout.as_millis(),
    };
    robots_fold_utils::register_impl(connection, |text: Option<String>| {
        text.map(|text| fold(&text).into_owned())
    })?;
    let cache_size = purpose.cache_size();
    // With synchronous = FULL a commit waits for the disk; otherwise a power cut could undo
    // acknowledged writes. fullfsync is the same on macOS, where a plain sync does not reach the
    // medium.
    connection.batch_execute(&format!(
        "PRAGMA busy_timeout = {busy_timeout}; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;
         PRAGMA cache_size = -{cache_size};"
    ))?;
    // The statement journal of a writer stays in memory, instead of a file for each statement.
    // SQLite discards the errors of automatic checkpoints: see the module `checkpoints`.
    connection.batch_execute(&match purpose {
        Purpose::Read | Purpose::ReadInline => "PRAGMA query_only = ON;".to_owned(),
        Purpose::Create | Purpose::Write => format!(
            "PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 0;
             PRAGMA journal_size_limit = {WAL_LIMIT};"
        ),
    })
}

/// Switches a file to a write-ahead log (WAL), with which readers and a writer do not block each other.
///
/// # Errors
/// The file cannot be changed, or its file system has no shared memory.
pub(crate) fn enable_wal(
    connection: &mut SqliteConnection,
    timeout: Duration,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    // If several processes open a new file simultaneously, one of them can switch it. For the others
    // SQLite fails without waiting, since waiting could be a deadlock.
    let mode = retry_while_locked(timeout, LOCK_PAUSE, || {
        sql::<Text>("PRAGMA journal_mode = WAL").get_result::<String>(connection)
    })?;
    if mode == "wal" {
        return Ok(());
    }
    Err(format!("its file system does not support SQLite's WAL (journal mode '{mode}')").into())
}

/// Repeats an attempt while other programs hold the lock that it needs, up to `timeout`.
pub(crate) fn retry_while_locked<T>(
    timeout: Duration,
    pause: Duration,
    mut attempt: impl FnMut() -> QueryResult<T>,
) -> QueryResult<T> {
    let started = Instant::now();
    loop {
        match attempt() {
            Err(error) if is_locked(&error) && started.elapsed() < timeout => {
                thread::sleep(pause);
            }
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use diesel::{Connection, ConnectionResult, dsl::sql, sql_types::BigInt};

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(2);

    fn establish(path: &str, purpose: Purpose) -> ConnectionResult<SqliteConnection> {
        SqliteConnection::establish(&uri(path, purpose.mode()))
    }

    fn setting(connection: &mut SqliteConnection, name: &str) -> i64 {
        let query = format!("PRAGMA {name}");
        sql::<BigInt>(&query).get_result(connection).unwrap()
    }

    #[test]
    fn connections_have_the_settings_for_durability() {
        const FULL: i64 = 2;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robots.db");
        let path = path.to_str().unwrap();
        for (purpose, query_only) in [
            (Purpose::Create, 0),
            (Purpose::Write, 0),
            (Purpose::Read, 1),
            (Purpose::ReadInline, 1),
        ] {
            let mut connection = establish(path, purpose).unwrap();
            set_up(&mut connection, purpose, TIMEOUT).unwrap();
            enable_wal(&mut connection, TIMEOUT).unwrap();
            assert_eq!(setting(&mut connection, "synchronous"), FULL, "{purpose:?}");
            assert_eq!(setting(&mut connection, "fullfsync"), 1, "{purpose:?}");
            assert_eq!(
                setting(&mut connection, "query_only"),
                query_only,
                "{purpose:?}"
            );
            if query_only == 0 {
                assert_eq!(setting(&mut connection, "wal_autocheckpoint"), 0);
                let limit = setting(&mut connection, "journal_size_limit");
                assert_eq!(u64::try_from(limit), Ok(WAL_LIMIT));
            }
        }
    }
}
