//! Execution of SQL on the connection of each backend.

use std::future::Future;

use diesel::QueryResult;

use super::{fragment::Fragment, schema::Group};
use crate::model::Robot;

/// Executes SQL. Statements are futures: those of a database server wait for its answers, and those of SQLite never
/// wait.
pub(super) trait Execute: Send + Sized {
    /// Whether rows are read only when they are requested, so that a query in the order of an index needs no
    /// LIMIT. SQLite plans a statement anew whenever a LIMIT is bound, which takes about as long as reading 40
    /// entries.
    const READS_LAZILY: bool;

    /// Executes statements without values and results.
    fn batch(&mut self, statements: &str) -> impl Future<Output = QueryResult<()>> + Send;

    /// Executes a statement that changes rows, and returns their number.
    fn change(
        &mut self,
        statement: Fragment<'_>,
    ) -> impl Future<Output = QueryResult<usize>> + Send;

    /// The robots of a query for [`ROBOT`](super::schema::ROBOT): so many at most, if rows are read lazily.
    fn robots(
        &mut self,
        query: Fragment<'_>,
        limit: usize,
    ) -> impl Future<Output = QueryResult<Vec<Robot>>> + Send;

    /// The numbers and texts of a query, such as one for [`ENTRY`](super::schema::ENTRY), converted: so many at most,
    /// if rows are read lazily.
    fn pairs<T: Send>(
        &mut self,
        query: Fragment<'_>,
        limit: usize,
        convert: impl Fn((i64, String)) -> QueryResult<T> + Send,
    ) -> impl Future<Output = QueryResult<Vec<T>>> + Send;

    /// The numbers that a query returns.
    fn numbers(
        &mut self,
        query: Fragment<'_>,
    ) -> impl Future<Output = QueryResult<Vec<i64>>> + Send;

    /// The texts that a query returns.
    fn texts(&mut self, query: &str) -> impl Future<Output = QueryResult<Vec<String>>> + Send;

    /// The groups that a query returns.
    fn groups(
        &mut self,
        query: Fragment<'_>,
    ) -> impl Future<Output = QueryResult<Vec<Group>>> + Send;
}

/// Implements [`Execute`] for the connection of a backend: as a generic function, it would need bounds that are
/// longer than the code. `blocking` is for SQLite, and `awaited` for database servers.
macro_rules! impl_execute {
    ($connection:ty, $kind:ident) => {
        const _: () = {
            use diesel::{
                QueryResult,
                sql_types::{BigInt, Nullable, Text},
            };
            use $crate::{
                database::{
                    execute::{Execute, import_run_query_dsl, load, reads_lazily, run},
                    fragment::{Fragment, Rows},
                    schema::{Group, Row, robot},
                },
                model::Robot,
            };

            import_run_query_dsl!($kind);

            type Columns = (
                BigInt,
                Text,
                Nullable<Text>,
                Nullable<BigInt>,
                BigInt,
                Nullable<Text>,
            );

            impl Execute for $connection {
                const READS_LAZILY: bool = reads_lazily!($kind);

                async fn batch(&mut self, statements: &str) -> QueryResult<()> {
                    run!($kind, self.batch_execute(statements))
                }

                async fn change(&mut self, statement: Fragment<'_>) -> QueryResult<usize> {
                    run!($kind, Rows::<()>::of(statement).execute(self))
                }

                async fn robots(
                    &mut self,
                    query: Fragment<'_>,
                    limit: usize,
                ) -> QueryResult<Vec<Robot>> {
                    load!($kind, self, Rows::<Columns>::of(query), Row, limit, robot)
                }

                async fn pairs<T: Send>(
                    &mut self,
                    query: Fragment<'_>,
                    limit: usize,
                    convert: impl Fn((i64, String)) -> QueryResult<T> + Send,
                ) -> QueryResult<Vec<T>> {
                    type Columns = (BigInt, Text);
                    type Pair = (i64, String);
                    load!(
                        $kind,
                        self,
                        Rows::<Columns>::of(query),
                        Pair,
                        limit,
                        convert
                    )
                }

                async fn numbers(&mut self, query: Fragment<'_>) -> QueryResult<Vec<i64>> {
                    run!($kind, Rows::<BigInt>::of(query).load(self))
                }

                async fn texts(&mut self, query: &str) -> QueryResult<Vec<String>> {
                    let query = Fragment::new(query.to_owned());
                    run!($kind, Rows::<Text>::of(query).load(self))
                }

                async fn groups(&mut self, query: Fragment<'_>) -> QueryResult<Vec<Group>> {
                    type Columns = (Nullable<Text>, Nullable<BigInt>, BigInt);
                    run!($kind, Rows::<Columns>::of(query).load(self))
                }
            }
        };
    };
}

/// Imports the traits that execute statements.
macro_rules! import_run_query_dsl {
    (blocking) => {
        use diesel::{RunQueryDsl, connection::SimpleConnection};
    };
    (awaited) => {
        use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
    };
}

macro_rules! reads_lazily {
    (blocking) => {
        true
    };
    (awaited) => {
        false
    };
}

/// Executes a statement.
macro_rules! run {
    (blocking, $statement:expr) => {
        $statement
    };
    (awaited, $statement:expr) => {
        $statement.await
    };
}

/// Loads rows, and converts each.
macro_rules! load {
    (blocking, $connection:expr, $query:expr, $row:ty, $limit:expr, $convert:expr) => {{
        // A loop, because collecting into a result moves each row several times.
        let mut items = Vec::new();
        let rows = $query.load_iter::<$row, diesel::connection::DefaultLoadingMode>($connection)?;
        for row in rows.take($limit) {
            items.push($convert(row?)?);
        }
        Ok(items)
    }};
    (awaited, $connection:expr, $query:expr, $row:ty, $limit:expr, $convert:expr) => {{
        let _ = $limit;
        let rows: Vec<$row> = $query.load($connection).await?;
        rows.into_iter().map($convert).collect()
    }};
}

pub(super) use {impl_execute, import_run_query_dsl, load, reads_lazily, run};
