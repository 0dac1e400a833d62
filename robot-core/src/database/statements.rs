//! Statements about robots. [`Statements`] are the same for every backend; [`Dialect`] is what a
//! backend implements itself.
//!
//! Statements are futures. Those of a database server wait for its answers. Those of SQLite never wait:
//! [`now`] returns their results.

use std::future::Future;

use diesel::{QueryResult, result::Error as DieselError};

use super::{
    conditions::conditions,
    define::Index,
    errors::{is_taken, taken},
    fragment::Fragment,
    schema::{YearCount, assigned},
};
use crate::{
    catalogue::{Change, Error, Filter, PageRequest, Result},
    model::{
        Definition, Entry, Field, Revision, Robot, RobotId, ValidChanges, ValidDraft, Value,
        Violation, Violations,
    },
};

/// The result of a statement that never waits.
#[cfg(feature = "sqlite")]
pub(super) fn now<T>(statement: impl Future<Output = T>) -> T {
    pollster::block_on(statement)
}

/// The statements that differ between backends.
pub(super) trait Dialect: Send + Sized {
    /// The SQL before and after a JSON merge patch, which applies it to the own values. Without any, they are
    /// NULL.
    const MERGE: (&str, &str);

    /// As [`MERGE`](Self::MERGE), for a patch that removes these values.
    fn merge(removed: &[&str]) -> (String, &'static str) {
        let _ = removed;
        let (before, after) = Self::MERGE;
        (before.to_owned(), after)
    }

    /// The SQL of a value as a text.
    fn as_text(sql: &str) -> String {
        format!("CAST({sql} AS TEXT)")
    }

    /// The condition that a field, whose SQL this is, has a value.
    fn has_value(sql: &str, field: Field) -> String {
        let _ = field;
        format!("{sql} IS NOT NULL")
    }

    /// `false` and `true` in the SQL of [`own_value`](Self::own_value).
    const BOOLEANS: [&str; 2];

    /// The SQL of the value of an own field. It is NULL for a value that is not of the field's kind.
    fn own_value(field: Field) -> String;

    /// The SQL of the value of an own field, which does not need the index of the field.
    fn stored_value(field: Field) -> String {
        Self::own_value(field)
    }

    /// A query for the names of the indexes of names and own fields.
    const INDEXES: &str;

    /// A query for the names of columns of indexes that do not exist any more, if indexes have columns.
    const ORPHANS: Option<&str> = None;

    fn create_index(index: &Index) -> String;

    fn drop_index(name: &str) -> String;

    /// Inserts a robot, and returns its id.
    fn insert(
        &mut self,
        definition: &Definition,
        draft: &ValidDraft,
    ) -> impl Future<Output = QueryResult<i64>> + Send;

