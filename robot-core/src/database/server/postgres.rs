//! PostgreSQL: its connections, dialect and search index.

use std::{
    fmt,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use diesel::{
    ConnectionError, ConnectionResult, PgConnection,
    connection::SimpleConnection,
    dsl::sql,
    pg::Pg,
    prelude::*,
    sql_query,
    sql_types::{Array, BigInt, Bool, Text},
};
use diesel_migrations::{EmbeddedMigrations, embed_migrations};

use super::{
    backend::{Backend, Purpose, Rejection},
    errors::MIGRATING,
    limits::MIGRATION_LOCK_TIMEOUT,
    store::ServerStore,
};
use crate::{
    catalogue::{OpenError, OpenOptions, Scheme, store::forward_catalogue},
    database::{
        migrations::{Failure, Migrate},
        schema::{DraftRow, robots},
        statements::{Contains, Dialect, impl_statements},
        trigrams::trigrams,
    },
    model::{Robot, ValidDraft},
};

/// A catalogue on a PostgreSQL server (feature `postgres`).
///
/// A write is on the server's disk before its call returns. Any number of processes may use one
/// database at the same time. While the server is unreachable, calls fail with
/// [`Error::Unavailable`](crate::Error::Unavailable), or with
/// [`Error::Unknown`](crate::Error::Unknown) if the connection was lost during a write.
pub struct PostgresCatalogue(ServerStore<PgConnection>);

impl PostgresCatalogue {
    /// Opens the database that a URL names (see [`open`](crate::open())), creates its tables if they
    /// are missing, and brings them up to date.
    ///
    /// # Errors
    /// An [`OpenError`] whose message says what to do.
    pub fn open(url: &str) -> Result<Self, OpenError> {
        Self::open_with(url, &OpenOptions::new())
    }

    /// Opens a database with these options.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(url: &str, options: &OpenOptions) -> Result<Self, OpenError> {
        ServerStore::open(url, options).map(Self)
    }
}

impl fmt::Debug for PostgresCatalogue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PostgresCatalogue")
            .finish_non_exhaustive()
    }
}

forward_catalogue!([] PostgresCatalogue, self => self.0);

impl Backend for PgConnection {
    const SCHEME: Scheme = Scheme {
        names: &["postgres", "postgresql"],
        example: "postgres://user:password@host/database",
        open: |url, options| Ok(Arc::new(PostgresCatalogue::open_with(url, options)?)),
    };

    const REMEDY: &'static str = "check user, password and database in the URL, that the user may \
                                  create tables in it, and that its encoding is UTF8";

    fn complete_url(url: &str, options: &OpenOptions) -> String {
        with_defaults(url, options)
    }

    fn connect(url: &str, purpose: Purpose, timeout: Duration) -> ConnectionResult<Self> {
        let mut connection = Self::establish(url)?;
        set_up(&mut connection, purpose, timeout)
            .map_err(ConnectionError::CouldntSetupConfiguration)?;
        if purpose == Purpose::Prepare {
            check_settings(&mut connection)?;
        }
        Ok(connection)
    }

    fn rejection(error: &ConnectionError) -> Rejection {
        rejection(error)
    }

    /// No longer than a lock is waited for, because waits for several locks add up. The limit does
    /// not apply to a commit.
    fn limit_statements(&mut self, limit: Duration) -> QueryResult<()> {
        let limit = format!("SET statement_timeout = {}", limit.as_millis());
        self.batch_execute(&limit)
    }

    /// Creates the search index if an earlier attempt could not.
    fn prepare(&mut self, database: &str) {
        let created = has_search_index(self).and_then(|exists| {
            if exists {
                return Ok(true);
            }
            self.exclusively(|connection| Ok(connection.batch_execute(SEARCH_INDEX)?))?;
            has_search_index(self)
        });
        if !matches!(created, Ok(true)) {
            log::warn!(
                "{database}: searches read every name, because the index robots_search cannot be \
                 created; have a superuser run CREATE EXTENSION pg_trgm in the database, and \
                 restart the program"
            );
        }
    }
}

