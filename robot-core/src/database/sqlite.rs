//! What SQLite needs of its connections.

use std::{
    thread,
    time::{Duration, Instant},
};

use diesel::{
    ConnectionResult, QueryResult, SqliteConnection,
    connection::{Connection, SimpleConnection},
};

use super::failure::is_passing;

/// How long a statement waits for a lock that another process holds.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// How long a lock that SQLite does not wait for is left alone before it is tried again.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Everything behind `sqlite://` is the path, to the letter; `None` where it can be no file.
pub(super) fn path_of_url(url: &str) -> Option<String> {
    let path = url
        .strip_prefix("sqlite://")
        .filter(|path| !path.is_empty() && !path.ends_with('/') && !path.contains('\0'))?;
    // SQLite takes some relative names for something else than a file (`:memory:`,
    // `file:...`). With a folder before it, every name is the name of a file.
    let folder = if path.starts_with('/') { "" } else { "./" };
    Some(format!("{folder}{path}"))
}

/// Opens a database, or creates it, and gives it the journal that lets readers go on beside
/// a writer.
pub(super) fn establish(path: &str) -> ConnectionResult<SqliteConnection> {
    let mut connection = SqliteConnection::establish(path)?;
    set_up(&mut connection)
        .and_then(|()| keep_a_write_ahead_log(&mut connection))
        .map_err(diesel::ConnectionError::CouldntSetupConfiguration)?;
    Ok(connection)
}

/// Gives a new connection all the settings that the catalogue relies on.
pub(super) fn set_up(connection: &mut SqliteConnection) -> QueryResult<()> {
    let patience = LOCK_PATIENCE.as_millis();
    // FULL makes a commit wait for the disk; without, a power cut takes back answered writes.
    connection.batch_execute(&format!(
        "PRAGMA busy_timeout = {patience}; PRAGMA synchronous = FULL;"
    ))
}

/// Makes sure that a connection which is meant for reading takes no lock of writers.
pub(super) fn only_read(connection: &mut SqliteConnection) -> QueryResult<()> {
    connection.batch_execute("PRAGMA query_only = ON;")
}

/// The journal is a property of the file. Of several processes that open a new file at once
/// only one can change it, and SQLite lets the others fail without the patience they were
/// given, because waiting could be in vain.
fn keep_a_write_ahead_log(connection: &mut SqliteConnection) -> QueryResult<()> {
    let started = Instant::now();
    loop {
        match connection.batch_execute("PRAGMA journal_mode = WAL;") {
            Err(error) if is_passing(&error) && started.elapsed() < LOCK_PATIENCE => {
                thread::sleep(LOCK_PAUSE);
            }
            result => return result,
        }
    }
}
