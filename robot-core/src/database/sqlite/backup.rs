//! Backup of a database file, made by SQLite while other connections write to it.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use diesel::{
    Connection, QueryResult, RunQueryDsl, SqliteConnection,
    dsl::sql,
    sql_query,
    sql_types::{BigInt, Text},
};
use tempfile::NamedTempFile;

use super::{
    connection::{Purpose, uri},
    file::{DatabaseFile, resolve, with_suffix},
};
use crate::catalogue::{Backup, BackupError, Existing, OpenError, OpenOptions};

/// Suffixes of the files that SQLite keeps beside a database: its logs, and shared memory, which
/// has no effect without a log.
const LOGS: [&str; 2] = ["-wal", "-journal"];
const SHARED_MEMORY: &str = "-shm";

/// Backs up the database of a URL to a file.
pub(crate) fn backup(
    url: &str,
    options: &OpenOptions,
    file: &Path,
    existing: Existing,
) -> Result<Backup, BackupError> {
    let database = DatabaseFile::from_url(url, options)?;
    database.must_exist()?;
    check_target(&database, file, existing)?;
    let failed = |cause: Box<dyn std::error::Error + Send + Sync>| BackupError::Failed {
        file: file.to_owned(),
        cause: cause.into(),
    };
    let connection = database.connect(Purpose::Write)?;
    let incomplete = copy(connection, file).map_err(failed)?;
    let robots = check_copy(&database, incomplete.path())?;
    let bytes = finish(&database, incomplete, file, existing).map_err(|error| {
        match (error.kind(), existing) {
            (io::ErrorKind::AlreadyExists, Existing::Keep) => BackupError::Exists(file.to_owned()),
            _ => failed(error.into()),
        }
    })?;
    Ok(Backup { robots, bytes })
}

/// Checks that a backup may be written to the file.
fn check_target(
    database: &DatabaseFile,
    file: &Path,
    existing: Existing,
) -> Result<(), BackupError> {
    let own = resolve(database.path());
    let suffixes = LOGS.into_iter().chain([SHARED_MEMORY]);
    let mut companions = suffixes.map(|suffix| with_suffix(&own, suffix));
    if is_same(&own, file) || companions.any(|path| is_same(&path, file)) {
        return Err(BackupError::Itself(file.to_owned()));
    }
    if existing == Existing::Keep && fs::symlink_metadata(file).is_ok() {
        return Err(BackupError::Exists(file.to_owned()));
    }
    let mut logs = LOGS.into_iter().map(|suffix| with_suffix(file, suffix));
    match logs.find(|log| fs::symlink_metadata(log).is_ok()) {
        Some(log) => Err(BackupError::LogBeside(log)),
        None => Ok(()),
    }
}

/// Whether two paths lead to the same file, or would if it existed.
fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        fs::canonicalize(path).or_else(|_| {
            let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
            Ok::<_, io::Error>(fs::canonicalize(folder_of(path))?.join(name))
        })
    };
    match (place(one), place(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Writes the copy into a temporary file beside the target.
fn copy(
    mut connection: SqliteConnection,
    file: &Path,
) -> Result<NamedTempFile, Box<dyn std::error::Error + Send + Sync>> {
    let mut name = file.file_name().ok_or("it names no file")?.to_owned();
    name.push(".incomplete-");
    let incomplete = tempfile::Builder::new()
        .prefix(&name)
        .tempfile_in(folder_of(file))?;
    let path = incomplete.path().to_str();
    let path = path.ok_or("SQLite accepts UTF-8 paths only")?;
    vacuum_into(&mut connection, path).inspect_err(|_| {
        // A journal of the copy is useless without it.
        let _ = fs::remove_file(with_suffix(incomplete.path(), "-journal"));
    })?;
    Ok(incomplete)
}

/// Copies what is committed, in one read transaction, which does not block writers. The copy has no
/// unused pages.
fn vacuum_into(connection: &mut SqliteConnection, path: &str) -> QueryResult<()> {
    sql_query("VACUUM main INTO ?")
        .bind::<Text, _>(uri(path, "rwc"))
        .execute(connection)
        .map(drop)
}

/// Reads the whole copy through a new connection, and returns the number of robots in it.
fn check_copy(database: &DatabaseFile, copy: &Path) -> Result<u64, BackupError> {
    let damaged = |findings: String| BackupError::Damaged {
        database: database.name(),
        findings,
    };
    let path = copy.to_str().unwrap_or_default();
    let mut connection = SqliteConnection::establish(&uri(path, "ro"))
        .map_err(|error| damaged(error.to_string()))?;
    let mut texts = |query: &str| sql::<Text>(query).load::<String>(&mut connection);
    let findings =
        texts("PRAGMA integrity_check(1)").map_err(|error| damaged(error.to_string()))?;
    if findings != ["ok"] {
        return Err(damaged(findings.join("; ")));
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

/// Syncs the copy, renames it to the target, and returns its size in bytes.
fn finish(
    database: &DatabaseFile,
    copy: NamedTempFile,
    file: &Path,
    existing: Existing,
) -> io::Result<u64> {
    // The backup is as readable as the catalogue.
    let permissions = fs::metadata(database.path())?.permissions();
    copy.as_file().set_permissions(permissions)?;
    copy.as_file().sync_all()?;
    let bytes = copy.as_file().metadata()?.len();
    match existing {
        Existing::Keep => copy.persist_noclobber(file)?,
        Existing::Replace => copy.persist(file)?,
    };
    sync_folder(folder_of(file))?;
    Ok(bytes)
}

/// Syncs a folder, so that a renamed file in it survives a power cut.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
