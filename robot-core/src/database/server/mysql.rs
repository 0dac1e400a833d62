//! MariaDB and MySQL: their connections and dialect.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::Duration,
};

use diesel::{
    ConnectionError, ConnectionResult, MysqlConnection,
    connection::SimpleConnection,
    dsl::sql,
    mysql::Mysql,
    prelude::*,
    sql_query,
    sql_types::{BigInt, Text},
};
use diesel_migrations::{EmbeddedMigrations, embed_migrations};

use super::{
    backend::{Backend, Purpose, Rejection},
    errors::MIGRATING,
    limits::{MIGRATION_LOCK_TIMEOUT, SCAN_FACTOR, lock_timeout},
    store::ServerStore,
};
use crate::{
    catalogue::{Error, OpenError, OpenOptions, Scheme, store::forward_catalogue},
    database::{
        errors::wrap,
        migrations::{Failure, Migrate},
        schema::{DraftRow, RobotRow, robots},
        statements::{Contains, Dialect, impl_statements},
    },
    model::{Robot, ValidDraft},
};

/// A catalogue on a MariaDB or MySQL server (feature `mysql`).
///
/// A write is on the server's disk before its call returns. Any number of processes may use one
/// database at the same time. While the server is unreachable, calls fail with
/// [`Error::Unavailable`](crate::Error::Unavailable), or with
/// [`Error::Unknown`](crate::Error::Unknown) if the connection was lost during a write.
pub struct MysqlCatalogue(ServerStore<MysqlConnection>);

impl MysqlCatalogue {
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

impl fmt::Debug for MysqlCatalogue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("MysqlCatalogue")
            .finish_non_exhaustive()
    }
}

forward_catalogue!([] MysqlCatalogue, self => self.0);

impl Backend for MysqlConnection {
    const SCHEME: Scheme = Scheme {
        names: &["mysql"],
        example: "mysql://user:password@host/database",
        open: |url, options| Ok(Arc::new(MysqlCatalogue::open_with(url, options)?)),
    };

    const REMEDY: &'static str =
        "check user, password and database in the URL, and that the user may create tables in it";

    fn complete_url(url: &str, _: &OpenOptions) -> String {
        url.to_owned()
    }

    fn connect(url: &str, purpose: Purpose, timeout: Duration) -> ConnectionResult<Self> {
        let mut connection = Self::establish(url)?;
        set_up(&mut connection, purpose, timeout)
            .map_err(ConnectionError::CouldntSetupConfiguration)?;
        if purpose == Purpose::Prepare {
            check_settings(&mut connection, url)?;
        }
        Ok(connection)
    }

