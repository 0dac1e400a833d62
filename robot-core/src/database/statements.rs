//! Statements about robots. [`Statements`] are the same for every backend; [`Dialect`] is what a
//! backend implements itself.

use diesel::{BoxableExpression, Connection, QueryResult, sql_types::Bool};

use super::schema::{assigned, robots};
use crate::{
    catalogue::{Change, Error, Filter, PageRequest, Result},
    model::{Entry, Revision, Robot, RobotId, ValidChanges, ValidDraft},
};

/// A condition that robots meet.
pub(super) type Condition<'a, B> =
    Box<dyn BoxableExpression<robots::table, B, SqlType = Bool> + 'a>;

/// [`Statements::page`] or [`Statements::entries`].
pub(super) type PageQuery<C, T> = for<'a> fn(
    &mut C,
    PageRequest<'a>,
    Option<Condition<'a, <C as Connection>::Backend>>,
) -> QueryResult<Vec<T>>;

/// [`Statements::count`] or [`Statements::summary`].
pub(super) type CountQuery<C, T> = for<'a> fn(
    &mut C,
    &'a Filter,
    Option<Condition<'a, <C as Connection>::Backend>>,
) -> QueryResult<T>;

/// The statements that differ between backends.
pub(super) trait Dialect: Connection {
    /// The SQL before and after a JSON merge patch, which applies it to the own values. Without any, they are
    /// NULL.
    const MERGE: (&str, &str);

    /// Inserts a robot, and returns its id.
    fn insert(&mut self, draft: &ValidDraft) -> QueryResult<i64>;

    /// The condition that a name contains a text.
    fn name_contains(text: &str) -> Condition<'_, Self::Backend>;

    /// The condition that a search text contains a folded text, or that the id is one of these.
    fn search_text_contains<'a>(folded: &'a str, ids: &[i64]) -> Condition<'a, Self::Backend>;

    /// Inserts robots with their ids, by one statement.
    fn insert_robots(&mut self, robots: &[Robot]) -> QueryResult<()>;

    /// The greatest id that was assigned, as far as the database knows; 0 if none was.
    fn last_id(&mut self) -> QueryResult<i64>;

    /// Makes new ids greater than this id, which is greater than the last one.
    fn raise_last_id(&mut self, id: i64) -> QueryResult<()>;

    /// Keeps other transactions from assigning ids until this one ends, if
    /// [`raise_last_id`](Self::raise_last_id) needs that.
    fn lock_ids(&mut self) -> QueryResult<()> {
        Ok(())
    }
}

/// The statements that are the same for every backend.
pub(super) trait Statements: Dialect {
    /// The robot with this id.
    fn get(&mut self, id: RobotId) -> QueryResult<Option<Robot>>;

    /// The robot with this name.
    fn find(&mut self, name: &str) -> QueryResult<Option<Robot>>;

    /// A page of the robots that meet the request's filter. The text of the filter is ignored: `condition`,
    /// if there is one, replaces it.
    fn page<'a>(
        &mut self,
        request: PageRequest<'a>,
        condition: Option<Condition<'a, Self::Backend>>,
    ) -> QueryResult<Vec<Robot>>;

    /// As [`page`](Self::page), entries only: without a condition, read from the index of the names
    /// alone.
    fn entries<'a>(
        &mut self,
        request: PageRequest<'a>,
        condition: Option<Condition<'a, Self::Backend>>,
    ) -> QueryResult<Vec<Entry>>;

    /// The number of the robots that [`page`](Self::page) reads without a limit.
    fn count<'a>(
        &mut self,
        filter: &'a Filter,
        condition: Option<Condition<'a, Self::Backend>>,
    ) -> QueryResult<i64>;

    /// The numbers of these robots by type and year.
    fn summary<'a>(
        &mut self,
        filter: &'a Filter,
        condition: Option<Condition<'a, Self::Backend>>,
    ) -> QueryResult<Vec<(String, i64, i64)>>;

    /// Changes a robot and its revision, and returns how many there are with this id: 0 or 1.
    fn update(&mut self, id: RobotId, changes: &ValidChanges) -> QueryResult<usize>;

    /// As [`update`](Self::update), of a robot with this revision.
    fn update_if(
        &mut self,
        id: RobotId,
        revision: Revision,
        changes: &ValidChanges,
    ) -> QueryResult<usize>;

    /// Deletes a robot, and returns how many there were with this id: 0 or 1.
    fn delete(&mut self, id: RobotId) -> QueryResult<usize>;

    /// As [`delete`](Self::delete), of a robot with this revision.
    fn delete_if(&mut self, id: RobotId, revision: Revision) -> QueryResult<usize>;

    /// Whether a robot with this id exists now, also if another transaction has changed that since
    /// this one began.
    fn exists(&mut self, id: RobotId) -> QueryResult<bool>;

    /// The ids and names of robots without a search text, of which the search index has none: so many at most.
    fn unindexed(&mut self, limit: i64) -> QueryResult<Vec<(i64, String)>>;

    /// Adds a robot without a search text to the search index, unless it has another name now.
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    fn index(&mut self, id: i64, name: &str) -> QueryResult<()>;

    /// Executes a change. The inner result is the id of the robot that was added, changed or
    /// deleted.
    fn apply(&mut self, change: &Change) -> QueryResult<Result<RobotId>> {
        let (id, rows) = match change {
            Change::Insert(draft) => {
                return self.insert(draft).map(assigned);
            }
            Change::Update(id, changes) => (*id, self.update(*id, changes)?),
            Change::UpdateIf(id, revision, changes) => {
                (*id, self.update_if(*id, *revision, changes)?)
            }
            Change::Delete(id) => (*id, self.delete(*id)?),
            Change::DeleteIf(id, revision) => (*id, self.delete_if(*id, *revision)?),
        };
        if rows > 0 {
            return Ok(Ok(id));
        }
        // The statement has decided. This look only finds out why it changed nothing.
        let is_stale = match change {
            Change::UpdateIf(..) | Change::DeleteIf(..) => self.exists(id)?,
            _ => false,
        };
        Ok(Err(if is_stale {
            Error::Stale(id)
        } else {
            Error::NotFound(id)
        }))
    }
}

