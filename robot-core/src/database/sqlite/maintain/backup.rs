//! Backup of a database file, made by SQLite while other connections write to it.

use std::{fs, io, ops::ControlFlow, path::Path, sync::Arc};

use diesel::{
    Connection, QueryResult, RunQueryDsl, SqliteConnection,
    dsl::sql,
    sql_query,
    sql_types::{BigInt, Text},
};

use super::background::run_while;
use crate::database::sqlite::connect::{DatabaseFile, JOURNAL, LOGS, Purpose, Reader, uri};
use crate::{
    catalogue::{Backup, BackupError, OpenError, OpenOptions},
    files::{Existing, OutputError, OutputFile, path::with_suffix},
};

/// The cause of a failure.
type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// Backs up the database of a URL to a file, until `next` breaks.
pub(crate) fn backup(
    url: &str,
    options: &OpenOptions,
    file: &Path,
    existing: Existing,
    next: &mut (dyn FnMut() -> ControlFlow<()> + '_),
) -> Result<Backup, BackupError> {
    let database = DatabaseFile::from_url(url, options)?;
    database.must_exist()?;
    database.pin()?;
    let failed = |cause: BoxedError| BackupError::Failed {
        file: file.to_owned(),
        cause: cause.into(),
    };
    let output = create(&database, file, existing)?;
    let path = output.temporary_path().to_str();
    let path = path.ok_or_else(|| failed("SQLite accepts UTF-8 paths only".into()))?;
    let connection = database.reader(Purpose::Write)?;
    let robots = copy(&database, connection, path, next)
        .unwrap_or_else(|cause| Some(Err(failed(cause))))
        .unwrap_or_else(|| Err(BackupError::Cancelled(file.to_owned())))?;
    let bytes = output.finish(existing).map_err(|error| match error {
        OutputError::Io(error)
            if existing == Existing::Keep && error.kind() == io::ErrorKind::AlreadyExists =>
        {
            BackupError::Exists(file.to_owned())
        }
        OutputError::NotSynced(cause) => BackupError::NotSynced {
            file: file.to_owned(),
            cause: Arc::new(cause),
        },
        error => failed(error.into()),
    })?;
    Ok(Backup { robots, bytes })
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
    let failed = |cause: BoxedError| BackupError::Failed {
        file: file.to_owned(),
        cause: cause.into(),
    };
    let mut output = OutputFile::create(file, &own).map_err(|error| match error {
        OutputError::OfCatalogue => BackupError::Itself(file.to_owned()),
        error => failed(error.into()),
    })?;
    let mut logs = LOGS
        .map(|suffix| with_suffix(output.path(), suffix))
        .into_iter();
    if let Some(log) = logs.find(|log| fs::symlink_metadata(log).is_ok()) {
        return Err(BackupError::WalBeside(log));
    }
    // The backup is as readable as the catalogue, and its owner may change it.
    output
        .readable_as(database.path())
        .map_err(|error| failed(error.into()))?;
    Ok(output)
}

/// Copies and checks the database on a thread of its own, and returns the number of robots; `None`
/// if `next` broke. The thread then ends when SQLite has written everything to the deleted file. Without
/// a complete copy, the file is deleted.
pub(crate) fn copy(
    database: &DatabaseFile,
    mut connection: Reader,
    path: &str,
    next: &mut (dyn FnMut() -> ControlFlow<()> + '_),
) -> Result<Option<Result<u64, BackupError>>, BoxedError> {
    let (database, of_thread) = (database.clone(), path.to_owned());
    let copied = run_while("robot-backup", next, move || {
        let copied = connection
            .read(|connection| vacuum_into(connection, &of_thread))
            .map(|()| check_copy(&database, &of_thread));
        // The caller may be the last to use the database, and expects nothing beside it.
        drop(connection);
        copied
    });
    if !matches!(copied, Ok(Some(Ok(Ok(_))))) {
        // SQLite opens no journal for a deleted file, and an open one is useless without it.
        let _ = fs::remove_file(path);
        let _ = fs::remove_file(with_suffix(path.as_ref(), JOURNAL));
    }
    Ok(copied?.transpose()?)
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
        return Err(BackupError::Open(OpenError::Foreign {
            database: database.name(),
        }));
    }
    let count = sql::<BigInt>("SELECT count(*) FROM robots").get_result::<i64>(&mut connection);
    let count = count.map_err(|error| damaged(error.to_string()))?;
    Ok(u64::try_from(count).unwrap_or(0))
}
