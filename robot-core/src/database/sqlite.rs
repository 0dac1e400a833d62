//! What SQLite needs of its connections and files.

use std::{
    thread,
    time::{Duration, Instant},
};

use diesel::{
    ConnectionError, ConnectionResult, QueryResult, RunQueryDsl, SqliteConnection,
    connection::{Connection, SimpleConnection},
    sql_query,
    sql_types::Text,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{connection::Purpose, failure::is_passing};

/// How long a statement waits for a lock that another process holds.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// How long a lock that SQLite does not wait for is left alone before it is tried again.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// What is encoded in the URI of a file: all but what paths are usually made of.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_');

/// Everything behind `sqlite://` is the path, to the letter; `None` where it can be no file.
pub(super) fn path_of_url(url: &str) -> Option<String> {
    let path = url
        .strip_prefix("sqlite://")
        .filter(|path| !path.is_empty() && !path.ends_with('/') && !path.contains('\0'))
        // Whoever writes this wants no file.
        .filter(|path| *path != ":memory:")?;
    // With a folder before it, SQLite takes no name for something else than a file
    // (`:memory:`), and no path for a host.
    let folder = if path.starts_with('/') { "" } else { "./" };
    Some(format!("{folder}{path}"))
}

/// Connects to a file. Only the first connection of a catalogue creates it: where a file
/// vanishes later, an empty one in its place would only hide the loss.
pub(super) fn connect(path: &str, purpose: Purpose) -> ConnectionResult<SqliteConnection> {
    let mode = match purpose {
        Purpose::Opening => "rwc",
        Purpose::Reading | Purpose::Writing => "rw",
    };
    // An absolute path has an empty host before it, or its own beginning could be taken for
    // one.
    let host = if path.starts_with('/') { "//" } else { "" };
    let path = utf8_percent_encode(path, ENCODED);
    let mut connection = SqliteConnection::establish(&format!("file:{host}{path}?mode={mode}"))?;
    set_up(&mut connection, purpose).map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(connection)
}

fn set_up(connection: &mut SqliteConnection, purpose: Purpose) -> QueryResult<()> {
    let patience = LOCK_PATIENCE.as_millis();
    // FULL makes a commit wait for the disk; without, a power cut takes back answered writes.
    // fullfsync does the same on macOS, where a plain sync stops half-way.
    connection.batch_execute(&format!(
        "PRAGMA busy_timeout = {patience}; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;"
    ))?;
    if purpose == Purpose::Reading {
        connection.batch_execute("PRAGMA query_only = ON;")?;
    }
    Ok(())
}

/// What a file is to us, before anything was read from its tables.
pub(super) enum Contents {
    Nothing,
    /// Diesel keeps a record of migrations in it.
    Migrations,
    SomethingElse,
}

/// Looks into a file, at one moment: another process may be about to create the tables.
pub(super) fn contents(connection: &mut SqliteConnection) -> QueryResult<Contents> {
    let names = diesel::dsl::sql::<Text>("SELECT name FROM sqlite_master");
    let names: Vec<String> = names.load(connection)?;
    Ok(match names.as_slice() {
        [] => Contents::Nothing,
        names
            if names
                .iter()
                .any(|name| name == "__diesel_schema_migrations") =>
        {
            Contents::Migrations
        }
        _ => Contents::SomethingElse,
    })
}

/// Gives a file the journal that lets readers go on beside a writer: a write-ahead log.
///
/// # Errors
/// The file cannot be changed, or its file system has no shared memory.
pub(super) fn keep_a_write_ahead_log(
    connection: &mut SqliteConnection,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let started = Instant::now();
    loop {
        // The journal is a property of the file. Of several processes that open a new file at
        // once only one can change it, and SQLite lets the others fail without the patience
        // that they were given, because waiting could be in vain.
        match journal_mode(connection) {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                return Err(format!(
                    "its file system does not let SQLite keep a write-ahead log (journal mode '{mode}')"
                )
                .into());
            }
            Err(error) if is_passing(&error) && started.elapsed() < LOCK_PATIENCE => {
                thread::sleep(LOCK_PAUSE);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Asks for the write-ahead log, and returns the journal that there is then.
fn journal_mode(connection: &mut SqliteConnection) -> QueryResult<String> {
    #[derive(diesel::QueryableByName)]
    struct Journal {
        #[diesel(sql_type = Text)]
        journal_mode: String,
    }
    let journal: Journal = sql_query("PRAGMA journal_mode = WAL").get_result(connection)?;
    Ok(journal.journal_mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(connection: &mut SqliteConnection, name: &str) -> i64 {
        #[derive(diesel::QueryableByName)]
        struct Setting {
            #[diesel(sql_type = diesel::sql_types::BigInt)]
            value: i64,
        }
        let query = format!("SELECT {name} AS value FROM pragma_{name}");
        let setting: Setting = sql_query(query).get_result(connection).unwrap();
        setting.value
    }

    #[test]
    fn connections_have_the_settings_that_durability_rests_on() {
        const FULL: i64 = 2;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robots.db");
        let path = path.to_str().unwrap();
        for (purpose, query_only) in [
            (Purpose::Opening, 0),
            (Purpose::Writing, 0),
            (Purpose::Reading, 1),
        ] {
            let mut connection = connect(path, purpose).unwrap();
            keep_a_write_ahead_log(&mut connection).unwrap();
            assert_eq!(setting(&mut connection, "synchronous"), FULL, "{purpose:?}");
            assert_eq!(setting(&mut connection, "fullfsync"), 1, "{purpose:?}");
            assert_eq!(
                setting(&mut connection, "query_only"),
                query_only,
                "{purpose:?}"
            );
        }
    }

    #[test]
    fn only_the_first_connection_creates_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robots.db");
        let path = path.to_str().unwrap();
        assert!(connect(path, Purpose::Reading).is_err());
        assert!(connect(path, Purpose::Writing).is_err());
        connect(path, Purpose::Opening).unwrap();
        connect(path, Purpose::Reading).unwrap();
    }

    #[test]
    fn every_path_is_the_path_of_a_file() {
        for (url, path) in [
            ("sqlite://robots.db", Some("./robots.db")),
            ("sqlite://file:x?mode=memory", Some("./file:x?mode=memory")),
            ("sqlite://:memory:", None),
            ("sqlite:///var/robots.db", Some("/var/robots.db")),
            ("sqlite:////host/robots.db", Some("//host/robots.db")),
            ("sqlite://", None),
            ("sqlite:///", None),
            ("sqlite:robots.db", None),
            ("sqlite://a\0b", None),
        ] {
            assert_eq!(path_of_url(url).as_deref(), path, "{url}");
        }
    }
}
