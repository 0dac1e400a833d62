//! An empty database of each kind, with a connection of another program to it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use diesel::{Connection, RunQueryDsl, connection::SimpleConnection, dsl::sql, sql_types::Text};
#[cfg(any(feature = "postgres", feature = "mysql"))]
use robot_core::conformance::scratch_database;
use robot_core::{Catalogue, OpenOptions, RobotId};

pub(crate) trait Backend: Sized {
    type Connection: Connection;

    /// The name of its folder of migrations.
    const MIGRATIONS: &str;

    /// Creates an empty database.
    fn new() -> Self;

    /// Creates a database of the previous version, from a file in `databases`.
    fn of_previous_version() -> Self;

    fn url(&self) -> &str;

    /// Sets what the other program needs for its session.
    const SESSION: &str;

    /// Begins a transaction that locks a robot.
    fn lock(id: RobotId) -> String {
        format!("BEGIN; UPDATE robots SET year = 1 WHERE id = {id}")
    }

    /// Opens the catalogue. The machine may be busy.
    fn open(&self) -> Arc<dyn Catalogue> {
        let patient = OpenOptions {
            timeout: Duration::from_secs(20),
            ..OpenOptions::default()
        };
        let opened = patient.open(self.url());
        opened.unwrap_or_else(|error| panic!("{error}"))
    }

    /// A connection of another program.
    fn connect(&self) -> Self::Connection {
        let (_, path) = self
            .url()
            .split_once("sqlite://")
            .unwrap_or(("", self.url()));
        let mut connection = Self::Connection::establish(path).unwrap();
        connection.batch_execute(Self::SESSION).unwrap();
        connection
    }

    /// Executes statements as another program.
    fn execute(&self, statements: &str) {
        self.connect().batch_execute(statements).unwrap();
    }

    /// The texts that a query returns.
    fn texts(connection: &mut Self::Connection, query: &str) -> Vec<String>;

    /// The texts that a query of another program returns.
    fn query(&self, query: &str) -> Vec<String> {
        Self::texts(&mut self.connect(), query)
    }

    /// The versions of the migrations that were run.
    fn versions(&self) -> Vec<String> {
        self.query("SELECT version FROM __diesel_schema_migrations ORDER BY version")
    }

    /// The folders of its migrations, in their order.
    fn migrations() -> Vec<PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("migrations")
            .join(Self::MIGRATIONS);
        let entries = fs::read_dir(folder).unwrap();
        let mut folders: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        folders.sort();
        folders
    }
}

/// The version of a migration: the digits at the start of the name of its folder.
pub(crate) fn version(migration: &Path) -> String {
    let name = migration.file_name().unwrap().to_str().unwrap();
    let (date, _) = name.split_once('_').unwrap();
    date.replace('-', "")
}

/// A file of the previous version.
pub(crate) fn previous(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/stores/databases/0.1.0")
        .join(name)
}

#[cfg(feature = "sqlite")]
pub(crate) struct Sqlite {
    folder: tempfile::TempDir,
    url: String,
}

#[cfg(feature = "sqlite")]
impl Sqlite {
    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// The path of the file that the URL names.
    pub(crate) fn file(&self) -> std::path::PathBuf {
        self.folder().join("robots.db")
    }
}

#[cfg(feature = "sqlite")]
impl Backend for Sqlite {
    type Connection = diesel::SqliteConnection;

    const MIGRATIONS: &str = "sqlite";

    const SESSION: &str = "PRAGMA busy_timeout = 2000";

    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/robots.db", folder.path().display());
        Self { folder, url }
    }

    fn of_previous_version() -> Self {
        let database = Self::new();
        fs::copy(previous("robots.db"), database.file()).unwrap();
        database
    }

    fn texts(connection: &mut Self::Connection, query: &str) -> Vec<String> {
        sql::<Text>(query).load(connection).unwrap()
    }

    fn url(&self) -> &str {
        &self.url
    }

    fn lock(_: RobotId) -> String {
        "BEGIN IMMEDIATE".to_owned()
    }
}

#[cfg(feature = "postgres")]
pub(crate) struct Postgres(String);

#[cfg(feature = "postgres")]
impl Backend for Postgres {
    type Connection = robot_core::conformance::PostgresConnection;

    const MIGRATIONS: &str = "postgres";

    const SESSION: &str = "SET default_transaction_read_only = off; SET lock_timeout = 0; \
                           SET default_transaction_isolation = 'read committed'";

    /// The application name is that of the schema, to find the sessions of this database.
    fn new() -> Self {
        let url = scratch_database("TEST_POSTGRES_URL");
        let (_, schema) = url.rsplit_once("%3D").unwrap();
        Self(format!("{url}&application_name={schema}"))
    }

    /// The dump names the schema that the tables and the extension were in.
    fn of_previous_version() -> Self {
        // Creates the extension, if no other test has.
        Self::new().open();
        let database = Self::new();
        let names = database.query(
            "SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'pg_trgm'
             UNION ALL SELECT current_schema()::text",
        );
        let dump = fs::read_to_string(previous("postgres.sql")).unwrap();
        let dump = dump.replace("public.gin_trgm_ops", &format!("{}.gin_trgm_ops", names[0]));
        database.execute(&dump.replace("public.", &format!("{}.", names[1])));
        database
    }

    fn texts(connection: &mut Self::Connection, query: &str) -> Vec<String> {
        sql::<Text>(query).load(connection).unwrap()
    }

    fn url(&self) -> &str {
        &self.0
    }
}

#[cfg(feature = "mysql")]
pub(crate) struct Mysql(String);

#[cfg(feature = "mysql")]
impl Backend for Mysql {
    type Connection = robot_core::conformance::MysqlConnection;

    const MIGRATIONS: &str = "mysql";

    const SESSION: &str = "SET SESSION TRANSACTION READ WRITE; \
         SET autocommit = 1, completion_type = 0, sql_mode = 'STRICT_ALL_TABLES', \
         check_constraint_checks = 1, sql_select_limit = 18446744073709551615, \
         sql_big_selects = 1, lock_wait_timeout = 10, innodb_lock_wait_timeout = 10";

    fn new() -> Self {
        Self(scratch_database("TEST_MYSQL_URL"))
    }

    fn of_previous_version() -> Self {
        let database = Self::new();
        database.execute(&fs::read_to_string(previous("mariadb.sql")).unwrap());
        database
    }

    fn texts(connection: &mut Self::Connection, query: &str) -> Vec<String> {
        sql::<Text>(query).load(connection).unwrap()
    }

    fn url(&self) -> &str {
        &self.0
    }
}

/// Turns generic functions into tests, one for each database server.
#[cfg(any(feature = "postgres", feature = "mysql"))]
macro_rules! server_tests {
    ($($test:ident),+ $(,)?) => {
        #[cfg(feature = "postgres")]
        mod postgres {
            $(#[test]
            fn $test() {
                super::$test::<crate::backend::Postgres>();
            })+
        }
        #[cfg(feature = "mysql")]
        mod mysql {
            $(#[test]
            fn $test() {
                super::$test::<crate::backend::Mysql>();
            })+
        }
    };
}
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(crate) use server_tests;

/// Turns generic functions into tests, one for each store in a database.
macro_rules! database_tests {
    ($($test:ident),+ $(,)?) => {
        #[cfg(feature = "sqlite")]
        mod sqlite {
            $(#[test]
            fn $test() {
                super::$test::<crate::backend::Sqlite>();
            })+
        }
        #[cfg(any(feature = "postgres", feature = "mysql"))]
        crate::backend::server_tests![$($test),+];
    };
}
pub(crate) use database_tests;
