//! What MariaDB and MySQL need of their connections.

use std::time::Duration;

use diesel::{
    Connection, ConnectionError, ConnectionResult, MysqlConnection, QueryResult, RunQueryDsl,
    connection::SimpleConnection, dsl::sql, sql_query, sql_types::Text,
};
use diesel_migrations::{EmbeddedMigrations, embed_migrations};

use super::{
    connection::{Purpose, Reason},
    migrations::{Failure, LOCK_LIMIT, Migrated},
    server::{SCAN_FACTOR, lock_patience},
};

/// What the person who runs the program can do about a server that refuses.
pub(super) const REMEDY: &str =
    "check user, password and database in the URL, and that the user may create tables in it";

pub(super) fn connect(
    url: &str,
    purpose: Purpose,
    timeout: Duration,
) -> ConnectionResult<MysqlConnection> {
    let mut connection = MysqlConnection::establish(url)?;
    set_up(&mut connection, purpose, timeout)
        .map_err(ConnectionError::CouldntSetupConfiguration)?;
    if purpose == Purpose::Opening {
        inspect(&mut connection, url)?;
    }
    Ok(connection)
}

/// Sets what the catalogue relies on, whatever the server or the user has for a default.
fn set_up(
    connection: &mut MysqlConnection,
    purpose: Purpose,
    timeout: Duration,
) -> QueryResult<()> {
    let patience = lock_patience(timeout).as_secs();
    // Tables of any size may have to be changed in the course of opening.
    let limit = if purpose == Purpose::Opening {
        Duration::ZERO
    } else {
        timeout * SCAN_FACTOR
    };
    // MariaDB reads the first of the comments and MySQL the second.
    connection.batch_execute(&format!(
        "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE;
         SET SESSION autocommit = 1, SESSION completion_type = 'NO_CHAIN',
             SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',
             SESSION default_storage_engine = 'InnoDB', SESSION unique_checks = 1,
             SESSION sql_big_selects = 1, SESSION sql_select_limit = 18446744073709551615,
             SESSION max_sort_length = 4096, SESSION lc_messages = 'en_US',
             SESSION innodb_lock_wait_timeout = {patience}, SESSION lock_wait_timeout = {patience}
             /*M!100400 , SESSION check_constraint_checks = 1,
                SESSION max_statement_time = {seconds} */
             /*!80003 , SESSION max_execution_time = {milliseconds} */;",
        seconds = limit.as_secs_f64(),
        milliseconds = limit.as_millis(),
    ))?;
    // A node of a Galera cluster waits until it has what the others have committed, before it
    // reads or writes. Elsewhere there may be no such variable.
    match connection.batch_execute("SET SESSION wsrep_sync_wait = 7") {
        Err(error) if !error.to_string().contains("Unknown system variable") => Err(error),
        _ => Ok(()),
    }
}

