//! Connections to PostgreSQL: their settings, and the meaning of their errors.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use diesel::{
    ConnectionError, ConnectionResult, PgConnection, connection::SimpleConnection, dsl::sql,
    prelude::*, sql_query, sql_types::Text,
};

use super::statements;
use crate::{
    catalogue::{OpenOptions, Result},
    database::server::{
        backend::{Addition, Backend, ConnectFailure, Purpose, impl_look_ups},
        limits::{Limits, Plans},
        postgres::pooler::{self, check_sessions},
    },
    model::{RobotId, ValidChanges, ValidDraft},
};

/// What the operator can do about most servers that cannot be used.
const REMEDY: &str = "check user, password and database in the URL, that the user may create tables \
                      in it, and that its encoding is UTF8";

/// What the operator can do about a server whose TLS does not fit the URL.
const TLS_REMEDY: &str =
    "check sslmode and sslrootcert in the URL, and the certificate of the server";

/// What the operator can do about a pooler that does not keep sessions.
const POOLER_REMEDY: &str = "let it pool sessions (PgBouncer: pool_mode = session), or connect to \
                             the server itself";

/// A URL, as an example for messages.
pub(super) const EXAMPLE: &str = "postgres://user:password@host/database";

impl Backend for PgConnection {
    const EXAMPLE: &'static str = EXAMPLE;

    const REMEDY: &'static str = REMEDY;

    const ADDITION: Addition = super::migrations::SEARCH_INDEX;

    const INSERTS_BY_ONE_STATEMENT: bool = true;

    fn complete_url(url: &str, options: &OpenOptions) -> String {
        with_defaults(url, options)
    }

    fn connect(url: &str, purpose: Purpose, timeout: Duration) -> ConnectionResult<Self> {
        let mut connection = Self::establish(url)?;
        if purpose == Purpose::Prepare {
            check_sessions(&mut connection, url)?;
        }
        set_up(&mut connection, purpose, timeout)
            .map_err(ConnectionError::CouldntSetupConfiguration)?;
        if purpose == Purpose::Prepare {
            check_settings(&mut connection)?;
        }
        Ok(connection)
    }

    fn connect_failure(error: &ConnectionError) -> ConnectFailure {
        connect_failure(error)
    }

    fn set_limits(&mut self, limits: Limits) -> QueryResult<()> {
        let others = match limits.plans {
            Plans::Any => "on",
            Plans::Index => "off",
        };
        self.batch_execute(&format!(
            "SET statement_timeout = {statement}; SET lock_timeout = {lock};
             SET enable_seqscan = {others}; SET enable_hashjoin = {others};
             SET enable_mergejoin = {others}",
            statement = limits.statement.as_millis(),
            lock = limits.lock.as_millis()
        ))
    }

    impl_look_ups!();

    fn insert_all(
        &mut self,
        drafts: &[&ValidDraft],
        _: Instant,
    ) -> QueryResult<HashMap<String, i64>> {
        statements::insert_all(self, drafts)
    }

    fn update_all(
        &mut self,
        updates: &[(RobotId, &ValidChanges)],
        _: Instant,
    ) -> QueryResult<HashMap<RobotId, Result<()>>> {
        statements::update_all(self, updates)
    }

    fn delete_all(&mut self, ids: &[RobotId], _: Instant) -> QueryResult<HashSet<RobotId>> {
        statements::delete_all(self, ids)
    }

    fn snapshot<T>(&mut self, reads: impl FnOnce(&mut Self) -> QueryResult<T>) -> QueryResult<T> {
        let mut transaction = self.build_transaction().repeatable_read().read_only();
        transaction.run(reads)
    }
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
    // A commit must wait for the disk at least; a setting that waits for more is kept. It is always set: a
    // value of the server would change when the server reloads its settings.
    sql_query(
        "SELECT set_config('synchronous_commit', coalesce(nullif(setting, 'off'), 'on'), false)
         FROM current_setting('synchronous_commit') AS setting",
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
        tracing::warn!(
            "the database server has fsync = off: a power cut may lose acknowledged writes"
        );
    }
    Ok(())
}

/// Why a connection failed, from the message of the library. A server's messages may be in any
/// language: unknown ones count as unreachable, which is retried.
fn connect_failure(error: &ConnectionError) -> ConnectFailure {
    const TLS: [&str; 4] = [
        "certificate verify failed",
        "does not match host name",
        "root certificate file",
        "does not support SSL",
    ];
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
                ConnectFailure::InvalidUrl
            } else if message.contains(pooler::DETECTED) {
                ConnectFailure::Rejected(POOLER_REMEDY)
            } else if TLS.iter().any(|part| message.contains(part)) {
                ConnectFailure::Rejected(TLS_REMEDY)
            } else if REFUSALS.iter().any(|part| message.contains(part)) {
                ConnectFailure::Rejected(REMEDY)
            } else {
                ConnectFailure::Unreachable
            }
        }
        ConnectionError::InvalidCString(_) => ConnectFailure::InvalidUrl,
        _ => ConnectFailure::Rejected(REMEDY),
    }
}

#[cfg(all(test, feature = "conformance"))]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::{conformance::scratch_database, database::migrations::Migrate};

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

    /// Otherwise it would change when the server reloads its settings.
    #[test]
    fn commits_are_set_for_the_session() {
        let url = scratch_database("TEST_POSTGRES_URL");
        let source = "SELECT setting || ' of ' || source FROM pg_settings
                      WHERE name = 'synchronous_commit'";
        for (of_server, expected) in [
            ("off", "on of session"),
            ("on", "on of session"),
            ("remote_apply", "remote_apply of session"),
        ] {
            let url = format!("{url}%20-csynchronous_commit%3D{of_server}");
            let mut connection = PgConnection::connect(&url, Purpose::Use, TIMEOUT).unwrap();
            assert_eq!(connection.texts(source).unwrap(), [expected]);
        }
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
                ConnectFailure::Unreachable,
            ),
            (
                "FATAL:  the database system is starting up",
                ConnectFailure::Unreachable,
            ),
            (
                "FATAL:  das Datenbanksystem startet",
                ConnectFailure::Unreachable,
            ),
            (
                "FATAL:  password authentication failed for user \"u\"",
                ConnectFailure::Rejected(REMEDY),
            ),
            (
                "FATAL:  database \"d\" does not exist",
                ConnectFailure::Rejected(REMEDY),
            ),
            (
                "connection to server at \"h\" failed: SSL error: certificate verify failed",
                ConnectFailure::Rejected(TLS_REMEDY),
            ),
            (
                "connection to server at \"h\" failed: SSL SYSCALL error: EOF detected",
                ConnectFailure::Unreachable,
            ),
            (
                "invalid percent-encoded token: \"p%zz\"",
                ConnectFailure::InvalidUrl,
            ),
        ] {
            let error = ConnectionError::BadConnection(message.to_owned());
            assert_eq!(connect_failure(&error), expected, "{message}");
        }
    }
}
