//! Connections to PostgreSQL and their settings.

use std::time::Duration;

use diesel::{QueryResult, connection::SimpleConnection, dsl::sql, sql_types::Text};
use diesel_async::{
    AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection,
    async_connection_wrapper::AsyncConnectionWrapper,
};
use tokio_postgres::Client;

use super::{
    migrations::{TABLE_LOCK, create_search_index},
    pooler,
    statements::update_all,
    url::PostgresUrl,
};
use crate::{
    catalogue::{Preparation, Receipt},
    database::{
        migrations::{self, MigrationError},
        server::{
            backend::Backend,
            connect_error::{ConnectError, ConnectFailure, UrlError},
            operation::Operation,
        },
    },
    model::{Definition, Robot, ValidChanges},
};

impl Backend for AsyncPgConnection {
    type Url = PostgresUrl;

    const SCHEMES: &'static [&'static str] = &["postgres", "postgresql"];

    const EXAMPLE: &'static str = "postgres://user:password@host/database";

    const REMEDY: &'static str = "check user, password and database in the URL, that the user may create tables \
                                  in it, and that its encoding is UTF8";

    const TLS_REMEDY: &'static str =
        "check sslmode and sslrootcert in the URL, and the certificate of the server";

    fn parse(url: &str, timeout: Duration) -> Result<PostgresUrl, UrlError> {
        PostgresUrl::parse(url, timeout)
    }

    async fn update_all(
        &mut self,
        definition: &Definition,
        updates: &[(&Robot, &ValidChanges, Option<&str>)],
    ) -> QueryResult<Vec<Receipt>> {
        update_all(self, definition, updates).await
    }

    async fn connect(url: &PostgresUrl) -> Result<Self, ConnectError> {
        set_up(url.connect().await?, url.timeout).await
    }

    async fn connect_first(url: &PostgresUrl) -> Result<Self, ConnectError> {
        let mut connection = set_up(pooler::connect(url).await?, url.timeout).await?;
        let settings = sql::<(Text, Text)>(
            "SELECT current_setting('server_encoding'), current_setting('fsync')",
        );
        let settings: Vec<(String, String)> = settings.load(&mut connection).await?;
        for (encoding, fsync) in settings {
            if encoding != "UTF8" {
                return Err(ConnectError(
                    ConnectFailure::Refused,
                    format!(
                        "the encoding of the database is {encoding}, which cannot hold every name"
                    ),
                ));
            }
            if fsync == "off" {
                tracing::warn!(
                    "the database server has fsync = off: a power cut may lose acknowledged writes"
                );
            }
        }
        Ok(connection)
    }

    fn prepare(self, database: &str, preparation: Preparation) -> Result<Self, MigrationError> {
        let mut connection = AsyncConnectionWrapper::<Self>::from(self);
        // Migrations may change tables of any size.
        SimpleConnection::batch_execute(&mut connection, "SET statement_timeout = 0")?;
        migrations::prepare(&mut connection, database, preparation)?;
        if !matches!(preparation, Preparation::Revert(_)) {
            create_search_index(&mut connection, database)?;
            SimpleConnection::batch_execute(&mut connection, RENEW_IDENTITY)?;
        }
        Ok(connection.into_inner())
    }

    async fn set_limits(&mut self, operation: Operation, timeout: Duration) -> QueryResult<()> {
        let others = if operation.needs_index() { "off" } else { "on" };
        // To start parallel workers takes longer than a short statement.
        let workers = if operation.is_limited_by_timeout() {
            "0"
        } else {
            "DEFAULT"
        };
        self.batch_execute(&format!(
            "SET statement_timeout = {statement}; SET lock_timeout = {lock};
             SET enable_seqscan = {others}; SET enable_hashjoin = {others};
             SET enable_mergejoin = {others}; SET max_parallel_workers_per_gather = {workers}",
            statement = operation.statement_limit(timeout).as_millis(),
            lock = operation.lock_limit(timeout).as_millis()
        ))
        .await
    }

    const BEGIN_SNAPSHOT: &'static str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

    const TABLE_LOCK: (&'static str, &'static str) = TABLE_LOCK;

    const LOCK_CATALOGUE: &'static str = "LOCK TABLE robots IN ROW EXCLUSIVE MODE;
         SELECT revision FROM robots_catalogue WHERE id = 1 FOR UPDATE";

    /// Also waits for transactions that have only locked robots. With a weaker lock, they would then wait for the table,
    /// and the change of the definition for their robots: a deadlock, which takes PostgreSQL a second to end.
    const LOCK_WRITES: &'static str = "LOCK TABLE robots IN EXCLUSIVE MODE";
}

