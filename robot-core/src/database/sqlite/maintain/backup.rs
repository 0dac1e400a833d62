//! Backup of a database file, made by SQLite while other connections write to it.

use std::{error::Error, fs, io, ops::ControlFlow, path::Path, sync::Arc};

use diesel::{
    Connection, QueryResult, RunQueryDsl, SqliteConnection,
    dsl::sql,
    sql_query,
    sql_types::{BigInt, Text},
};

use super::background::run_while;
use crate::database::sqlite::connect::{DatabaseFile, JOURNAL, LOGS, Purpose, uri};
use crate::{
    catalogue::{Backup, BackupError, OpenError, OpenOptions},
    files::{Existing, OutputError, OutputFile, path::with_suffix},
};

/// Backs up the database of a URL to a file, until `next` breaks.
pub(crate) fn backup(
    url: &str,
    options: &OpenOptions,
    file: &Path,
    existing: Existing,
    next: &mut (dyn FnMut() -> ControlFlow<()> + '_),
) -> Result<Backup, BackupError> {
    let database = DatabaseFile::from_url(url, options)?;
    database.pin()?;
    let output = create(&database, file, existing)?;
    let robots = copy(&database, &output, next)?;
    let bytes = output
        .finish(existing)
        .map_err(|error| not_written(file, error))?;
    Ok(Backup {
        robots,
        bytes,
        replaced: None,
    })
}

/// Creates the file, if a backup may be written to it.
fn create(
    database: &DatabaseFile,
    file: &Path,
    existing: Existing,
) -> Result<OutputFile, BackupError> {
    let own = database.store_files();
    if existing == Existing::Keep && !own.contains(file) && fs::symlink_metadata(file).is_ok() {
        return Err(BackupError::Exists(file.to_owned()));
    }
    let mut output = OutputFile::create(file, &own).map_err(|error| not_written(file, error))?;
    let logs = LOGS.map(|suffix| with_suffix(output.path(), suffix));
    if let Some(log) = logs
        .into_iter()
        .find(|log| fs::symlink_metadata(log).is_ok())
    {
        return Err(BackupError::WalBeside(log));
    }
    // The backup is as readable as the catalogue, and its owner may change it.
    output
        .readable_as(database.path())
        .map_err(|error| failed(file, error))?;
    Ok(output)
}

/// The error for a file that cannot be written.
pub(super) fn not_written(file: &Path, error: OutputError) -> BackupError {
    match error {
        OutputError::OfCatalogue => BackupError::Itself(file.to_owned()),
        OutputError::Io(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            BackupError::Exists(file.to_owned())
        }
        OutputError::NotSynced(cause) => BackupError::NotSynced {
            file: file.to_owned(),
            cause: Arc::new(cause),
        },
        error => failed(file, error),
    }
}

fn failed(file: &Path, cause: impl Into<Box<dyn Error + Send + Sync>>) -> BackupError {
    BackupError::Failed {
        file: file.to_owned(),
        cause: cause.into().into(),
    }
}

/// Copies and checks the database on a thread of its own, and returns the number of robots, unless `next`
/// breaks. The thread then ends when SQLite has written everything to the deleted file. Without a complete
/// copy, the file is deleted.
pub(super) fn copy(
    database: &DatabaseFile,
    output: &OutputFile,
    next: &mut (dyn FnMut() -> ControlFlow<()> + '_),
) -> Result<u64, BackupError> {
    let (file, temporary) = (output.path().to_owned(), output.temporary_path());
    let path = temporary.to_str().map(str::to_owned);
    let path = path.ok_or_else(|| failed(&file, "SQLite accepts UTF-8 paths only"))?;
    let mut reader = database.reader(Purpose::Write)?;
    let (database, of_thread) = (database.clone(), file.clone());
    let copied = run_while("robot-backup", next, move || {
        let copied = reader.read(|connection| vacuum_into(connection, &path));
        // The caller may be the last to use the database, and expects nothing beside it.
        drop(reader);
        copied.map_err(|error| failed(&of_thread, error))?;
        check_copy(&database, &path)
    });
    let copied = match copied {
        Ok(Some(copied)) => copied,
        Ok(None) => Err(BackupError::Cancelled(file)),
        Err(error) => Err(failed(&file, error)),
    };
    if copied.is_err() {
        // SQLite opens no journal for a deleted file, and an open one is useless without it.
        let _ = fs::remove_file(temporary);
        let _ = fs::remove_file(with_suffix(temporary, JOURNAL));
    }
    copied
}

/// Copies what is committed into an empty file, in one read transaction, which does not block
/// writers. The copy has no unused pages.
fn vacuum_into(connection: &mut SqliteConnection, path: &str) -> QueryResult<()> {
    sql_query("VACUUM main INTO ?")
        // Not "rwc": the file may have been deleted after a cancellation.
        .bind::<Text, _>(uri(path, "rw"))
        .execute(connection)
        .map(drop)
}

/// Whether a finding of SQLite is about the search index: FTS5 names itself, in upper or in lower case.
pub(crate) fn is_of_search_index(finding: &str) -> bool {
    finding.contains("FTS5") || finding.starts_with("fts5: ")
}

/// Reads the whole copy through a new connection, and returns the number of robots in it.
fn check_copy(database: &DatabaseFile, path: &str) -> Result<u64, BackupError> {
    let damaged = |findings: String| BackupError::Damaged {
        database: database.name(),
        findings,
    };
    let mut connection = SqliteConnection::establish(&uri(path, "ro"))
        .map_err(|error| damaged(error.to_string()))?;
    let mut texts = |query: &str| sql::<Text>(query).load::<String>(&mut connection);
    let findings = match texts("PRAGMA integrity_check(1)") {
        Ok(findings) => findings.join("; "),
        Err(error) => error.to_string(),
    };
    if findings != "ok" {
        return Err(if is_of_search_index(&findings) {
            BackupError::DamagedIndex {
                database: database.name(),
                findings,
            }
        } else {
            damaged(findings)
        });
    }
    let tables = texts(
        "SELECT name FROM sqlite_master WHERE name IN ('robots', '__diesel_schema_migrations')",
    );
    if tables.map_err(|error| damaged(error.to_string()))?.len() < 2 {
        return Err(BackupError::Open(OpenError::Foreign(database.name())));
    }
    let count = sql::<BigInt>("SELECT count(*) FROM robots").get_result::<i64>(&mut connection);
    let count = count.map_err(|error| damaged(error.to_string()))?;
    Ok(u64::try_from(count).unwrap_or(0))
}
