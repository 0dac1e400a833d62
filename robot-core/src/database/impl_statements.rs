//! Implementation of [`Statements`](super::statements::Statements), for every backend.

/// Implements [`Statements`](super::statements::Statements) for the connection of a backend. Diesel prepares and caches a statement
/// by its static type, so each backend needs code of its own; as a generic function it would need
/// bounds that are longer than the code.
///
/// `blocking` is for SQLite, whose statements return their results, and which reads each row only when it is
/// requested, so that a page needs no LIMIT. `awaited` is for database servers.
///
/// `for_update` makes [`exists`](super::statements::Statements::exists) a locking read, on a backend whose transactions read a
/// snapshot otherwise.
macro_rules! impl_statements {
    ($connection:ty, $kind:ident $(, $lock:ident)?) => {
        const _: () = {
            use diesel::{
                ExpressionMethods, OptionalExtension, QueryDsl, QueryResult, SelectableHelper,
                dsl::{count_star, sql},
                sql_types::{BigInt, Nullable, Text},
            };
            use $crate::{
                catalogue::{Filter, PageRequest},
                database::{
                    conditions::{Part, expression, order},
                    fragment::{Fragment, Rows},
                    impl_statements::{
                        import_run_query_dsl, load_page, load_rows, changed_own, restricted, run,
                    },
                    schema::{ChangedColumns, Row, YearCount, entry, robot, robots},
                    statements::{Dialect, Statements, after_name, row_limit},
                },
                model::{Definition, Entry, Field, OwnChange, Revision, Robot, RobotId, ValidChanges},
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
                    let row = row.select(Row::as_select()).order(robots::id.asc());
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
                ) -> QueryResult<Vec<YearCount>> {
                    let groups = robots::table
                        .group_by((robots::robot_type, robots::year))
                        .select((robots::robot_type, robots::year, count_star()))
                        .into_boxed();
                    let groups = restricted!(groups, filter, condition);
                    run!($kind, groups.load(self))
                }

                async fn ids(
                    &mut self,
                    condition: Fragment<'_>,
                    limit: i64,
                ) -> QueryResult<Vec<i64>> {
                    let ids = robots::table.select(robots::id).filter(condition);
                    let ids = ids.order(robots::id.asc()).limit(limit);
                    run!($kind, ids.load(self))
                }

                async fn value_counts(
                    &mut self,
                    filter: &Filter,
                    condition: Option<Fragment<'_>>,
                    field: Field,
                ) -> QueryResult<Vec<(Option<String>, i64)>> {
                    let value = Self::as_text(&expression::<Self>(field));
                    let counts = robots::table
                        .group_by(sql::<Nullable<Text>>(&value))
                        .select((sql::<Nullable<Text>>(&value), count_star()))
                        .into_boxed();
                    let counts = restricted!(counts, filter, condition);
                    run!($kind, counts.load(self))
                }

                async fn execute(&mut self, statement: Fragment<'_>) -> QueryResult<usize> {
                    run!($kind, Rows::<()>::of(statement).execute(self))
                }

                async fn texts(&mut self, query: &str) -> QueryResult<Vec<String>> {
                    run!($kind, sql::<Text>(query).load(self))
                }

                async fn other_definition(
                    &mut self,
                    revision: i64,
                ) -> QueryResult<Option<(i64, String)>> {
                    let query =
                        "SELECT revision, document FROM robots_definition WHERE id = 1 AND revision <> ";
                    let query = Fragment::new(query).number(revision);
                    let query = Rows::<(BigInt, Text)>::of(query);
                    run!($kind, query.get_result(self)).optional()
                }

                async fn update(
                    &mut self,
                    definition: &Definition,
                    id: RobotId,
                    changes: &ValidChanges,
                ) -> QueryResult<usize> {
                    let row = robots::table.find(id.get());
                    let revision = robots::revision.eq(robots::revision + 1);
                    let columns = ChangedColumns::new(definition, changes);
                    let own = changed_own!(Self, definition, changes);
                    let update = diesel::update(row).set((columns, own, revision));
                    run!($kind, update.execute(self))
                }

                async fn delete(&mut self, id: RobotId) -> QueryResult<usize> {
                    let delete = diesel::delete(robots::table.find(id.get()));
                    run!($kind, delete.execute(self))
                }

                async fn update_if(
                    &mut self,
                    definition: &Definition,
                    id: RobotId,
                    revision: Revision,
                    changes: &ValidChanges,
                ) -> QueryResult<usize> {
                    let row = robots::table.find(id.get());
                    let row = row.filter(robots::revision.eq(revision.get()));
                    let next = robots::revision.eq(robots::revision + 1);
                    let columns = ChangedColumns::new(definition, changes);
                    let own = changed_own!(Self, definition, changes);
                    let update = diesel::update(row).set((columns, own, next));
                    run!($kind, update.execute(self))
                }

                async fn unindexed(&mut self, limit: i64) -> QueryResult<Vec<Robot>> {
                    let rows = robots::table.filter(robots::search_text.is_null());
                    let rows = rows.select(Row::as_select()).limit(limit);
                    let rows = run!($kind, rows.load(self))?;
                    rows.into_iter().map(robot).collect()
                }

                #[cfg(any(feature = "postgres", feature = "mysql"))]
                async fn index(
                    &mut self,
                    definition: &Definition,
                    robot: &Robot,
                ) -> QueryResult<()> {
                    let row = robots::table.find(robot.id().get());
                    let row = row.filter(robots::revision.eq(robot.revision().get()));
                    let texts = $crate::database::schema::SearchTexts::of_robot(definition, robot);
                    let update = diesel::update(row.filter(robots::search_text.is_null())).set((
                        robots::search_text.eq(texts.name),
                        robots::own_text.eq(texts.own),
                    ));
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
macro_rules! changed_own {
    ($dialect:ty, $definition:expr, $changes:expr) => {{
        let assigned = |before: &str, json: String, after: &str| {
            let json = sql::<Nullable<Text>>(before).bind::<Text, _>(json);
            robots::own.eq(json.sql(after))
        };
        match $changes.own($definition) {
            OwnChange::None => None,
            OwnChange::Set(None) => Some(assigned("nullif('', ", String::new(), ")")),
            OwnChange::Set(Some(json)) => Some(assigned("", json, "")),
            OwnChange::Merge(patch, removed) => {
                let (before, after) = <$dialect>::merge(&removed);
                Some(assigned(&before, patch, after))
            }
        }
    }};
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
                let columns = $columns;
                let mut found = Vec::new();
                let mut condition = condition;
                let parts = Part::after(cursor, filter);
                for part in parts {
                    let condition = if part == parts.last().unwrap_or(part) {
                        condition.take()
                    } else {
                        condition.clone()
                    };
                    let page = robots::table.select(columns).into_boxed();
                    let page = restricted!(page, filter, condition);
                    let page = match part.condition::<Self>(cursor) {
                        Some(condition) => page.filter(condition),
                        None => page,
                    };
                    let rest = limit - found.len();
                    let order = order::<Self>(cursor.sort(), *part, "");
                    let page = page.order(sql::<Text>(&order)).limit(row_limit(rest));
                    let rows: QueryResult<Vec<_>> =
                        load_rows!($kind, page, $connection, rest, $convert);
                    found.extend(rows?);
                    if found.len() == limit {
                        break;
                    }
                }
                Ok(found)
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

/// Adds a condition, and those of a filter for fields, to a boxed query.
macro_rules! restricted {
    ($query:expr, $filter:expr, $condition:expr) => {{
        let of_fields = $crate::database::conditions::conditions::<Self>($filter, "");
        let conditions = of_fields.into_iter().chain($condition);
        match conditions.reduce(Fragment::and) {
            Some(conditions) => $query.filter(conditions),
            None => $query,
        }
    }};
}

pub(super) use {
    changed_own, impl_statements, import_run_query_dsl, load_page, load_rows, restricted, run,
};
