//! What PostgreSQL needs of its connections.

use std::{
    thread,
    time::{Duration, Instant},
};

use diesel::{
    Connection, ConnectionError, ConnectionResult, PgConnection, QueryResult, RunQueryDsl,
    connection::SimpleConnection,
    dsl::sql,
    sql_query,
    sql_types::{Bool, Text},
};
use diesel_migrations::{EmbeddedMigrations, embed_migrations};

use super::{
    connection::{Purpose, Reason},
    migrations::{Failure, LOCK_LIMIT, Migrated},
    trigrams::Indexed,
};
use crate::open::OpenOptions;

/// What the person who runs the program can do about a server that refuses.
pub(super) const REMEDY: &str = "check user, password and database in the URL, that the user may \
                                 create tables in it, and that its encoding is UTF8";

/// The URL, with the library's parameters that it does not set itself.
pub(super) fn with_defaults(url: &str, options: &OpenOptions) -> String {
    // The library takes whole seconds, from 2.
    let seconds = options.timeout.as_secs_f64().ceil().max(2.0);
    let defaults = [
        ("connect_timeout", seconds.to_string()),
        // A standby may lag behind, and what was written must be there to be read.
        ("target_session_attrs", "primary".to_owned()),
        // Of a server that vanished, one wants to know before the hours that TCP takes.
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

pub(super) fn connect(
    url: &str,
    purpose: Purpose,
    timeout: Duration,
) -> ConnectionResult<PgConnection> {
    let mut connection = PgConnection::establish(url)?;
    set_up(&mut connection, purpose, timeout)
        .map_err(ConnectionError::CouldntSetupConfiguration)?;
    if purpose == Purpose::Opening {
        inspect(&mut connection)?;
    }
    Ok(connection)
}

/// Sets what the catalogue relies on, whatever the server, the database or the role has for a
/// default.
fn set_up(connection: &mut PgConnection, purpose: Purpose, timeout: Duration) -> QueryResult<()> {
    let patience = timeout.as_millis();
    // Tables of any size may have to be changed in the course of opening.
    let limit = if purpose == Purpose::Opening {
        0
    } else {
        patience
    };
    connection.batch_execute(&format!(
        "SET default_transaction_isolation = 'read committed';
         SET default_transaction_read_only = off;
         SET client_min_messages = warning;
         SET lock_timeout = {patience};
         SET statement_timeout = {limit};
         SET idle_in_transaction_session_timeout = {patience};"
    ))?;
    // A commit must wait for the disk, at least. Where it is set to wait for more, it does.
    sql_query(
        "SELECT set_config('synchronous_commit', 'on', false)
         WHERE current_setting('synchronous_commit') = 'off'",
    )
    .execute(connection)
    .map(drop)
}

/// Looks for what cannot be set from here.
fn inspect(connection: &mut PgConnection) -> ConnectionResult<()> {
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

/// Makes out why there is no connection, from the words of the library. The words of a server
/// may be in any language: those that nobody knows are taken for a passing trouble.
pub(super) fn reason(error: &ConnectionError) -> Reason {
    const REFUSALS: [&str; 6] = [
        "authentication failed",
        "does not exist",
        "no pg_hba.conf entry",
        "permission denied",
        "not permitted to log in",
        "cannot hold every name",
    ];
    const UNREADABLE: [&str; 6] = [
        "invalid ",
        "missing ",
        "unexpected ",
        "extra ",
        "forbidden ",
        "end of string",
    ];
    match error {
        ConnectionError::BadConnection(words) => {
            let is_unreadable = UNREADABLE.iter().any(|start| words.starts_with(start));
            if is_unreadable || words.contains(" URI") {
                Reason::WrongUrl
            } else if REFUSALS.iter().any(|part| words.contains(part)) {
                Reason::Refused
            } else {
                Reason::Away
            }
        }
        ConnectionError::InvalidCString(_) => Reason::WrongUrl,
        _ => Reason::Refused,
    }
}

impl Migrated for PgConnection {
    const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/postgres");

    const TABLES: &str = "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() \
                          AND tablename IN ('robots', '__diesel_schema_migrations')";

    fn texts(&mut self, query: &str) -> QueryResult<Vec<String>> {
        sql::<Text>(query).load(self)
    }

    fn alone<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        /// A number that nobody else is likely to lock.
        const KEY: i64 = 0x726f_626f_7473;
        let lock = format!("SELECT pg_try_advisory_xact_lock({KEY})");
        self.transaction(|connection| {
            let started = Instant::now();
            while !sql::<Bool>(&lock).get_result(connection)? {
                if started.elapsed() > LOCK_LIMIT {
                    return Err(Failure::locked());
                }
                thread::sleep(Duration::from_millis(20));
            }
            work(connection)
        })
    }
}

impl Indexed for PgConnection {
    const PARTS: &str = "SELECT indexname::text FROM pg_indexes \
                         WHERE schemaname = current_schema() AND indexname = 'robots_search'";

    const PART_COUNT: usize = 1;

    const INDEX: &str = include_str!("../../migrations/postgres/search.sql");
}

#[cfg(all(test, feature = "conformance"))]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::conformance::scratch_database;

    const TIMEOUT: Duration = Duration::from_millis(1500);

    fn settings(purpose: Purpose) -> Vec<String> {
        let url = scratch_database("TEST_POSTGRES_URL");
        let mut connection = connect(&url, purpose, TIMEOUT).unwrap();
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
    fn sessions_have_the_settings_that_the_catalogue_relies_on() {
        let common = ["on", "read committed", "off", "1500ms"];
        let working = [&common[..], &["1500ms", "UTF8"]].concat();
        assert_eq!(settings(Purpose::Writing), working);
        let opening = [&common[..], &["0", "UTF8"]].concat();
        assert_eq!(settings(Purpose::Opening), opening);
    }

    #[test]
    fn the_url_gets_what_it_does_not_set_itself() {
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
    fn refusals_are_told_from_a_server_that_is_away_and_from_a_wrong_url() {
        for (words, expected) in [
            (
                "connection to server at \"h\" failed: Connection refused",
                Reason::Away,
            ),
            ("FATAL:  the database system is starting up", Reason::Away),
            ("FATAL:  das Datenbanksystem startet", Reason::Away),
            (
                "FATAL:  password authentication failed for user \"u\"",
                Reason::Refused,
            ),
            ("FATAL:  database \"d\" does not exist", Reason::Refused),
            ("invalid percent-encoded token: \"p%zz\"", Reason::WrongUrl),
        ] {
            let error = ConnectionError::BadConnection(words.to_owned());
            assert_eq!(reason(&error), expected, "{words}");
        }
    }
}
