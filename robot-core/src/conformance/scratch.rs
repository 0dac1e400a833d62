//! Empty databases for cases, on the database servers of a test run, and connections to them.

use std::{
    env, process,
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use diesel::Connection;
use diesel_async::async_connection_wrapper::{AsyncConnectionWrapper, BlockOn};
use tokio::{runtime::Runtime, task};

/// A connection of a test to PostgreSQL, without TLS.
#[cfg(feature = "postgres")]
pub type PostgresConnection = AsyncConnectionWrapper<diesel_async::AsyncPgConnection, Blocking>;

/// A connection of a test to MariaDB or MySQL, without TLS.
#[cfg(feature = "mysql")]
pub type MysqlConnection = AsyncConnectionWrapper<diesel_async::AsyncMysqlConnection, Blocking>;

/// Waits for a connection in the calling thread, which may be one of a Tokio runtime: the runtime that
/// Diesel has for this panics there.
#[derive(Debug)]
pub struct Blocking(&'static Runtime);

impl BlockOn for Blocking {
    /// Without Tokio's limit of work per task, which would never end in a task that blocks.
    fn block_on<F: Future>(&self, future: F) -> F::Output {
        let _runtime = self.0.enter();
        pollster::block_on(task::unconstrained(future))
    }

    fn get_runtime() -> Self {
        static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            let runtime = builder.worker_threads(1).enable_all().build();
            runtime.unwrap_or_else(|error| panic!("the runtime of the connections: {error}"))
        });
        Self(&RUNTIME)
    }
}

/// Creates an empty database (in PostgreSQL, an empty schema) and returns its URL.
///
/// The environment variable contains the URL of a database on the same server, whose user may
/// create databases with names that begin with `robots_`. They are not deleted: use a server that
/// is started for the test run.
///
/// ```no_run
/// use robot_core::conformance::scratch_database;
///
/// let url = scratch_database("TEST_POSTGRES_URL");
/// assert!(url.starts_with("postgres://"));
/// ```
///
/// # Panics
/// The variable is not set, or the database cannot be created: a test without its server fails
/// instead of being skipped.
#[must_use]
pub fn scratch_database(variable: &str) -> String {
    let server = env::var(variable).unwrap_or_else(|_| {
        panic!("{variable} must be the URL of a database server; ./test.sh starts one and sets it")
    });
    let name = unused_name();
    match server.split(':').next() {
        #[cfg(feature = "postgres")]
        Some("postgres" | "postgresql") => {
            // Sessions of the user may be read-only by default.
            let create = format!("BEGIN READ WRITE; CREATE SCHEMA {name}; COMMIT");
            run::<PostgresConnection>(&server, &create);
            let mark = if server.contains('?') { '&' } else { '?' };
            format!("{server}{mark}options=-csearch_path%3D{name}")
        }
        #[cfg(feature = "mysql")]
        Some("mysql") => {
            let create = format!("SET SESSION TRANSACTION READ WRITE; CREATE DATABASE {name}");
            run::<MysqlConnection>(&server, &create);
            let (address, query) = server.split_once('?').unwrap_or((&server, ""));
            let (address, _) = address.rsplit_once('/').unwrap_or((address, ""));
            format!("{address}/{name}?{query}")
        }
        _ => panic!("{variable} is not the URL of a database server that this build supports"),
    }
}

/// A name that is unique among all cases of all runs.
fn unused_name() -> String {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_micros());
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!("robots_{now}_{}_{number}", process::id())
}

fn run<C: Connection>(url: &str, statement: &str) {
    let connection = C::establish(url);
    let result = connection
        .map_err(|error| error.to_string())
        .and_then(|mut connection| {
            let result = connection.batch_execute(statement);
            result.map_err(|error| error.to_string())
        });
    if let Err(error) = result {
        panic!("{statement}: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All statements of a batch run: a failure of the last one is reported.
    fn statements_run_in_a_task<C: Connection>(variable: &str) {
        let url = scratch_database(variable);
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.build().unwrap();
        runtime.block_on(async {
            let mut connection = C::establish(&url).unwrap();
            for _ in 0..500 {
                connection.batch_execute("SELECT 1; SELECT 2").unwrap();
            }
            let last_fails = connection.batch_execute("SELECT 1; SELECT two");
            last_fails.unwrap_err();
        });
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn statements_run_in_a_task_on_postgres() {
        statements_run_in_a_task::<PostgresConnection>("TEST_POSTGRES_URL");
    }

    #[cfg(feature = "mysql")]
    #[test]
    fn statements_run_in_a_task_on_mysql() {
        statements_run_in_a_task::<MysqlConnection>("TEST_MYSQL_URL");
    }
}
