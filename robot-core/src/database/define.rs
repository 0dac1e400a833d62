//! The definition of a catalogue in a database: its document, and the indexes of fields.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    sync::{Arc, PoisonError, RwLock},
};

use diesel::QueryResult;

use super::{
    conditions::expression,
    dialect::Dialect,
    errors::{taken, wrap},
    fragment::{Fragment, json},
    index::Index,
    rewrite::{self, has_value},
    statements::{counts, ids, other_definition},
};
use crate::{
    catalogue::{DefinitionConflict, Error, Filter, Redefinition},
    model::{Definition, Field, INDEXED_LENGTH, Revision, RobotId},
};

/// The number of steps of rewriting within a change of the definition. Fewer, and smaller catalogues need steps after it;
/// more, and writers wait longer for the change.
const STEPS: usize = 4;

/// The definition as this process knows it.
#[derive(Debug)]
pub(super) struct KnownDefinition(RwLock<Arc<Definition>>);

impl Default for KnownDefinition {
    fn default() -> Self {
        Self(RwLock::new(Arc::clone(Definition::built_in())))
    }
}

impl KnownDefinition {
    pub(super) fn get(&self) -> Arc<Definition> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&known)
    }

    pub(super) fn set(&self, definition: Arc<Definition>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = definition;
    }

    /// Reads the definition of the database, if another process may have changed it: also an earlier one, of a
    /// database that was restored. A definition that was set meanwhile is newer than what was read.
    pub(super) async fn refresh<C: Dialect>(&self, connection: &mut C) -> QueryResult<()> {
        let before = self.get();
        let read = other_definition(connection, before.revision().get()).await?;
        if let Some((revision, document)) = read {
            let definition = parse(revision, &document)?;
            let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
            if Arc::ptr_eq(&before, &known) {
                *known = Arc::new(definition);
            }
        }
        Ok(())
    }
}

/// Reads the definition of the database.
pub(super) async fn read<C: Dialect>(connection: &mut C) -> QueryResult<Definition> {
    match other_definition(connection, 0).await? {
        Some((revision, document)) => parse(revision, &document),
        None => Err(wrap(Error::store(
            "the definition of the catalogue is missing",
        ))),
    }
}

fn parse(revision: i64, document: &str) -> QueryResult<Definition> {
    let definition: Definition = document.parse().map_err(|error| {
        let message = format!("the definition of the catalogue cannot be used: {error}");
        wrap(Error::store(message))
    })?;
    let revision = Revision::new(revision).unwrap_or(Revision::FIRST);
    Ok(definition.with_revision(revision))
}

/// The indexes of a definition.
fn indexes(definition: &Definition) -> impl Iterator<Item = Index<'_>> {
    let own = definition.own().filter(|field| field.is_indexed());
    let name = definition.field(Field::NAME.name());
    name.into_iter().chain(own).map(Index::of)
}

/// Reads the present definition, and checks that it is the expected one.
pub(super) async fn expected<C: Dialect>(
    connection: &mut C,
    redefinition: &Redefinition,
) -> QueryResult<Definition> {
    let present = read(connection).await?;
    let expected = redefinition.check_revision(present.revision());
    expected.map_err(wrap)?;
    Ok(present)
}

/// Checks that no robot excludes a definition, except by equal values, which its indexes find, and by values that cannot
/// be converted, which [`store`] finds.
pub(super) async fn check<C: Dialect>(
    connection: &mut C,
    redefinition: &Redefinition,
    present: &Definition,
) -> QueryResult<()> {
    for (field, conflict) in redefinition.conflicts(present) {
        use DefinitionConflict::{HaveDuplicates, HaveOtherKinds};
        if !matches!(conflict, HaveDuplicates | HaveOtherKinds) {
            check_conflict(connection, present, field, conflict).await?;
        }
    }
    Ok(())
}

/// Fails if robots exclude a definition by the values of a field.
pub(super) async fn check_conflict<C: Dialect>(
    connection: &mut C,
    present: &Definition,
    field: &Field,
    conflict: DefinitionConflict,
) -> QueryResult<()> {
    let condition = match conflict {
        DefinitionConflict::HaveOtherKinds => {
            return rewrite::convert(connection, None, &[field], false).await;
        }
        DefinitionConflict::HaveValues => has_value::<C>(field.name()),
        DefinitionConflict::HaveLongTexts => {
            // The new one would be cut off at this length.
            let before = present.field(field.name()).unwrap_or(field);
            let (length, sql) = (C::LENGTH, value::<C>(before));
            let is_long = format!("{length}(robots.own) > {INDEXED_LENGTH}");
            Fragment::new(format!("{is_long} AND {length}({sql}) > {INDEXED_LENGTH}"))
        }
        DefinitionConflict::HaveDuplicates => {
            let sql = value::<C>(field);
            // MariaDB would run a subquery that is no derived table once for each robot.
            Fragment::new(format!(
                "{sql} IN (SELECT value FROM (SELECT {sql} AS value FROM robots \
                 WHERE {sql} IS NOT NULL GROUP BY {sql} HAVING count(*) > 1) AS several)"
            ))
        }
    };
    let excluding = Some(condition.clone());
    let counts = counts(connection, &Filter::all(), excluding, &[], None).await?;
    let robots = counts.iter().map(|count| count.count).sum();
    if robots == 0 {
        return Ok(());
    }
    let ids = ids(connection, condition, Error::EXCLUDING).await?;
    let ids = ids.into_iter().filter_map(RobotId::new);
    let some = ids.map(|id| (id, String::new()));
    Err(wrap(Error::excluded(field, conflict, robots, some)))
}

