//! Statements about robots. [`Statements`] are the same for every backend; [`Dialect`] is what a
//! backend implements itself.
//!
//! Statements are futures. Those of a database server wait for its answers. Those of SQLite never wait:
//! [`now`] returns their results.

use std::future::Future;

use diesel::QueryResult;

use super::{fragment::Fragment, schema::assigned};
use crate::{
    catalogue::{Change, Error, Filter, PageRequest, Result},
    model::{Entry, Revision, Robot, RobotId, ValidChanges, ValidDraft},
};

/// The result of a statement that never waits.
#[cfg(feature = "sqlite")]
pub(super) fn now<T>(statement: impl Future<Output = T>) -> T {
    pollster::block_on(statement)
}

/// The statements that differ between backends.
pub(super) trait Dialect: Send {
    /// The SQL before and after a JSON merge patch, which applies it to the own values. Without any, they are
    /// NULL.
    const MERGE: (&str, &str);

    /// Inserts a robot, and returns its id.
    fn insert(&mut self, draft: &ValidDraft) -> impl Future<Output = QueryResult<i64>> + Send;

    /// The condition that a name contains a text.
    fn name_contains(text: &str) -> Fragment<'_>;

    /// The condition that a search text contains a folded text, or that the id is one of these.
    fn search_text_contains<'a>(folded: &'a str, ids: &[i64]) -> Fragment<'a>;

    /// Inserts robots with their ids, by one statement.
    fn insert_robots(&mut self, robots: &[Robot]) -> impl Future<Output = QueryResult<()>> + Send;

    /// The greatest id that was assigned, as far as the database knows; 0 if none was.
    fn last_id(&mut self) -> impl Future<Output = QueryResult<i64>> + Send;

    /// Makes new ids greater than this id, which is greater than the last one.
    fn raise_last_id(&mut self, id: i64) -> impl Future<Output = QueryResult<()>> + Send;

    /// Keeps other transactions from assigning ids until this one ends, if
    /// [`raise_last_id`](Self::raise_last_id) needs that.
    fn lock_ids(&mut self) -> impl Future<Output = QueryResult<()>> + Send {
        async { Ok(()) }
    }
}

/// The statements that are the same for every backend.
pub(super) trait Statements: Dialect {
    /// Executes statements without values and results.
    fn batch(&mut self, statements: &str) -> impl Future<Output = QueryResult<()>> + Send;

    /// The robot with this id.
    fn get(&mut self, id: RobotId) -> impl Future<Output = QueryResult<Option<Robot>>> + Send;

    /// The robot with this name.
    fn find(&mut self, name: &str) -> impl Future<Output = QueryResult<Option<Robot>>> + Send;

    /// A page of the robots that meet the request's filter. The text of the filter is ignored: `condition`,
    /// if there is one, replaces it.
    fn page(
        &mut self,
        request: PageRequest<'_>,
        condition: Option<Fragment<'_>>,
    ) -> impl Future<Output = QueryResult<Vec<Robot>>> + Send;

    /// As [`page`](Self::page), entries only: without a condition, read from the index of the names
    /// alone.
    fn entries(
        &mut self,
        request: PageRequest<'_>,
        condition: Option<Fragment<'_>>,
    ) -> impl Future<Output = QueryResult<Vec<Entry>>> + Send;

    /// The number of the robots that [`page`](Self::page) reads without a limit.
    fn count(
        &mut self,
        filter: &Filter,
        condition: Option<Fragment<'_>>,
    ) -> impl Future<Output = QueryResult<i64>> + Send;

    /// The numbers of these robots by type and year.
    fn summary(
        &mut self,
        filter: &Filter,
        condition: Option<Fragment<'_>>,
    ) -> impl Future<Output = QueryResult<Vec<(String, i64, i64)>>> + Send;

    /// Changes a robot and its revision, and returns how many there are with this id: 0 or 1.
    fn update(
        &mut self,
        id: RobotId,
        changes: &ValidChanges,
    ) -> impl Future<Output = QueryResult<usize>> + Send;

    /// As [`update`](Self::update), of a robot with this revision.
    fn update_if(
        &mut self,
        id: RobotId,
        revision: Revision,
        changes: &ValidChanges,
    ) -> impl Future<Output = QueryResult<usize>> + Send;