/// Gives the catalogue another identity if the table is not where it was: in a dump that was loaded elsewhere. A replica that
/// becomes the primary has the same place. A user may have no right to read the identifier of the server, or to change
/// the table.
const RENEW_IDENTITY: &str = "DO $$
DECLARE here text;
BEGIN
    here := concat_ws('.', (SELECT system_identifier FROM pg_control_system()),
        (SELECT oid FROM pg_database WHERE datname = current_database()), 'robots_catalogue'::regclass::oid);
    IF NOT pg_is_in_recovery() AND EXISTS (SELECT FROM robots_catalogue WHERE place IS DISTINCT FROM here) THEN
        UPDATE robots_catalogue SET identity = md5(random()::text || clock_timestamp()::text), place = here;
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    NULL;
END
$$";

/// Sets what the catalogue relies on, whatever the defaults of the server, database and role are.
async fn set_up(client: Client, timeout: Duration) -> Result<AsyncPgConnection, ConnectError> {
    let mut connection = AsyncPgConnection::try_from(client).await?;
    let timeout = timeout.as_millis();
    // A random page costs 1.1: with the default of 4, which is for hard disks, the planner parses the own values
    // of thousands of robots in the order of their names, instead of using the index of a value.
    //
    // A commit must wait for the disk at least; a setting that waits for more is kept. It is always set: a
    // value of the server would change when the server reloads its settings.
    let settings = format!(
        "SET default_transaction_isolation = 'read committed';
         SET default_transaction_read_only = off;
         SET client_min_messages = warning;
         SET robots.program = 'on';
         SET random_page_cost = 1.1;
         SET lock_timeout = {timeout};
         SET statement_timeout = {timeout};
         SET idle_in_transaction_session_timeout = {timeout};
         SELECT set_config('synchronous_commit', coalesce(nullif(setting, 'off'), 'on'), false)
         FROM current_setting('synchronous_commit') AS setting"
    );
    connection.batch_execute(&settings).await?;
    Ok(connection)
}

#[cfg(test)]
#[cfg(feature = "conformance")]
mod tests {
    use super::*;
    use crate::{
        catalogue::OpenOptions, conformance::scratch_database,
        database::server::connector::Connector,
    };

    const TIMEOUT: Duration = Duration::from_millis(1500);

    async fn texts(url: &str, queries: &[String]) -> Vec<String> {
        let url = PostgresUrl::parse(url, TIMEOUT).unwrap();
        let connected = AsyncPgConnection::connect(&url).await;
        let mut connection = connected.unwrap();
        let mut texts = Vec::new();
        for query in queries {
            texts.extend(sql::<Text>(query).load(&mut connection).await.unwrap());
        }
        texts
    }

    #[tokio::test]
    async fn sessions_have_the_required_settings() {
        let expected = [
            ("synchronous_commit", "on"),
            ("default_transaction_isolation", "read committed"),
            ("default_transaction_read_only", "off"),
            ("lock_timeout", "1500ms"),
            ("statement_timeout", "1500ms"),
            ("client_encoding", "UTF8"),
        ];
        let queries = expected.map(|(name, _)| format!("SELECT current_setting('{name}')"));
        let found = texts(&scratch_database("TEST_POSTGRES_URL"), &queries).await;
        assert_eq!(found, expected.map(|(_, value)| value));
    }

    #[tokio::test]
    async fn commits_of_other_programs_wait_for_the_disk() {
        let url = scratch_database("TEST_POSTGRES_URL");
        let connector = Connector::<AsyncPgConnection>::open(&url, &OpenOptions::default()).await;
        drop(connector.unwrap());
        let queries = [
            "SELECT set_config('robots.program', '', false)",
            "SELECT set_config('synchronous_commit', 'off', false)",
            "INSERT INTO robots (name) VALUES ('a') RETURNING current_setting('synchronous_commit')",
            "UPDATE robots SET year = 1 RETURNING current_setting('synchronous_commit')",
            "SELECT current_setting('synchronous_commit')",
        ];
        let found = texts(&url, &queries.map(str::to_owned)).await;
        assert_eq!(found, ["", "off", "on", "on", "off"]);
    }

    /// Otherwise it would change when the server reloads its settings.
    #[tokio::test]
    async fn commits_are_set_for_the_session() {
        let url = scratch_database("TEST_POSTGRES_URL");
        let source = "SELECT setting || ' of ' || source FROM pg_settings
                      WHERE name = 'synchronous_commit'";
        for (of_server, expected) in [
            ("off", "on of session"),
            ("on", "on of session"),
            ("remote_apply", "remote_apply of session"),
        ] {
            let url = format!("{url}%20-csynchronous_commit%3D{of_server}");
            let found = texts(&url, &[source.to_owned()]).await;
            assert_eq!(found, [expected]);
        }
    }
}