/// Changes the definition in the transaction of the caller, on a database whose changes of tables are part of it.
#[cfg(feature = "sqlite")]
pub(super) async fn define<C: Dialect>(
    connection: &mut C,
    redefinition: &Redefinition,
) -> QueryResult<Definition> {
    let present = expected(connection, redefinition).await?;
    check(connection, redefinition, &present).await?;
    let definition = store(connection, redefinition, &present).await?;
    create_indexes(connection, &definition, |_| true).await?;
    drop_indexes(connection, &definition).await?;
    Ok(definition)
}

/// Stores a definition, if the present one is still the same. The caller commits the transaction.
pub(super) async fn store<C: Dialect>(
    connection: &mut C,
    redefinition: &Redefinition,
    present: &Definition,
) -> QueryResult<Definition> {
    let (definition, revision) = (redefinition.definition.clone(), present.revision());
    rewrite::begin(connection, redefinition, present).await?;
    let update = Fragment::new("UPDATE robots_definition SET revision = ");
    let update = update.number(revision.next().get()).sql(C::IN_TRANSACTION);
    let update = update.sql(", document = ");
    let update = update.text(json(&definition)?).sql(" WHERE revision = ");
    let update = update.number(revision.get());
    if connection.change(update).await? == 0 {
        return Err(wrap(Error::DefinitionStale));
    }
    let definition = definition.with_revision(revision.next());
    let converted: Vec<_> = redefinition.converted(present).collect();
    let drops_values = redefinition.drops_values;
    let by = redefinition.by.as_deref();
    rewrite::convert(
        connection,
        Some((&definition, by)),
        &converted,
        drops_values,
    )
    .await?;
    for field in converted.into_iter().filter(|field| field.is_unique()) {
        let conflict = DefinitionConflict::HaveDuplicates;
        check_conflict(connection, &definition, field, conflict).await?;
    }
    // In a small catalogue, nothing is left to do.
    for _ in 0..STEPS {
        rewrite::step(connection, &definition).await?;
    }
    Ok(definition)
}

/// The SQL of a field's value, without an index that may not exist yet.
fn value<C: Dialect>(field: &Field) -> Cow<'static, str> {
    if field.is_own() {
        C::stored_value(field).into()
    } else {
        expression::<C>(field)
    }
}

/// Creates the indexes of some fields of a definition that do not exist. Fails if robots have equal values of a unique
/// field.
pub(super) async fn create_indexes<C: Dialect>(
    connection: &mut C,
    definition: &Definition,
    is_created: impl Fn(&Field) -> bool,
) -> QueryResult<()> {
    connection.drop_orphans().await?;
    let existing = connection.texts(C::INDEXES).await?;
    let missing = indexes(definition)
        .filter(|index| is_created(index.field) && !existing.contains(&index.name));
    let missing: Vec<_> = missing.collect();
    let created = connection.create_indexes(&missing).await;
    let taken = created.as_ref().err().and_then(taken);
    if let Some(field) = taken.and_then(|violation| definition.field(violation.field())) {
        let conflict = DefinitionConflict::HaveDuplicates;
        check_conflict(connection, definition, field, conflict).await?;
    }
    created
}

/// Whether the indexes of the database are those of a definition.
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(super) async fn has_its_indexes<C: Dialect>(
    connection: &mut C,
    definition: &Definition,
) -> QueryResult<bool> {
    let existing: BTreeSet<_> = connection.texts(C::INDEXES).await?.into_iter().collect();
    Ok(existing == indexes(definition).map(|index| index.name).collect())
}

/// Drops the indexes that a definition does not have.
pub(super) async fn drop_indexes<C: Dialect>(
    connection: &mut C,
    definition: &Definition,
) -> QueryResult<()> {
    let wanted: Vec<_> = indexes(definition).map(|index| index.name).collect();
    for name in connection.texts(C::INDEXES).await? {
        if !wanted.contains(&name) {
            connection.batch(&C::drop_index(&name)).await?;
        }
    }
    Ok(())
}