    /// Deletes a robot, and returns how many there were with this id: 0 or 1.
    fn delete(&mut self, id: RobotId) -> impl Future<Output = QueryResult<usize>> + Send;

    /// As [`delete`](Self::delete), of a robot with this revision.
    fn delete_if(
        &mut self,
        id: RobotId,
        revision: Revision,
    ) -> impl Future<Output = QueryResult<usize>> + Send;

    /// Whether a robot with this id exists now, also if another transaction has changed that since
    /// this one began.
    fn exists(&mut self, id: RobotId) -> impl Future<Output = QueryResult<bool>> + Send;

    /// The ids and names of robots without a search text, of which the search index has none: so many at most.
    fn unindexed(
        &mut self,
        limit: i64,
    ) -> impl Future<Output = QueryResult<Vec<(i64, String)>>> + Send;

    /// Adds a robot without a search text to the search index, unless it has another name now.
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    fn index(&mut self, id: i64, name: &str) -> impl Future<Output = QueryResult<()>> + Send;

    /// Executes a change. The inner result is the id of the robot that was added, changed or
    /// deleted.
    fn apply(
        &mut self,
        change: &Change,
    ) -> impl Future<Output = QueryResult<Result<RobotId>>> + Send {
        async move {
            let (id, rows) = match change {
                Change::Insert(draft) => return self.insert(draft).await.map(assigned),
                Change::Update(id, changes) => (*id, self.update(*id, changes).await?),
                Change::UpdateIf(id, revision, changes) => {
                    (*id, self.update_if(*id, *revision, changes).await?)
                }
                Change::Delete(id) => (*id, self.delete(*id).await?),
                Change::DeleteIf(id, revision) => (*id, self.delete_if(*id, *revision).await?),
            };
            if rows > 0 {
                return Ok(Ok(id));
            }
            // The statement has decided. This look only finds out why it changed nothing.
            let is_stale = match change {
                Change::UpdateIf(..) | Change::DeleteIf(..) => self.exists(id).await?,
                _ => false,
            };
            Ok(Err(if is_stale {
                Error::Stale(id)
            } else {
                Error::NotFound(id)
            }))
        }
    }
}