/// The migration that creates the search index. It can be run again.
const SEARCH_INDEX: &str =
    include_str!("../../../migrations/postgres/2026-11-22-000000_search_index/up.sql");

fn has_search_index(connection: &mut PgConnection) -> Result<bool, Failure> {
    let found = connection.texts(
        "SELECT indexname::text FROM pg_indexes
         WHERE schemaname = current_schema() AND indexname = 'robots_search'",
    )?;
    Ok(!found.is_empty())
}

/// The URL with parameters of libpq that it does not set itself.
fn with_defaults(url: &str, options: &OpenOptions) -> String {
    // libpq takes whole seconds, 2 or more.
    let seconds = options.get_timeout().as_secs_f64().ceil().max(2.0);
    let defaults = [
        ("connect_timeout", seconds.to_string()),
        // A standby may lag, and a read must see every write.
        ("target_session_attrs", "primary".to_owned()),
        // TCP's own defaults detect a server that disappeared only after hours.
        ("keepalives_idle", "30".to_owned()),
        ("keepalives_interval", "5".to_owned()),
        ("keepalives_count", "3".to_owned()),
        ("tcp_user_timeout", "30000".to_owned()),
    ];
    defaults.iter().fold(url.to_owned(), |url, (name, value)| {
        if url.contains(&format!("{name}=")) {
            return url;
        }
        let mark = if url.contains('?') { '&' } else { '?' };
        format!("{url}{mark}{name}={value}")
    })
}

/// Sets what the catalogue relies on, whatever the defaults of the server, database and role are.
fn set_up(connection: &mut PgConnection, purpose: Purpose, timeout: Duration) -> QueryResult<()> {
    let timeout = timeout.as_millis();
    // Migrations may change tables of any size.
    let limit = match purpose {
        Purpose::Prepare => 0,
        Purpose::Use => timeout,
    };
    connection.batch_execute(&format!(
        "SET default_transaction_isolation = 'read committed';
         SET default_transaction_read_only = off;
         SET client_min_messages = warning;
         SET lock_timeout = {timeout};
         SET statement_timeout = {limit};
         SET idle_in_transaction_session_timeout = {timeout};"
    ))?;
    // A commit must wait for the disk at least; a setting that waits for more is kept.
    sql_query(
        "SELECT set_config('synchronous_commit', 'on', false)
         WHERE current_setting('synchronous_commit') = 'off'",
    )
    .execute(connection)
    .map(drop)
}

/// Checks the settings that a session cannot change.
fn check_settings(connection: &mut PgConnection) -> ConnectionResult<()> {
    let mut setting = |name: &str| -> ConnectionResult<String> {
        sql::<Text>(&format!("SELECT current_setting('{name}')"))
            .get_result(connection)
            .map_err(ConnectionError::CouldntSetupConfiguration)
    };
    let encoding = setting("server_encoding")?;
    if encoding != "UTF8" {
        return Err(ConnectionError::BadConnection(format!(
            "the encoding of the database is {encoding}, which cannot hold every name"
        )));
    }
    if setting("fsync")? == "off" {
        log::warn!("the database server has fsync = off: a power cut may lose answered writes");
    }
    Ok(())
}

/// Why a connection failed, from the message of the library. A server's messages may be in any
/// language: unknown ones count as unreachable, which is retried.
fn rejection(error: &ConnectionError) -> Rejection {
    const REFUSALS: [&str; 6] = [
        "authentication failed",
        "does not exist",
        "no pg_hba.conf entry",
        "permission denied",
        "not permitted to log in",
        "cannot hold every name",
    ];
    const INVALID: [&str; 6] = [
        "invalid ",
        "missing ",
        "unexpected ",
        "extra ",
        "forbidden ",
        "end of string",
    ];
    match error {
        ConnectionError::BadConnection(message) => {
            let is_invalid = INVALID.iter().any(|start| message.starts_with(start));
            if is_invalid || message.contains(" URI") {
                Rejection::InvalidUrl
            } else if REFUSALS.iter().any(|part| message.contains(part)) {
                Rejection::Refused
            } else {
                Rejection::Unreachable
            }
        }
        ConnectionError::InvalidCString(_) => Rejection::InvalidUrl,
        _ => Rejection::Refused,
    }
}