/// Looks for what cannot be set from here.
fn inspect(connection: &mut MysqlConnection, url: &str) -> ConnectionResult<()> {
    let mut texts = |query: &str| {
        let texts = connection.texts(query);
        texts.map_err(ConnectionError::CouldntSetupConfiguration)
    };
    let collations = texts(
        "SELECT collation_name FROM information_schema.collations
         WHERE collation_name IN ('utf8mb4_nopad_bin', 'utf8mb4_0900_bin')",
    )?;
    if collations.is_empty() {
        return Err(refusal(
            "the server is too old to tell all names apart; it must be MariaDB 10.4 or MySQL \
             8.0.17, or later",
        ));
    }
    // With MariaDB's own library, the parameter alone does nothing.
    if url.contains("ssl_mode=verify") {
        return Err(refusal(
            "not every client library keeps ssl_mode=verify_ca and verify_identity, so they are \
             not taken",
        ));
    }
    // A commit waits for the disk with 1, and with MariaDB's 3; beside a binary log that is not
    // synced, the server leaves out a part of that.
    let may_lose = texts(
        "SELECT CONCAT('innodb_flush_log_at_trx_commit = ', @@innodb_flush_log_at_trx_commit,
                       ', log_bin = ', @@log_bin, ', sync_binlog = ', @@sync_binlog)
         FROM DUAL WHERE @@innodb_flush_log_at_trx_commit NOT IN (1, 3)
         OR (@@log_bin AND @@sync_binlog <> 1 AND @@innodb_flush_log_at_trx_commit <> 3)",
    )?;
    for settings in may_lose {
        log::warn!("the database server has {settings}: a power cut may lose answered writes");
    }
    if url.contains("ssl_mode=required") && !is_encrypted(connection)? {
        return Err(refusal(
            "the URL requires TLS, and the connection has none; name the certificates with ssl_ca",
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

fn refusal(words: &str) -> ConnectionError {
    ConnectionError::BadConnection(words.to_owned())
}

/// Makes out why there is no connection, from the words of the library. The words of a server
/// may be in any language: those that nobody knows are taken for a passing trouble.
pub(super) fn reason(error: &ConnectionError) -> Reason {
    const REFUSALS: [&str; 7] = [
        "Access denied",
        "Unknown database",
        "is not allowed to connect",
        "uthentication",
        "too old to tell",
        "not every client library",
        "requires TLS",
    ];
    match error {
        ConnectionError::InvalidConnectionUrl(_) | ConnectionError::InvalidCString(_) => {
            Reason::WrongUrl
        }
        ConnectionError::BadConnection(words)
            if !REFUSALS.iter().any(|part| words.contains(part)) =>
        {
            Reason::Away
        }
        _ => Reason::Refused,
    }
}

impl Migrated for MysqlConnection {
    const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/mysql");

    const TABLES: &str = "SELECT table_name FROM information_schema.tables \
                          WHERE table_schema = DATABASE() \
                          AND table_name IN ('robots', '__diesel_schema_migrations')";

    fn texts(&mut self, query: &str) -> QueryResult<Vec<String>> {
        sql::<Text>(query).load(self)
    }

    fn alone<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        // Tables cannot be changed in a transaction here, so that the migrations must bear
        // being run again. The lock keeps processes apart on one server. The name of a database
        // may be as long as that of a lock alone.
        const LOCK: &str = "SHA1(CONCAT(DATABASE(), '.robots'))";
        let seconds = LOCK_LIMIT.as_secs();
        let lock = format!("SELECT CAST(GET_LOCK({LOCK}, {seconds}) AS CHAR)");
        if self.texts(&lock)? != ["1"] {
            return Err(Failure::locked());
        }
        let result = work(self);
        self.batch_execute(&format!("DO RELEASE_LOCK({LOCK})"))?;
        result
    }
}

#[cfg(all(test, feature = "conformance"))]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::conformance::scratch_database;

    fn settings(purpose: Purpose) -> Vec<String> {
        let url = scratch_database("TEST_MYSQL_URL");
        let mut connection = connect(&url, purpose, Duration::from_millis(1500)).unwrap();
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
    fn sessions_have_the_settings_that_the_catalogue_relies_on() {
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
        assert_eq!(settings(Purpose::Writing), working);
        let opening = [&common[..], &["0.000000"]].concat();
        assert_eq!(settings(Purpose::Opening), opening);
    }

    #[test]
    fn refusals_are_told_from_a_server_that_is_away_and_from_a_wrong_url() {
        let bad = |words: &str| reason(&ConnectionError::BadConnection(words.to_owned()));
        assert_eq!(bad("Can't connect to server on 'h' (115)"), Reason::Away);
        assert_eq!(bad("Too many connections"), Reason::Away);
        assert_eq!(bad("Access denied for user 'u'@'h'"), Reason::Refused);
        assert_eq!(bad("Unknown database 'd'"), Reason::Refused);
        let unreadable = MysqlConnection::establish("mysql://h:port/d")
            .err()
            .unwrap();
        assert_eq!(reason(&unreadable), Reason::WrongUrl);
    }
}