/// Implements [`Statements`] for the connection of a backend. Diesel prepares and caches a statement
/// by its static type, so each backend needs code of its own; as a generic function it would need
/// bounds that are longer than the code.
///
/// `blocking` is for SQLite, whose statements return their results, and which reads each row only when it is
/// requested, so that a page needs no LIMIT. `awaited` is for database servers.
///
/// `for_update` makes [`Statements::exists`] a locking read, on a backend whose transactions read a
/// snapshot otherwise.
macro_rules! impl_statements {
    ($connection:ty, $kind:ident $(, $lock:ident)?) => {
        const _: () = {
            use diesel::{
                BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, QueryResult,
                SelectableHelper,
                dsl::{count_star, sql},
                sql_types::{Nullable, Text},
            };
            use $crate::{
                catalogue::{CursorPlace, Direction, Filter, PageRequest},
                database::{
                    fragment::Fragment,
                    schema::{ChangedColumns, Row, entry, robot, robots},
                    statements::{
                        Dialect, Statements, after_name, import_run_query_dsl, load_page,
                        load_rows, merged_own, restricted, row_limit, run, sorted,
                    },
                },
                model::{Entry, Revision, Robot, RobotId, ValidChanges},
            };

            import_run_query_dsl!($kind);

            impl Statements for $connection {
                async fn batch(&mut self, statements: &str) -> QueryResult<()> {
                    run!($kind, self.batch_execute(statements))
                }

                // At most one row has an id or a name, so that no LIMIT is needed.

                async fn get(&mut self, id: RobotId) -> QueryResult<Option<Robot>> {
                    let row = robots::table.find(id.get()).select(Row::as_select());
                    run!($kind, row.get_result(self)).and_then(robot).optional()
                }

                async fn find(&mut self, name: &str) -> QueryResult<Option<Robot>> {
                    let row = robots::table.filter(robots::name.eq(name));
                    let row = row.select(Row::as_select());
                    run!($kind, row.get_result(self)).and_then(robot).optional()
                }

                async fn page(
                    &mut self,
                    request: PageRequest<'_>,
                    condition: Option<Fragment<'_>>,
                ) -> QueryResult<Vec<Robot>> {
                    load_page!($kind, self, request, condition, Row::as_select(), robot)
                }

                async fn entries(
                    &mut self,
                    request: PageRequest<'_>,
                    condition: Option<Fragment<'_>>,
                ) -> QueryResult<Vec<Entry>> {
                    let columns = (robots::id, robots::name);
                    load_page!($kind, self, request, condition, columns, entry)
                }

                async fn count(
                    &mut self,
                    filter: &Filter,
                    condition: Option<Fragment<'_>>,
                ) -> QueryResult<i64> {
                    let count = robots::table.select(count_star()).into_boxed();
                    let count = restricted!(count, filter, condition);
                    run!($kind, count.get_result(self))
                }

                async fn summary(
                    &mut self,
                    filter: &Filter,
                    condition: Option<Fragment<'_>>,
                ) -> QueryResult<Vec<(String, i64, i64)>> {
                    let groups = robots::table
                        .group_by((robots::robot_type, robots::year))
                        .select((robots::robot_type, robots::year, count_star()))
                        .into_boxed();
                    let groups = restricted!(groups, filter, condition);
                    run!($kind, groups.load(self))
                }

                async fn update(
                    &mut self,
                    id: RobotId,
                    changes: &ValidChanges,
                ) -> QueryResult<usize> {
                    let row = robots::table.find(id.get());
                    let revision = robots::revision.eq(robots::revision + 1);
                    let own = merged_own!(Self, changes);
                    let update =
                        diesel::update(row).set((ChangedColumns::from(changes), own, revision));
                    run!($kind, update.execute(self))
                }

                async fn delete(&mut self, id: RobotId) -> QueryResult<usize> {
                    let delete = diesel::delete(robots::table.find(id.get()));
                    run!($kind, delete.execute(self))
                }

                async fn update_if(
                    &mut self,
                    id: RobotId,
                    revision: Revision,
                    changes: &ValidChanges,
                ) -> QueryResult<usize> {
                    let row = robots::table.find(id.get());
                    let row = row.filter(robots::revision.eq(revision.get()));
                    let next = robots::revision.eq(robots::revision + 1);
                    let own = merged_own!(Self, changes);
                    let update =
                        diesel::update(row).set((ChangedColumns::from(changes), own, next));
                    run!($kind, update.execute(self))
                }

                async fn unindexed(&mut self, limit: i64) -> QueryResult<Vec<(i64, String)>> {
                    let rows = robots::table.filter(robots::search_text.is_null());
                    let rows = rows.select((robots::id, robots::name)).limit(limit);
                    run!($kind, rows.load(self))
                }

                #[cfg(any(feature = "postgres", feature = "mysql"))]
                async fn index(&mut self, id: i64, name: &str) -> QueryResult<()> {
                    let row = robots::table.find(id).filter(robots::name.eq(name));
                    let update = diesel::update(row.filter(robots::search_text.is_null()))
                        .set(robots::search_text.eq($crate::model::fold(name)));
                    run!($kind, update.execute(self)).map(drop)
                }

                async fn delete_if(
                    &mut self,
                    id: RobotId,
                    revision: Revision,
                ) -> QueryResult<usize> {
                    let row = robots::table.find(id.get());
                    let row = row.filter(robots::revision.eq(revision.get()));
                    run!($kind, diesel::delete(row).execute(self))
                }

                async fn exists(&mut self, id: RobotId) -> QueryResult<bool> {
                    let row = robots::table.find(id.get()).select(robots::id);
                    let row = run!($kind, row$(.$lock())?.get_result::<i64>(self));
                    Ok(row.optional()?.is_some())
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

/// Executes a statement.
macro_rules! run {
    (blocking, $statement:expr) => {
        $statement
    };
    (awaited, $statement:expr) => {
        $statement.await
    };
}

/// Assigns the own values after the changes, if these concern any.
macro_rules! merged_own {
    ($dialect:ty, $changes:expr) => {
        $changes.own_patch().map(|patch| {
            let (before, after) = <$dialect>::MERGE;
            let merged = sql::<Nullable<Text>>(before).bind::<Text, _>(patch);
            robots::own.eq(merged.sql(after))
        })
    };
}

/// Loads columns of a page, and converts each row.
macro_rules! load_page {
    ($kind:ident, $connection:expr, $request:expr, $condition:expr, $columns:expr, $convert:expr) => {{
        let PageRequest {
            filter,
            cursor,
            limit,
        } = $request;
        let page = robots::table.select($columns);
        match (after_name($request), $condition) {
            // The most frequent pages, whose statements are found by their types.
            (Some(after), condition) => {
                let page = page
                    .filter(robots::name.gt(after))
                    .order(robots::name.asc());
                match condition {
                    Some(condition) => {
                        let page = page.filter(condition);
                        load_rows!($kind, page, $connection, limit, $convert)
                    }
                    None => load_rows!($kind, page, $connection, limit, $convert),
                }
            }
            (None, condition) => {
                let page = restricted!(page.into_boxed(), filter, condition);
                let page = page.limit(row_limit(limit));
                let page = match cursor.direction() {
                    Direction::Ascending => sorted!(page, cursor, asc, gt, ge),
                    Direction::Descending => sorted!(page, cursor, desc, lt, le),
                };
                load_rows!($kind, page, $connection, limit, $convert)
            }
        }
    }};
}

/// Loads the first rows, and converts each.
macro_rules! load_rows {
    (blocking, $query:expr, $connection:expr, $limit:expr, $convert:expr) => {{
        // A loop, because collecting into a result moves each row several times.
        let mut items = Vec::new();
        let rows = $query.load_iter::<_, diesel::connection::DefaultLoadingMode>($connection)?;
        for row in rows.take($limit) {
            items.push($convert(row?)?);
        }
        Ok(items)
    }};
    (awaited, $query:expr, $connection:expr, $limit:expr, $convert:expr) => {{
        let rows = $query.limit(row_limit($limit)).load($connection).await?;
        rows.into_iter().map($convert).collect()
    }};
}

/// Adds the order and the place of a cursor to a boxed query. `order`, `beyond` and `from` are the methods
/// of a column for the direction of the cursor.
macro_rules! sorted {
    ($query:expr, $cursor:expr, $order:ident, $beyond:ident, $from:ident) => {
        match $cursor.place() {
            CursorPlace::Name(after) => {
                let query = $query.order(robots::name.$order());
                match after {
                    Some(name) => query.filter(robots::name.$beyond(name)),
                    None => query,
                }
            }
            CursorPlace::Year(after) => {
                let query = $query.order((robots::year.$order(), robots::id.$order()));
                match after {
                    Some((year, id)) => query
                        .filter(robots::year.$from(year))
                        .filter(robots::year.$beyond(year).or(robots::id.$beyond(id.get()))),
                    None => query,
                }
            }
            CursorPlace::Id(after) => {
                let query = $query.order(robots::id.$order());
                match after {
                    Some(id) => query.filter(robots::id.$beyond(id.get())),
                    None => query,
                }
            }
        }
    };
}

/// Adds a condition, and those of a filter besides its text, to a boxed query.
macro_rules! restricted {
    ($query:expr, $filter:expr, $condition:expr) => {{
        let mut query = $query;
        if let Some(condition) = $condition {
            query = query.filter(condition);
        }
        if let Some(name) = $filter.get_name() {
            query = query.filter(robots::name.eq(name));
        }
        if !$filter.get_types().is_empty() {
            let types = $filter.get_types().iter().map(String::as_str);
            query = query.filter(robots::robot_type.eq_any(types.collect::<Vec<_>>()));
        }
        if let Some(year) = $filter.get_first_year() {
            query = query.filter(robots::year.ge(year));
        }
        if let Some(year) = $filter.get_last_year() {
            query = query.filter(robots::year.le(year));
        }
        query
    }};
}

pub(super) use {
    impl_statements, import_run_query_dsl, load_page, load_rows, merged_own, restricted, run,
    sorted,
};

/// The text after which the names of a page follow, if it is in ascending order of the names, and has no
/// other condition than a part of them.
pub(super) fn after_name(request: PageRequest<'_>) -> Option<&str> {
    let after = request.cursor.ascending_name()?;
    request.filter.has_only_text().then_some(after)
}

/// The LIMIT of a statement.
pub(super) fn row_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Whether no robot meets a filter, because no name contains NUL, which PostgreSQL does not accept.
pub(super) fn has_nul(filter: &Filter) -> bool {
    let name = filter.get_name().unwrap_or_default();
    filter.get_containing().contains('\0') || name.contains('\0')
}
