//! Execution of SQL on the connection of each backend.

use std::future::Future;

use diesel::QueryResult;

use super::{fragment::Fragment, schema::Group};
use crate::model::Robot;

/// Executes SQL. Statements are futures: those of a database server wait for its answers, and those of SQLite never
/// wait.
pub(super) trait Execute: Send + Sized {
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
/// longer than the code. On database servers, `.await` follows each statement. The file that uses the macro imports the
/// traits by which the connection executes statements. Examples: `impl_execute!(SqliteConnection,)` and
/// `impl_execute!(AsyncPgConnection, .await)`.
macro_rules! impl_execute {
    ($connection:ty, $($await:tt)*) => {
        const _: () = {
            use diesel::{
                QueryResult,
                sql_types::{BigInt, Nullable, Text},
            };
            use $crate::{
                database::{
                    execute::{Execute, load},
                    fragment::{Fragment, Rows},
                    schema::{Group, Row, robot},
                },
                model::Robot,
            };

            type Columns = (
                BigInt,
                Text,
                Nullable<Text>,
                Nullable<BigInt>,
                BigInt,
                Nullable<Text>,
            );

            impl Execute for $connection {
                async fn batch(&mut self, statements: &str) -> QueryResult<()> {
                    self.batch_execute(statements)$($await)*
                }

                async fn change(&mut self, statement: Fragment<'_>) -> QueryResult<usize> {
                    Rows::<()>::of(statement).execute(self)$($await)*
                }

                async fn robots(
                    &mut self,
                    query: Fragment<'_>,
                    limit: usize,
                ) -> QueryResult<Vec<Robot>> {
                    load!(self, Rows::<Columns>::of(query), Row, limit, robot, $($await)*)
                }

                async fn pairs<T: Send>(
                    &mut self,
                    query: Fragment<'_>,
                    limit: usize,
                    convert: impl Fn((i64, String)) -> QueryResult<T> + Send,
                ) -> QueryResult<Vec<T>> {
                    type Columns = (BigInt, Text);
                    type Pair = (i64, String);
                    load!(self, Rows::<Columns>::of(query), Pair, limit, convert, $($await)*)
                }

                async fn numbers(&mut self, query: Fragment<'_>) -> QueryResult<Vec<i64>> {
                    Rows::<BigInt>::of(query).load(self)$($await)*
                }

                async fn texts(&mut self, query: &str) -> QueryResult<Vec<String>> {
                    let query = Fragment::new(query.to_owned());
                    Rows::<Text>::of(query).load(self)$($await)*
                }

                async fn groups(&mut self, query: Fragment<'_>) -> QueryResult<Vec<Group>> {
                    type Columns = (Nullable<Text>, Nullable<BigInt>, BigInt);
                    Rows::<Columns>::of(query).load(self)$($await)*
                }
            }
        };
    };
}

/// Loads rows, and converts each.
macro_rules! load {
    ($connection:expr, $query:expr, $row:ty, $limit:expr, $convert:expr,) => {{
        // A loop, because collecting into a result moves each row several times.
        let mut items = Vec::new();
        let rows = $query.load_iter::<$row, diesel::connection::DefaultLoadingMode>($connection)?;
        for row in rows.take($limit) {
            items.push($convert(row?)?);
        }
        Ok(items)
    }};
    ($connection:expr, $query:expr, $row:ty, $limit:expr, $convert:expr, .await) => {{
        let _ = $limit;
        let rows: Vec<$row> = $query.load($connection).await?;
        rows.into_iter().map($convert).collect()
    }};
}

pub(super) use {impl_execute, load};
