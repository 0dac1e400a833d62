//! What SQLite needs of its connections and files.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use diesel::{
    ConnectionError, ConnectionResult, QueryResult, RunQueryDsl, SqliteConnection,
    connection::{Connection, SimpleConnection},
    dsl::sql,
    sql_query,
    sql_types::{Integer, Text},
};
use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{
    connection::Purpose,
    failure::is_passing,
    file::Original,
    migrations::{Failure, Migrated},
    trigrams::Indexed,
};

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

/// What the person who runs the program can do about a file that cannot be used.
pub(super) fn remedy(path: &str) -> &'static str {
    if Path::new(path).is_dir() {
        "it is a folder; name a file in it"
    } else {
        "check that its folder exists and that both may be written, that the disk has room, and \
         that it is a database of robots; or name another one"
    }
}

/// Connects to a file. Only the first connection of a catalogue creates it: where a file
/// vanishes later, an empty one in its place would only hide the loss.
/// Statements wait as long as `timeout` for a lock that another process holds.
///
/// Nothing is read of a file that is not the original. SQLite would take the log and the shared
/// memory beside it for those of the new file, and empty the memory, which ends a process that
/// still uses it for the old one.
pub(super) fn connect(
    path: &str,
    original: &Original,
    purpose: Purpose,
    timeout: Duration,
) -> ConnectionResult<SqliteConnection> {
    let mode = match purpose {
        Purpose::Opening => "rwc",
        Purpose::Reading | Purpose::ReadingInPlace | Purpose::Writing => "rw",
    };
    let mut connection = SqliteConnection::establish(&uri(path, mode))?;
    // The file is open now, so that it cannot be exchanged any more, and nothing is read of it yet.
    if !original.is_at(path) {
        let words = "it was deleted, moved or replaced while it was in use".to_owned();
        return Err(ConnectionError::BadConnection(words));
    }
    set_up(&mut connection, purpose, timeout)
        .map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(connection)
}

/// The URI by which SQLite opens a file in a mode.
pub(super) fn uri(path: &str, mode: &str) -> String {
    // An absolute path has an empty host before it, or its own beginning could be taken for
    // one.
    let host = if path.starts_with('/') { "//" } else { "" };
    let path = utf8_percent_encode(path, ENCODED);
    format!("file:{host}{path}?mode={mode}")
}

fn set_up(
    connection: &mut SqliteConnection,
    purpose: Purpose,
    timeout: Duration,
) -> QueryResult<()> {
    let patience = match purpose {
        Purpose::ReadingInPlace => 0,
        Purpose::Opening | Purpose::Reading | Purpose::Writing => timeout.as_millis(),
    };
    // How many KiB of the file are at hand for the connection: many for the few that are busy.
    let cache = match purpose {
        Purpose::Reading => 2000,
        Purpose::ReadingInPlace => 8000,
        Purpose::Opening | Purpose::Writing => 16_000,
    };
    // FULL makes a commit wait for the disk; without, a power cut takes back answered writes.
    // fullfsync does the same on macOS, where a plain sync stops half-way.
    connection.batch_execute(&format!(
        "PRAGMA busy_timeout = {patience}; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;
         PRAGMA cache_size = -{cache};"
    ))?;
    // What a statement may have to take back is kept in memory, and not in a file that is made for it.
    connection.batch_execute(match purpose {
        Purpose::Reading | Purpose::ReadingInPlace => "PRAGMA query_only = ON;",
        Purpose::Opening | Purpose::Writing => "PRAGMA temp_store = MEMORY;",
    })
}

/// A number that is another one for this connection as soon as another one has committed.
pub(super) fn data_version(connection: &mut SqliteConnection) -> QueryResult<i32> {
    sql::<Integer>("PRAGMA data_version").get_result(connection)
}

/// Whether the robots are in the table that was made for them, without triggers but those that keep
/// the index: a change of a robot changes nothing but that robot then.
pub(super) fn is_as_we_made_it(connection: &mut SqliteConnection) -> QueryResult<bool> {
    const OURS: [&str; 2] = [
        include_str!("../../migrations/sqlite/2026-11-21-000000_create_robots/up.sql"),
        SqliteConnection::INDEX,
    ];
    let query = "SELECT sql FROM sqlite_master WHERE type = 'trigger' OR name = 'robots'";
    let found: Vec<String> = sql::<Text>(query).load(connection)?;
    Ok(found
        .iter()
        .all(|definition| OURS.iter().any(|ours| ours.contains(definition))))
}

impl Migrated for SqliteConnection {
    const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/sqlite");

    /// A file with any tables is somebody's.
    const TABLES: &str = "SELECT name FROM sqlite_master";

    fn texts(&mut self, query: &str) -> QueryResult<Vec<String>> {
        sql::<Text>(query).load(self)
    }

    fn alone<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.immediate_transaction(work)
    }
}

impl Indexed for SqliteConnection {
    const PARTS: &str = "SELECT name FROM sqlite_master WHERE name IN ('robots_search', \
                         'robots_unindexed', 'robots_index', 'robots_search_insert', \
                         'robots_search_delete', 'robots_search_update')";

    const PART_COUNT: usize = 6;

    const INDEX: &str = include_str!("../../migrations/sqlite/search.sql");
}

/// Gives a file the journal that lets readers go on beside a writer: a write-ahead log.
///
/// # Errors
/// The file cannot be changed, or its file system has no shared memory.
pub(super) fn keep_a_write_ahead_log(
    connection: &mut SqliteConnection,
    timeout: Duration,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    // The journal is a property of the file. Of several processes that open a new file at
    // once only one can change it, and SQLite lets the others fail without the patience
    // that they were given, because waiting could be in vain.
    let mode = while_locked(timeout, |_| LOCK_PAUSE, || journal_mode(connection))?;
    if mode == "wal" {
        return Ok(());
    }
    Err(format!(
        "its file system does not let SQLite keep a write-ahead log (journal mode '{mode}')"
    )
    .into())
}

/// Tries again as long as other programs hold the lock that is needed, and the patience lasts, with
/// pauses that may grow with the time that was waited.
pub(super) fn while_locked<T>(
    patience: Duration,
    pause: impl Fn(Duration) -> Duration,
    mut attempt: impl FnMut() -> QueryResult<T>,
) -> QueryResult<T> {
    let started = Instant::now();
    loop {
        match attempt() {
            Err(error) if is_passing(&error) && started.elapsed() < patience => {
                thread::sleep(pause(started.elapsed()));
            }
            outcome => return outcome,
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

    const TIMEOUT: Duration = Duration::from_secs(2);

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
            (Purpose::ReadingInPlace, 1),
        ] {
            let mut connection = connect(path, &Original::default(), purpose, TIMEOUT).unwrap();
            keep_a_write_ahead_log(&mut connection, TIMEOUT).unwrap();
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
        let connect = |purpose| connect(path, &Original::default(), purpose, TIMEOUT);
        assert!(connect(Purpose::Reading).is_err());
        assert!(connect(Purpose::Writing).is_err());
        connect(Purpose::Opening).unwrap();
        connect(Purpose::Reading).unwrap();
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