/// Implements [`Statements`] for the connection of a backend. Diesel prepares and caches a statement
/// by its static type, so each backend needs code of its own; as a generic function it would need
/// bounds that are longer than the code.
///
/// `limit` adds a LIMIT to the query of a page. A backend that reads each row only when it is requested
/// needs none.
///
/// `for_update` makes [`Statements::exists`] a locking read, on a backend whose transactions read a
/// snapshot otherwise.
macro_rules! impl_statements {
    ($connection:ty $(, $limit:ident)? $(; $lock:ident)?) => {
        const _: () = {
            use diesel::{
                QueryResult,
                connection::DefaultLoadingMode,
                dsl::{count_star, sql},
                prelude::*,
                sql_types::{Nullable, Text},
            };
            use $crate::{
                catalogue::{Direction, Filter, PageRequest, CursorPlace},
                database::{
                    schema::{ChangedColumns, Row, entry, robot, robots},
                    statements::{
                        Condition, Dialect, Statements, after_name, collect, load_page,
                        merged_own, restricted, row_limit, sorted,
                    },
                },
                model::{Entry, Revision, Robot, RobotId, ValidChanges},
            };

            impl Statements for $connection {
                // At most one row has an id or a name, so that no LIMIT is needed.

                fn get(&mut self, id: RobotId) -> QueryResult<Option<Robot>> {
                    let row = robots::table.find(id.get()).select(Row::as_select());
                    row.get_result(self).and_then(robot).optional()
                }

                fn find(&mut self, name: &str) -> QueryResult<Option<Robot>> {
                    let row = robots::table.filter(robots::name.eq(name));
                    let row = row.select(Row::as_select());
                    row.get_result(self).and_then(robot).optional()
                }

                fn page<'a>(
                    &mut self,
                    request: PageRequest<'a>,
                    condition: Option<Condition<'a, Self::Backend>>,
                ) -> QueryResult<Vec<Robot>> {
                    load_page!(self, request, condition, Row::as_select(), robot $(, $limit)?)
                }

                fn entries<'a>(
                    &mut self,
                    request: PageRequest<'a>,
                    condition: Option<Condition<'a, Self::Backend>>,
                ) -> QueryResult<Vec<Entry>> {
                    let columns = (robots::id, robots::name);
                    load_page!(self, request, condition, columns, entry $(, $limit)?)
                }

                fn count<'a>(
                    &mut self,
                    filter: &'a Filter,
                    condition: Option<Condition<'a, Self::Backend>>,
                ) -> QueryResult<i64> {
                    let count = robots::table.select(count_star()).into_boxed();
                    restricted!(count, filter, condition).get_result(self)
                }

                fn summary<'a>(
                    &mut self,
                    filter: &'a Filter,
                    condition: Option<Condition<'a, Self::Backend>>,
                ) -> QueryResult<Vec<(String, i64, i64)>> {
                    let groups = robots::table
                        .group_by((robots::robot_type, robots::year))
                        .select((robots::robot_type, robots::year, count_star()))
                        .into_boxed();
                    restricted!(groups, filter, condition).load(self)
                }

                fn update(&mut self, id: RobotId, changes: &ValidChanges) -> QueryResult<usize> {
                    let row = robots::table.find(id.get());
                    let revision = robots::revision.eq(robots::revision + 1);
                    let own = merged_own!(Self, changes);
                    diesel::update(row)
                        .set((ChangedColumns::from(changes), own, revision))
                        .execute(self)
                }

                fn delete(&mut self, id: RobotId) -> QueryResult<usize> {
                    diesel::delete(robots::table.find(id.get())).execute(self)
                }

                fn update_if(
                    &mut self,
                    id: RobotId,
                    revision: Revision,
                    changes: &ValidChanges,
                ) -> QueryResult<usize> {
                    let row = robots::table.find(id.get());
                    let next = robots::revision.eq(robots::revision + 1);
                    let own = merged_own!(Self, changes);
                    diesel::update(row.filter(robots::revision.eq(revision.get())))
                        .set((ChangedColumns::from(changes), own, next))
                        .execute(self)
                }

                fn unindexed(&mut self, limit: i64) -> QueryResult<Vec<(i64, String)>> {
                    let rows = robots::table.filter(robots::search_text.is_null());
                    let rows = rows.select((robots::id, robots::name));
                    rows.limit(limit).load(self)
                }

                #[cfg(any(feature = "postgres", feature = "mysql"))]
                fn index(&mut self, id: i64, name: &str) -> QueryResult<()> {
                    let row = robots::table.find(id).filter(robots::name.eq(name));
                    diesel::update(row.filter(robots::search_text.is_null()))
                        .set(robots::search_text.eq($crate::model::fold(name)))
                        .execute(self)
                        .map(drop)
                }

                fn delete_if(&mut self, id: RobotId, revision: Revision) -> QueryResult<usize> {
                    let row = robots::table.find(id.get());
                    let row = row.filter(robots::revision.eq(revision.get()));
                    diesel::delete(row).execute(self)
                }

                fn exists(&mut self, id: RobotId) -> QueryResult<bool> {
                    let row = robots::table.find(id.get()).select(robots::id);
                    let row = row$(.$lock())?.get_result::<i64>(self);
                    Ok(row.optional()?.is_some())
                }
            }
        };
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
    ($connection:expr, $request:expr, $condition:expr, $columns:expr, $convert:expr $(, $limit:ident)?) => {{
        let PageRequest { filter, cursor, limit } = $request;
        let page = robots::table.select($columns);
        match (after_name($request), $condition) {
            // The most frequent pages, whose statements are found by their types.
            (Some(after), condition) => {
                let page = page
                    .filter(robots::name.gt(after))
                    .order(robots::name.asc())
                    $(.$limit(row_limit(limit)))?;
                if let Some(condition) = condition {
                    let page = page.filter(condition);
                    let rows = page.load_iter::<_, DefaultLoadingMode>($connection)?;
                    collect(rows, limit, $convert)
                } else {
                    let rows = page.load_iter::<_, DefaultLoadingMode>($connection)?;
                    collect(rows, limit, $convert)
                }
            }
            (None, condition) => {
                let page = restricted!(page.into_boxed(), filter, condition);
                let page = page.limit(row_limit(limit));
                let page = match cursor.direction() {
                    Direction::Ascending => sorted!(page, cursor, asc, gt, ge),
                    Direction::Descending => sorted!(page, cursor, desc, lt, le),
                };
                let rows = page.load_iter::<_, DefaultLoadingMode>($connection)?;
                collect(rows, limit, $convert)
            }
        }
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

pub(super) use {impl_statements, load_page, merged_own, restricted, sorted};

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

/// The first values of rows, each converted before the next row is read. A loop, because collecting into
/// a result moves each row several times.
pub(super) fn collect<R, T>(
    rows: impl Iterator<Item = QueryResult<R>>,
    limit: usize,
    convert: impl Fn(R) -> QueryResult<T>,
) -> QueryResult<Vec<T>> {
    let mut items = Vec::new();
    for row in rows.take(limit) {
        items.push(convert(row?)?);
    }
    Ok(items)
}

/// Whether no robot meets a filter, because no name contains NUL, which PostgreSQL does not accept.
pub(super) fn has_nul(filter: &Filter) -> bool {
    let name = filter.get_name().unwrap_or_default();
    filter.get_containing().contains('\0') || name.contains('\0')
}