    /// The condition that a name contains a text.
    fn name_contains(text: &str) -> Fragment<'_> {
        Fragment::new("instr(robots.name, ").text(text).sql(") > 0")
    }

    /// The condition that a search text contains a folded text.
    fn search_text_contains(folded: &str) -> Fragment<'_> {
        Fragment::new("instr(robots.search_text, ")
            .text(folded)
            .sql(") > 0")
    }

    /// The condition that the folded texts of own fields contain a folded text.
    fn own_text_contains(folded: &str) -> Fragment<'_> {
        let contains = Fragment::new("instr(coalesce(robots.own_text, ''), ");
        contains.text(folded).sql(") > 0")
    }

    /// Inserts robots with their ids, by one statement.
    fn insert_robots(
        &mut self,
        definition: &Definition,
        robots: &[Robot],
    ) -> impl Future<Output = QueryResult<()>> + Send;

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
    ) -> impl Future<Output = QueryResult<Vec<YearCount>>> + Send;

    /// The ids of robots that meet a condition, in the order of the ids: so many at most.
    fn ids(
        &mut self,
        condition: Fragment<'_>,
        limit: i64,
    ) -> impl Future<Output = QueryResult<Vec<i64>>> + Send;

    /// The values of a field, as texts, and the numbers of robots that have them.
    fn value_counts(
        &mut self,
        filter: &Filter,
        condition: Option<Fragment<'_>>,
        field: Field,
    ) -> impl Future<Output = QueryResult<Vec<(Option<String>, i64)>>> + Send;

    /// Executes a statement.
    fn execute(
        &mut self,
        statement: Fragment<'_>,
    ) -> impl Future<Output = QueryResult<usize>> + Send;

    /// The texts that a query returns.
    fn texts(&mut self, query: &str) -> impl Future<Output = QueryResult<Vec<String>>> + Send;

    /// The revision and the document of the definition, unless it has this revision.
    fn other_definition(
        &mut self,
        revision: i64,
    ) -> impl Future<Output = QueryResult<Option<(i64, String)>>> + Send;

    /// Changes a robot and its revision, and returns how many there are with this id: 0 or 1.
    fn update(
        &mut self,
        definition: &Definition,
        id: RobotId,
        changes: &ValidChanges,
    ) -> impl Future<Output = QueryResult<usize>> + Send;

    /// As [`update`](Self::update), of a robot with this revision.
    fn update_if(
        &mut self,
        definition: &Definition,
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

    /// The robots without a search text, of which the search index has none: so many at most.
    fn unindexed(&mut self, limit: i64) -> impl Future<Output = QueryResult<Vec<Robot>>> + Send;

    /// Adds a robot without a search text to the search index, unless it was changed.
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    fn index(
        &mut self,
        definition: &Definition,
        robot: &Robot,
    ) -> impl Future<Output = QueryResult<()>> + Send;

    /// Executes a change. The inner result is the id of the robot that was added, changed or
    /// deleted. After the error of a unique value, [`rejection`](Self::rejection) finds all such values.
    fn apply(
        &mut self,
        definition: &Definition,
        change: &Change,
    ) -> impl Future<Output = QueryResult<Result<RobotId>>> + Send {
        async move {
            let (id, rows) = match change {
                Change::Insert(draft) => return self.insert(definition, draft).await.map(assigned),
                Change::Update(id, changes) => (*id, self.update(definition, *id, changes).await?),
                Change::UpdateIf(id, revision, changes) => {
                    let updated = self.update_if(definition, *id, *revision, changes);
                    (*id, updated.await?)
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

    /// As [`apply`](Self::apply), with all values that other robots have.
    fn apply_alone(
        &mut self,
        definition: &Definition,
        change: &Change,
    ) -> impl Future<Output = QueryResult<Result<RobotId>>> + Send {
        async move {
            match self.apply(definition, change).await {
                Err(error) if is_taken(&error) => self.rejection(definition, change, error).await,
                result => result,
            }
        }
    }

    /// The rejection of a change by the error of a unique value: because of all values that other robots have.
    fn rejection(
        &mut self,
        definition: &Definition,
        change: &Change,
        error: DieselError,
    ) -> impl Future<Output = QueryResult<Result<RobotId>>> + Send {
        async move {
            let violation = taken(&error).filter(|one| *one != Violation::ID_TAKEN);
            let violation = violation.ok_or(error)?;
            if definition.has_only_unique_names() {
                return Ok(Err(violation.into()));
            }
            let values = definition.unique().filter_map(|field| {
                let value = change.value(field)?.into_owned();
                Some((field, value))
            });
            let taken = self.taken(values.collect(), change.id()).await?;
            Ok(Err(match taken[..] {
                [] => violation.into(),
                _ => Violations::taken(&taken).into(),
            }))
        }
    }

    /// The fields of which other robots than the one with this id have the value.
    fn taken(
        &mut self,
        values: Vec<(Field, Value<'static>)>,
        id: Option<RobotId>,
    ) -> impl Future<Output = QueryResult<Vec<Field>>> + Send {
        async move {
            let mut taken = Vec::new();
            for (field, value) in values {
                let filter = Filter::all().with(field, value);
                if let Some(condition) = conditions::<Self>(&filter, "") {
                    let holders = self.ids(condition, 2).await?;
                    if holders.into_iter().any(|holder| RobotId::new(holder) != id) {
                        taken.push(field);
                    }
                }
            }
            Ok(taken)
        }
    }
}

/// The text after which the names of a page follow, if it is in ascending order of the names, and has no
/// other condition than a part of them.
pub(super) fn after_name(request: PageRequest<'_>) -> Option<&str> {
    let (after, _) = request.cursor.ascending_name()?;
    let is_unique = request.cursor.sort().field.is_unique();
    (is_unique && request.filter.has_only_text()).then_some(after)
}

/// The LIMIT of a statement.
pub(super) fn row_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Whether no robot meets a filter, because no name contains NUL, which PostgreSQL does not accept.
pub(super) fn has_nul(filter: &Filter) -> bool {
    let mut words = filter.words().iter();
    filter.get_containing().contains('\0') || words.any(|word| word.contains('\0'))
}
