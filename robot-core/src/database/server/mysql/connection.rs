//! Connections to MariaDB and MySQL: their settings, and the meaning of their errors.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use diesel::{
    ConnectionError, ConnectionResult, MysqlConnection, connection::SimpleConnection, prelude::*,
    sql_query, sql_types::Text,
};

use super::statements;
use crate::{
    catalogue::OpenOptions,
    database::{
        migrations::Migrate,
        server::{
            backend::{Addition, Backend, ConnectFailure, Purpose, impl_look_ups},
            limits::{Limits, SCAN_FACTOR, lock_timeout},
        },
    },
    model::ValidDraft,
};

/// What the operator can do about most servers that cannot be used.
const REMEDY: &str =
    "check user, password and database in the URL, and that the user may create tables in it";

/// What the operator can do about a server whose TLS does not fit the URL.
const TLS_REMEDY: &str = "write ssl_mode=required and ssl_ca=FILE in the URL, with the certificate of \
                          the issuer, and check the certificate of the server";

/// A URL, as an example for messages.
pub(super) const EXAMPLE: &str = "mysql://user:password@host/database";

impl Backend for MysqlConnection {
    const EXAMPLE: &'static str = EXAMPLE;

    const REMEDY: &'static str = REMEDY;

    const ADDITION: Addition = super::migrations::CHANGE_TRIGGER;

    const INSERTS_BY_ONE_STATEMENT: bool = false;

    fn complete_url(url: &str, _: &OpenOptions) -> String {
        url.to_owned()
    }

    fn connect(url: &str, purpose: Purpose, timeout: Duration) -> ConnectionResult<Self> {
        let mut connection = Self::establish(url)?;
        set_up(&mut connection, purpose, timeout)
            .map_err(ConnectionError::CouldntSetupConfiguration)?;
        check_encryption(&mut connection, url)?;
        if purpose == Purpose::Prepare {
            check_settings(&mut connection)?;
        }
        Ok(connection)
    }

    fn connect_failure(error: &ConnectionError) -> ConnectFailure {
        connect_failure(error)
    }

    /// Without the limit of a statement, which would interrupt a commit, too: `connect` has set a long
    /// one.
    fn set_limits(&mut self, limits: Limits) -> QueryResult<()> {
        let seconds = limits.lock_seconds;
        // MySQL waits at least a second.
        let mysql = seconds.max(1);
        self.batch_execute(&format!(
            "SET SESSION innodb_lock_wait_timeout = {mysql}, SESSION lock_wait_timeout = {mysql}
             /*M!100300 , SESSION innodb_lock_wait_timeout = {seconds} */"
        ))
    }

    impl_look_ups!();

    fn insert_all(
        &mut self,
        drafts: &[&ValidDraft],
        deadline: Instant,
    ) -> QueryResult<HashMap<String, i64>> {
        statements::insert_all(self, drafts, deadline)
    }

    /// The session has the isolation level REPEATABLE READ.
    fn snapshot<T>(&mut self, reads: impl FnOnce(&mut Self) -> QueryResult<T>) -> QueryResult<T> {
        self.transaction(reads)
    }
}

/// Sets what the catalogue relies on, whatever the defaults of the server and the user are.
fn set_up(
    connection: &mut MysqlConnection,
    purpose: Purpose,
    timeout: Duration,
) -> QueryResult<()> {
    let lock_timeout = lock_timeout(timeout).as_secs();
    // Migrations may change tables of any size.
    let limit = match purpose {
        Purpose::Prepare => Duration::ZERO,
        Purpose::Use => timeout * SCAN_FACTOR,
    };
    // MariaDB executes the first comment, and MySQL the second: without the last variable, it returns a last id
    // that may be a day old.
    connection.batch_execute(&format!(
        "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE;
         SET SESSION autocommit = 1, SESSION completion_type = 'NO_CHAIN',
             SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',
             SESSION default_storage_engine = 'InnoDB', SESSION unique_checks = 1,
             SESSION sql_big_selects = 1, SESSION sql_select_limit = 18446744073709551615,
             SESSION max_sort_length = 4096, SESSION lc_messages = 'en_US',
             SESSION innodb_lock_wait_timeout = {lock_timeout}, SESSION lock_wait_timeout = {lock_timeout}
             /*M!100400 , SESSION check_constraint_checks = 1,
                SESSION max_statement_time = {seconds} */
             /*!80003 , SESSION max_execution_time = {milliseconds},
                SESSION information_schema_stats_expiry = 0 */;",
        seconds = limit.as_secs_f64(),
        milliseconds = limit.as_millis(),
    ))?;
    // A node of a Galera cluster waits until it has applied what the others have committed. Other
    // servers may not have the variable.
    match connection.batch_execute("SET SESSION wsrep_sync_wait = 7") {
        Err(error) if !error.to_string().contains("Unknown system variable") => Err(error),
        _ => Ok(()),
    }
}