    fn rejection(error: &ConnectionError) -> Rejection {
        rejection(error)
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
    // MariaDB executes the first comment, and MySQL the second.
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
             /*!80003 , SESSION max_execution_time = {milliseconds} */;",
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
fn check_settings(connection: &mut MysqlConnection, url: &str) -> ConnectionResult<()> {
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
            "the server is too old to distinguish all names; it must be MariaDB 10.4 or MySQL \
             8.0.17, or later",
        ));
    }
    // MariaDB's client library ignores the parameter.
    if url.contains("ssl_mode=verify") {
        return Err(refusal(
            "not every client library supports ssl_mode=verify_ca and verify_identity, so they \
             are not accepted",
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

fn refusal(message: &str) -> ConnectionError {
    ConnectionError::BadConnection(message.to_owned())
}

/// Why a connection failed, from the message of the library. A server's messages may be in any
/// language: unknown ones count as unreachable, which is retried.
fn rejection(error: &ConnectionError) -> Rejection {
    const REFUSALS: [&str; 7] = [
        "Access denied",
        "Unknown database",
        "is not allowed to connect",
        "uthentication",
        "too old to distinguish",
        "not every client library",
        "requires TLS",
    ];
    match error {
        ConnectionError::InvalidConnectionUrl(_) | ConnectionError::InvalidCString(_) => {
            Rejection::InvalidUrl
        }
        ConnectionError::BadConnection(message)
            if !REFUSALS.iter().any(|part| message.contains(part)) =>
        {
            Rejection::Unreachable
        }
        _ => Rejection::Refused,
    }
}

impl Migrate for MysqlConnection {
    const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/mysql");

    const TABLES: &str = "SELECT table_name FROM information_schema.tables \
                          WHERE table_schema = DATABASE() \
                          AND table_name IN ('robots', '__diesel_schema_migrations')";

    fn texts(&mut self, query: &str) -> QueryResult<Vec<String>> {
        sql::<Text>(query).load(self)
    }

    fn exclusively<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        // Changes of tables are not transactional here, so that migrations must tolerate being run
        // again. The lock works among the processes on one server. The name of a lock is at most as
        // long as that of a database, hence the hash.
        const LOCK: &str = "SHA1(CONCAT(DATABASE(), '.robots'))";
        let seconds = MIGRATION_LOCK_TIMEOUT.as_secs();
        let lock = format!("SELECT CAST(GET_LOCK({LOCK}, {seconds}) AS CHAR)");
        if self.texts(&lock)? != ["1"] {
            return Err(Failure(MIGRATING.into()));
        }
        let result = work(self);
        self.batch_execute(&format!("DO RELEASE_LOCK({LOCK})"))?;
        result
    }
}

diesel::define_sql_function! {
    /// The position of `part` in `whole`, in characters from 1; 0 if it is not contained.
    fn instr(whole: Text, part: Text) -> Integer;
}

diesel::define_sql_function! {
    /// The id of the row that this connection inserted last.
    fn last_insert_id() -> BigInt;
}

impl_statements!(MysqlConnection);

impl Dialect for MysqlConnection {
    fn insert(&mut self, draft: &ValidDraft) -> QueryResult<i64> {
        diesel::insert_into(robots::table)
            .values(DraftRow::from(draft))
            .execute(self)?;
        // The row is committed: from here on no error may mean that nothing was stored.
        diesel::select(last_insert_id())
            .get_result(self)
            .map_err(|error| wrap(Error::unknown(error)))
    }

    /// MariaDB and MySQL have no index for parts of names.
    fn contains<'a>(&mut self, text: &'a str) -> Contains<'a, Mysql> {
        Box::new(instr(robots::name, text).gt(0))
    }

    fn insert_robots(&mut self, robots: &[Robot]) -> QueryResult<()> {
        let rows: Vec<_> = robots.iter().map(RobotRow::from).collect();
        let insert = diesel::insert_into(robots::table).values(rows);
        insert.execute(self).map(drop)
    }

    fn last_number(&mut self) -> QueryResult<i64> {
        sql::<BigInt>(
            "SELECT CAST(auto_increment AS SIGNED) - 1 FROM information_schema.tables
             WHERE table_schema = DATABASE() AND table_name = 'robots'",
        )
        .get_result(self)
    }

    /// Inserts a row with the number and deletes it. ALTER TABLE would end the transaction, and could
    /// lower the number.
    fn raise_last_number(&mut self, number: i64) -> QueryResult<()> {
        let random = RandomState::new().hash_one(number);
        let name = format!("\u{10ffff}{random:016x}");
        diesel::insert_into(robots::table)
            .values(RobotRow::temporary(number, &name))
            .execute(self)?;
        diesel::delete(robots::table.find(number))
            .execute(self)
            .map(drop)
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
        let bad = |message: &str| rejection(&ConnectionError::BadConnection(message.to_owned()));
        assert_eq!(
            bad("Can't connect to server on 'h' (115)"),
            Rejection::Unreachable
        );
        assert_eq!(bad("Too many connections"), Rejection::Unreachable);
        assert_eq!(bad("Access denied for user 'u'@'h'"), Rejection::Refused);
        assert_eq!(bad("Unknown database 'd'"), Rejection::Refused);
        let invalid = MysqlConnection::establish("mysql://h:port/d")
            .err()
            .unwrap();
        assert_eq!(rejection(&invalid), Rejection::InvalidUrl);
    }
}
