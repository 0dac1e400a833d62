//! Execution of SQL on the connection of each backend.

use std::future::Future;

use diesel::QueryResult;

use super::{fragment::Fragment, version::VersionRow};
use crate::{catalogue::Room, model::Robot};

/// Executes SQL. Statements are futures: those of a database server wait for its answers, and those of SQLite never
/// wait.
pub(super) trait Execute: Send + Sized {
    /// Executes statements without values and results; nothing if there are none.
    fn batch(&mut self, statements: &str) -> impl Future<Output = QueryResult<()>> + Send;

    /// Executes a statement that changes rows, and returns their number.
    fn change(
        &mut self,
        statement: Fragment<'_>,
    ) -> impl Future<Output = QueryResult<usize>> + Send;

    /// The robots of a query for [`ROBOT`](super::schema::ROBOT), as far as there is room.
    fn robots(
        &mut self,
        query: Fragment<'_>,
        room: &mut Room,
    ) -> impl Future<Output = QueryResult<Vec<Robot>>> + Send;

    /// The versions of robots that a query returns, as far as there is room.
    fn versions(
        &mut self,
        query: Fragment<'_>,
        room: &mut Room,
    ) -> impl Future<Output = QueryResult<Vec<VersionRow>>> + Send;

    /// The numbers and texts of a query, such as one for [`NAMED`](super::schema::NAMED), converted, as far as there
    /// is room.
    fn pairs<T: Send>(
        &mut self,
        query: Fragment<'_>,
        room: &mut Room,
        convert: impl Fn((i64, String)) -> QueryResult<T> + Send,
    ) -> impl Future<Output = QueryResult<Vec<T>>> + Send;

    /// The numbers that a query returns.
    fn numbers(
        &mut self,
        query: Fragment<'_>,
    ) -> impl Future<Output = QueryResult<Vec<i64>>> + Send;

    /// The texts that a query returns.
    fn texts(&mut self, query: &str) -> impl Future<Output = QueryResult<Vec<String>>> + Send;
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
                    schema::{Row, robot},
                    version::VersionRow,
                },
                catalogue::Room,
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
                    if statements.is_empty() {
                        return Ok(());
                    }
                    self.batch_execute(statements)$($await)*
                }

                async fn change(&mut self, statement: Fragment<'_>) -> QueryResult<usize> {
                    Rows::<()>::of(statement).execute(self)$($await)*
                }

                async fn robots(
                    &mut self,
                    query: Fragment<'_>,
                    room: &mut Room,
                ) -> QueryResult<Vec<Robot>> {
                    let query = Rows::<Columns>::of(query);
                    load!(self, query, Row, room, Row::size, robot, $($await)*)
                }

                async fn versions(
                    &mut self,
                    query: Fragment<'_>,
                    room: &mut Room,
                ) -> QueryResult<Vec<VersionRow>> {
                    type OfVersion = (
                        Columns, BigInt, Nullable<BigInt>, Nullable<BigInt>, Nullable<Text>,
                        BigInt, BigInt, BigInt, Nullable<Text>,
                    );
                    let query = Rows::<OfVersion>::of(query);
                    load!(self, query, VersionRow, room, VersionRow::size, QueryResult::Ok, $($await)*)
                }

                async fn pairs<T: Send>(
                    &mut self,
                    query: Fragment<'_>,
                    room: &mut Room,
                    convert: impl Fn((i64, String)) -> QueryResult<T> + Send,
                ) -> QueryResult<Vec<T>> {
                    type Columns = (BigInt, Text);
                    type Pair = (i64, String);
                    let query = Rows::<Columns>::of(query);
                    let size = |(_, text): &Pair| text.len();
                    load!(self, query, Pair, room, size, convert, $($await)*)
                }

                async fn numbers(&mut self, query: Fragment<'_>) -> QueryResult<Vec<i64>> {
                    Rows::<BigInt>::of(query).load(self)$($await)*
                }

                async fn texts(&mut self, query: &str) -> QueryResult<Vec<String>> {
                    let query = Fragment::new(query.to_owned());
                    Rows::<Text>::of(query).load(self)$($await)*
                }
            }
        };
    };
}

/// Loads rows as far as there is room, and converts each. SQLite reads them only when they are requested.
macro_rules! load {
    ($connection:expr, $query:expr, $row:ty, $room:expr, $size:expr, $convert:expr,) => {{
        let rows = $query.load_iter::<$row, diesel::connection::DefaultLoadingMode>($connection)?;
        load!(rows, $room, $size, $convert)
    }};
    ($connection:expr, $query:expr, $row:ty, $room:expr, $size:expr, $convert:expr, .await) => {{
        let rows: Vec<$row> = $query.load($connection).await?;
        let rows = rows.into_iter().map(QueryResult::Ok);
        load!(rows, $room, $size, $convert)
    }};
    ($rows:expr, $room:expr, $size:expr, $convert:expr) => {{
        // A loop, because collecting into a result moves each row several times.
        let (mut items, mut rows) = (Vec::with_capacity($room.robots.min(1024)), $rows);
        while !$room.is_full()
            && let Some(row) = rows.next()
        {
            let row = row?;
            $room.take($size(&row));
            items.push($convert(row)?);
        }
        Ok(items)
    }};
}

pub(super) use {impl_execute, load};