impl Migrate for PgConnection {
    const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/postgres");

    const TABLES: &str = "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() \
                          AND tablename IN ('robots', '__diesel_schema_migrations')";

    fn texts(&mut self, query: &str) -> QueryResult<Vec<String>> {
        sql::<Text>(query).load(self)
    }

    fn exclusively<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        /// A number that no other program is likely to use.
        const KEY: i64 = 0x726f_626f_7473;
        let lock = format!("SELECT pg_try_advisory_xact_lock({KEY})");
        self.transaction(|connection| {
            let started = Instant::now();
            while !sql::<Bool>(&lock).get_result(connection)? {
                if started.elapsed() > MIGRATION_LOCK_TIMEOUT {
                    return Err(Failure(MIGRATING.into()));
                }
                thread::sleep(Duration::from_millis(20));
            }
            work(connection)
        })
    }
}

/// The sequence that ids come from.
const SEQUENCE: &str = "pg_get_serial_sequence('robots', 'id')::regclass";

diesel::define_sql_function! {
    /// The position of `part` in `whole`, in characters from 1; 0 if it is not contained.
    fn strpos(whole: Text, part: Text) -> Integer;
}

impl_statements!(PgConnection);

impl Dialect for PgConnection {
    fn insert(&mut self, draft: &ValidDraft) -> QueryResult<i64> {
        diesel::insert_into(robots::table)
            .values(DraftRow::from(draft))
            .returning(robots::id)
            .get_result(self)
    }

    /// PostgreSQL's planner decides whether to use the index.
    fn contains<'a>(&mut self, text: &'a str) -> Contains<'a, Pg> {
        let contains = strpos(robots::name, text).gt(0);
        if trigrams(text).is_empty() {
            return Box::new(contains);
        }
        // Diesel does not prepare hand-written SQL, so each pattern gets a plan of its own.
        let is_candidate = sql::<Bool>("robots.name LIKE ").bind::<Text, _>(pattern(text));
        Box::new(is_candidate.and(contains))
    }

    /// Diesel has no OVERRIDING SYSTEM VALUE, without which PostgreSQL rejects a given id.
    fn insert_robots(&mut self, robots: &[Robot]) -> QueryResult<()> {
        let numbers: Vec<_> = robots.iter().map(|robot| robot.id().get()).collect();
        let names: Vec<_> = robots.iter().map(Robot::name).collect();
        let types: Vec<_> = robots
            .iter()
            .map(|robot| robot.robot_type().as_str())
            .collect();
        let years: Vec<_> = robots.iter().map(Robot::year).collect();
        sql_query(
            "INSERT INTO robots (id, name, type, year) OVERRIDING SYSTEM VALUE
             SELECT * FROM unnest($1, $2, $3, $4)",
        )
        .bind::<Array<BigInt>, _>(numbers)
        .bind::<Array<Text>, _>(names)
        .bind::<Array<Text>, _>(types)
        .bind::<Array<BigInt>, _>(years)
        .execute(self)
        .map(drop)
    }

    fn last_number(&mut self) -> QueryResult<i64> {
        let query = format!("SELECT coalesce(pg_sequence_last_value({SEQUENCE}), 0)");
        sql::<BigInt>(&query).get_result(self)
    }

    fn raise_last_number(&mut self, number: i64) -> QueryResult<()> {
        sql_query(format!("SELECT setval({SEQUENCE}, $1)"))
            .bind::<BigInt, _>(number)
            .execute(self)
            .map(drop)
    }

    /// Blocks inserts, so that none takes a number between the look at the sequence and its change.
    /// It is the first lock of the transaction: a weaker one before it could cause a deadlock with
    /// another restoration.
    fn lock_numbers(&mut self) -> QueryResult<()> {
        self.batch_execute("LOCK TABLE robots IN SHARE ROW EXCLUSIVE MODE")
    }
}