/// Checks the settings that a session cannot change.
fn check_settings(connection: &mut MysqlConnection) -> ConnectionResult<()> {
    let mut texts = |query: &str| {
        let texts = connection.texts(query);
        texts.map_err(ConnectionError::CouldntSetupConfiguration)
    };
    let collations = texts(
        "SELECT collation_name FROM information_schema.collations
         WHERE collation_name IN ('utf8mb4_nopad_bin', 'utf8mb4_0900_bin')",
    )?;
    if collations.is_empty() {
        return Err(rejection(
            "the server is too old to distinguish all names; it must be MariaDB 10.4 or MySQL \
             8.0.17, or later",
        ));
    }
    // A commit waits for the disk with 1, and with MariaDB's 3; but not completely if a binary log is
    // not synced.
    let may_lose = texts(
        "SELECT CONCAT('innodb_flush_log_at_trx_commit = ', @@innodb_flush_log_at_trx_commit,
                       ', log_bin = ', @@log_bin, ', sync_binlog = ', @@sync_binlog)
         FROM DUAL WHERE @@innodb_flush_log_at_trx_commit NOT IN (1, 3)
         OR (@@log_bin AND @@sync_binlog <> 1 AND @@innodb_flush_log_at_trx_commit <> 3)",
    )?;
    for settings in may_lose {
        tracing::warn!(
            "the database server has {settings}: a power cut may lose acknowledged writes"
        );
    }
    Ok(())
}

/// Checks what the URL requires: MariaDB's client library ignores `ssl_mode`, and connects without TLS
/// to a server that has none.
fn check_encryption(connection: &mut MysqlConnection, url: &str) -> ConnectionResult<()> {
    let url = url.to_ascii_lowercase();
    if url.contains("ssl_mode=verify") {
        return Err(rejection(
            "not every client library supports ssl_mode=verify_ca and verify_identity, so they \
             are not accepted",
        ));
    }
    if url.contains("ssl_mode=required") && !is_encrypted(connection)? {
        return Err(rejection(
            "the URL requires TLS, and the connection has none",
        ));
    }
    Ok(())
}

fn is_encrypted(connection: &mut MysqlConnection) -> ConnectionResult<bool> {
    #[derive(diesel::QueryableByName)]
    struct Status {
        #[diesel(sql_type = Text, column_name = "Value")]
        value: String,
    }
    let cipher: Status = sql_query("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
        .get_result(connection)
        .map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(!cipher.value.is_empty())
}

fn rejection(message: &str) -> ConnectionError {
    ConnectionError::BadConnection(message.to_owned())
}

/// Why a connection failed, from the message of the library. A server's messages may be in any
/// language: unknown ones count as unreachable, which is retried.
fn connect_failure(error: &ConnectionError) -> ConnectFailure {
    const REFUSALS: [&str; 5] = [
        "Access denied",
        "Unknown database",
        "is not allowed to connect",
        "uthentication",
        "too old to distinguish",
    ];
    const TLS: [&str; 2] = ["not every client library", "requires TLS"];
    match error {
        ConnectionError::InvalidConnectionUrl(_) | ConnectionError::InvalidCString(_) => {
            ConnectFailure::InvalidUrl
        }
        ConnectionError::BadConnection(message) => {
            let has_any = |parts: &[&str]| parts.iter().any(|part| message.contains(part));
            // Other errors of TLS are those of lost connections.
            if has_any(&TLS) || has_any(&["SSL"]) && has_any(&["certificate", "No such file"]) {
                ConnectFailure::Rejected(TLS_REMEDY)
            } else if has_any(&REFUSALS) {
                ConnectFailure::Rejected(REMEDY)
            } else {
                ConnectFailure::Unreachable
            }
        }
        _ => ConnectFailure::Rejected(REMEDY),
    }
}

#[cfg(all(test, feature = "conformance"))]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::conformance::scratch_database;

    fn settings(purpose: Purpose) -> Vec<String> {
        let url = scratch_database("TEST_MYSQL_URL");
        let mut connection =
            MysqlConnection::connect(&url, purpose, Duration::from_millis(1500)).unwrap();
        let names = [
            "tx_isolation",
            "tx_read_only",
            "autocommit",
            "sql_mode",
            "sql_select_limit",
            "check_constraint_checks",
            "wsrep_sync_wait",
            "lock_wait_timeout",
            "innodb_lock_wait_timeout",
            "character_set_connection",
            "max_statement_time",
        ];
        names
            .iter()
            .flat_map(|name| connection.texts(&format!("SELECT CAST(@@{name} AS CHAR)")))
            .flatten()
            .collect()
    }

    #[test]
    fn sessions_have_the_required_settings() {
        let common = [
            "REPEATABLE-READ",
            "OFF",
            "ON",
            "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION",
            "18446744073709551615",
            "ON",
            "7",
            "2",
            "2",
            "utf8mb4",
        ];
        let working = [&common[..], &["15.000000"]].concat();
        assert_eq!(settings(Purpose::Use), working);
        let opening = [&common[..], &["0.000000"]].concat();
        assert_eq!(settings(Purpose::Prepare), opening);
    }

    #[test]
    fn connection_errors_are_classified() {
        let bad =
            |message: &str| connect_failure(&ConnectionError::BadConnection(message.to_owned()));
        assert_eq!(
            bad("Can't connect to server on 'h' (115)"),
            ConnectFailure::Unreachable
        );
        assert_eq!(bad("Too many connections"), ConnectFailure::Unreachable);
        assert_eq!(
            bad("Access denied for user 'u'@'h'"),
            ConnectFailure::Rejected(REMEDY)
        );
        assert_eq!(
            bad("Unknown database 'd'"),
            ConnectFailure::Rejected(REMEDY)
        );
        assert_eq!(
            bad("TLS/SSL error: unable to get local issuer certificate"),
            ConnectFailure::Rejected(TLS_REMEDY)
        );
        assert_eq!(
            bad("TLS/SSL error: Connection reset by peer (104)"),
            ConnectFailure::Unreachable
        );
        let invalid = MysqlConnection::establish("mysql://h:port/d")
            .err()
            .unwrap();
        assert_eq!(connect_failure(&invalid), ConnectFailure::InvalidUrl);
    }
}
