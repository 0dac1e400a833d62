//! A copy of a database file, made by SQLite while others write to it.

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
    connection::{AnyConnection, Location, Purpose},
    file::{itself, with_ending},
    sqlite,
};
use crate::{
    backup::{Backup, BackupError, Existing},
    error::OpenError,
    open::OpenOptions,
};

/// What the names of the files end with that SQLite keeps beside a database.
const BESIDE: [&str; 3] = ["-wal", "-journal", "-shm"];

/// Copies the database of a URL to a file.
pub(crate) fn backup(
    url: &str,
    options: &OpenOptions,
    file: &Path,
    existing: Existing,
) -> Result<Backup, BackupError> {
    let location = Location::parse(url, options)?;
    location.must_exist()?;
    check_place(&location, file, existing)?;
    let failed = |cause: Box<dyn std::error::Error + Send + Sync>| BackupError::Failed {
        file: file.to_owned(),
        cause: cause.into(),
    };
    let incomplete = copy_to_incomplete(&location, file).map_err(|error| match error {
        Failure::Open(error) => BackupError::Open(error),
        Failure::Copy(error) => failed(error),
    })?;
    let robots = examine(&location, incomplete.path())?;
    let bytes = finish(&location, incomplete, file, existing).map_err(|error| {
        match (error.kind(), existing) {
            (io::ErrorKind::AlreadyExists, Existing::Keep) => BackupError::Exists(file.to_owned()),
            _ => failed(error.into()),
        }
    })?;
    Ok(Backup { robots, bytes })
}

enum Failure {
    Open(OpenError),
    Copy(Box<dyn std::error::Error + Send + Sync>),
}

/// Makes sure that the file is one that a backup may be put into.
fn check_place(location: &Location, file: &Path, existing: Existing) -> Result<(), BackupError> {
    let database = itself(location.path());
    let mut beside = BESIDE.iter().map(|ending| with_ending(&database, ending));
    if is_same(&database, file) || beside.any(|path| is_same(&path, file)) {
        return Err(BackupError::Itself(file.to_owned()));
    }
    if existing == Existing::Keep && fs::symlink_metadata(file).is_ok() {
        return Err(BackupError::Exists(file.to_owned()));
    }
    // The index of a log does no harm without it.
    let logs = BESIDE[..2].iter().map(|ending| with_ending(file, ending));
    match logs
        .into_iter()
        .find(|log| fs::symlink_metadata(log).is_ok())
    {
        Some(log) => Err(BackupError::LogBeside(log)),
        None => Ok(()),
    }
}

/// Whether two paths lead to one file, or would, if it were there.
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

/// Has SQLite write the copy into a file that is deleted unless it gets a name.
fn copy_to_incomplete(location: &Location, file: &Path) -> Result<NamedTempFile, Failure> {
    let connection = location.connect(Purpose::Writing).map_err(Failure::Open)?;
    let copied = || -> Result<NamedTempFile, Box<dyn std::error::Error + Send + Sync>> {
        let mut name = file.file_name().ok_or("it names no file")?.to_owned();
        name.push(".incomplete-");
        let incomplete = tempfile::Builder::new()
            .prefix(&name)
            .tempfile_in(folder_of(file))?;
        let path = incomplete.path().to_str();
        let path = path.ok_or("SQLite takes no path that is not UTF-8")?;
        vacuum(connection, path).inspect_err(|_| {
            // What SQLite began to write about a copy is of no use without it.
            let _ = fs::remove_file(with_ending(incomplete.path(), "-journal"));
        })?;
        Ok(incomplete)
    };
    copied().map_err(Failure::Copy)
}

/// SQLite copies what is committed, in one transaction that keeps nobody from writing, and leaves
/// no gaps in the copy.
fn vacuum(mut connection: AnyConnection, path: &str) -> QueryResult<()> {
    match &mut connection {
        AnyConnection::Sqlite(connection) => sql_query("VACUUM main INTO ?")
            .bind::<Text, _>(sqlite::uri(path, "rwc"))
            .execute(connection)
            .map(drop),
        #[cfg(any(feature = "postgres", feature = "mysql"))]
        _ => Ok(()),
    }
}

/// Reads all of the copy, as one who has nothing of it in memory yet; how many robots it has.
fn examine(location: &Location, copy: &Path) -> Result<u64, BackupError> {
    let damaged = |findings: String| BackupError::Damaged {
        database: location.name(),
        findings,
    };
    let path = copy.to_str().unwrap_or_default();
    let mut connection = SqliteConnection::establish(&sqlite::uri(path, "ro"))
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
            database: location.name(),
        }));
    }
    let count = sql::<BigInt>("SELECT count(*) FROM robots").get_result::<i64>(&mut connection);
    let count = count.map_err(|error| damaged(error.to_string()))?;
    Ok(u64::try_from(count).unwrap_or(0))
}

/// Gives the copy its name when it is on disk; how many bytes long it is.
fn finish(
    location: &Location,
    copy: NamedTempFile,
    file: &Path,
    existing: Existing,
) -> io::Result<u64> {
    // Whoever may read the catalogue may read its backup.
    let permissions = fs::metadata(location.path())?.permissions();
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

/// Puts the names in a folder on disk, where a system has a way to do so.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