/// A LIKE pattern that matches every name with this text: that of its longest word. PostgreSQL also
/// looks up the beginnings of words, of which short words have many.
fn pattern(text: &str) -> String {
    let words = text.split(|character: char| !character.is_alphanumeric());
    let longest = words.max_by_key(|word| word.chars().count());
    let part = longest.filter(|word| !trigrams(word).is_empty());
    let escaped = part.unwrap_or(text).chars().flat_map(|character| {
        let escape = matches!(character, '%' | '_' | '\\').then_some('\\');
        escape.into_iter().chain([character])
    });
    ["%", &escaped.collect::<String>(), "%"].concat()
}

#[cfg(test)]
mod pattern_tests {
    use super::pattern;

    #[test]
    fn pattern_is_the_longest_word_or_the_whole_text() {
        for (text, expected) in [
            ("r-r00123", "%r00123%"),
            ("one two3", "%two3%"),
            ("a-b_%\\", "%a-b\\_\\%\\\\%"),
            ("äöü", "%äöü%"),
        ] {
            assert_eq!(pattern(text), expected);
        }
    }
}

#[cfg(all(test, feature = "conformance"))]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::conformance::scratch_database;

    const TIMEOUT: Duration = Duration::from_millis(1500);

    fn settings(purpose: Purpose) -> Vec<String> {
        let url = scratch_database("TEST_POSTGRES_URL");
        let mut connection = PgConnection::connect(&url, purpose, TIMEOUT).unwrap();
        let names = [
            "synchronous_commit",
            "default_transaction_isolation",
            "default_transaction_read_only",
            "lock_timeout",
            "statement_timeout",
            "client_encoding",
        ];
        names
            .iter()
            .flat_map(|name| connection.texts(&format!("SELECT current_setting('{name}')")))
            .flatten()
            .collect()
    }

    #[test]
    fn sessions_have_the_required_settings() {
        let common = ["on", "read committed", "off", "1500ms"];
        let working = [&common[..], &["1500ms", "UTF8"]].concat();
        assert_eq!(settings(Purpose::Use), working);
        let opening = [&common[..], &["0", "UTF8"]].concat();
        assert_eq!(settings(Purpose::Prepare), opening);
    }

    #[test]
    fn url_is_completed_with_default_parameters() {
        let options = OpenOptions::new().timeout(Duration::from_millis(4200));
        let url = with_defaults("postgres://h/d", &options);
        assert!(
            url.starts_with("postgres://h/d?connect_timeout=5&target_session_attrs=primary&"),
            "{url}"
        );
        let own = "postgres://h/d?target_session_attrs=any&connect_timeout=9";
        let url = with_defaults(own, &options);
        assert!(
            url.starts_with(&format!("{own}&keepalives_idle=30")),
            "{url}"
        );
        assert_eq!(url.matches("connect_timeout").count(), 1);
    }

    #[test]
    fn connection_errors_are_classified() {
        for (message, expected) in [
            (
                "connection to server at \"h\" failed: Connection refused",
                Rejection::Unreachable,
            ),
            (
                "FATAL:  the database system is starting up",
                Rejection::Unreachable,
            ),
            (
                "FATAL:  das Datenbanksystem startet",
                Rejection::Unreachable,
            ),
            (
                "FATAL:  password authentication failed for user \"u\"",
                Rejection::Refused,
            ),
            ("FATAL:  database \"d\" does not exist", Rejection::Refused),
            (
                "invalid percent-encoded token: \"p%zz\"",
                Rejection::InvalidUrl,
            ),
        ] {
            let error = ConnectionError::BadConnection(message.to_owned());
            assert_eq!(rejection(&error), expected, "{message}");
        }
    }
}
