//! The definition of a catalogue in a database: its document, and the indexes of fields.

use std::{
    borrow::Cow,
    sync::{Arc, PoisonError, RwLock},
};

use diesel::QueryResult;

use super::{
    conditions::expression,
    dialect::Dialect,
    errors::{INDEX, UNIQUE, wrap},
    fragment::{Fragment, json},
    schema::total,
    statements::{Grouping, count, ids, other_definition},
};
use crate::{
    catalogue::{DefinitionConflict, Error, Filter, Redefinition},
    model::{Definition, Field, INDEXED_LENGTH, Kind, Revision, RobotId},
};

/// The number of ids that the error of a definition names.
const IDS: i64 = 5;

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
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if definition.revision() >= known.revision() {
            *known = definition;
        }
    }

    /// Reads the definition of the database, if another process may have changed it.
    pub(super) async fn refresh<C: Dialect>(&self, connection: &mut C) -> QueryResult<()> {
        let known = self.get().revision();
        if let Some((revision, document)) = other_definition(connection, known.get()).await? {
            self.set(Arc::new(parse(revision, &document)?));
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

/// An index of a field.
pub(super) struct Index {
    pub(super) name: String,
    pub(super) field: Field,
}

impl Index {
    /// The index of a field. Its name has the kind of values, for each of which the SQL is another one.
    pub(super) fn of(field: Field) -> Self {
        let name = match (field == Field::NAME, field.is_unique()) {
            (true, true) => "robots_name".to_owned(),
            (true, false) => "robots_names".to_owned(),
            (false, is_unique) => {
                let kind = if is_unique { UNIQUE } else { INDEX };
                let values = match field.kind() {
                    Kind::Id | Kind::Integer { .. } => "integer",
                    Kind::Number { .. } => "number",
                    Kind::Boolean => "boolean",
                    Kind::Text { .. } | Kind::Choice(_) => "text",
                };
                format!("{kind}{values}_{field}")
            }
        };
        Self { name, field }
    }
}

/// The indexes of a definition.
fn indexes(definition: &Definition) -> impl Iterator<Item = Index> {
    let own = definition.own().filter(|field| field.is_indexed());
    let name = definition.field(Field::NAME.name());
    name.into_iter().chain(own).map(Index::of)
}

/// Checks that no robot excludes a definition, and creates its indexes. Returns the present definition.
pub(super) async fn prepare<C: Dialect>(
    connection: &mut C,
    redefinition: &Redefinition,
) -> QueryResult<Definition> {
    let present = read(connection).await?;
    let expected = redefinition.check_revision(present.revision());
    expected.map_err(wrap)?;
    for (field, conflict) in redefinition.conflicts(&present) {
        let condition = match conflict {
            DefinitionConflict::HaveValues => has_value::<C>(field),
            DefinitionConflict::HaveLongTexts => {
                // The new one would be cut off at this length.
                let before = present.field(field.name()).unwrap_or(field);
                let (length, sql) = (C::LENGTH, value::<C>(before));
                Fragment::new(format!("{length}({sql}) > {INDEXED_LENGTH}"))
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
        let robots = total(count(connection, &Filter::all(), excluding, Grouping::All).await?);
        if robots > 0 {
            let ids = ids(connection, condition, IDS).await?;
            let ids: Vec<_> = ids.into_iter().filter_map(RobotId::new).collect();
            return Err(wrap(Error::DefinitionConflict {
                field: field.name(),
                conflict,
                robots,
                ids,
            }));
        }
    }
    // Values that a new index might not permit; the others with the definition, in one transaction.
    let prevents_index = |field: &Field| {
        let field = redefinition.definition.field(field.name());
        field.is_some_and(|field| {
            let is_integer = matches!(field.kind(), Kind::Integer { .. });
            field.is_unique() || field.is_indexed() && is_integer
        })
    };
    let dropped = redefinition.dropped(&present);
    drop_values(connection, dropped.filter(prevents_index)).await?;
    create_indexes(connection, &redefinition.definition).await?;
    Ok(present)
}

/// Changes the definition in the transaction of the caller, on a database whose changes of tables are part of it.
pub(super) async fn define<C: Dialect>(
    connection: &mut C,
    redefinition: &Redefinition,
) -> QueryResult<Definition> {
    let present = prepare(connection, redefinition).await?;
    let definition = store(connection, redefinition, &present).await?;
    drop_indexes(connection, &definition).await?;
    Ok(definition)
}

/// Stores a definition, if the present one is still the same. The caller commits the transaction.
pub(super) async fn store<C: Dialect>(
    connection: &mut C,
    redefinition: &Redefinition,
    present: &Definition,
) -> QueryResult<Definition> {
    let definition = redefinition.definition.clone();
    let revision = present.revision();
    let update = Fragment::new("UPDATE robots_definition SET revision = ");
    let update = update
        .number(revision.next().get())
        .sql(", document = ")
        .text(json(&definition)?);
    let update = update.sql(" WHERE revision = ").number(revision.get());
    if connection.change(update).await? == 0 {
        return Err(wrap(Error::DefinitionStale));
    }
    drop_values(connection, redefinition.dropped(present)).await?;
    reset_search(connection, present, &definition).await?;
    Ok(definition.with_revision(revision.next()))
}

/// Drops the values of fields.
async fn drop_values<C: Dialect>(
    connection: &mut C,
    dropped: impl Iterator<Item = Field>,
) -> QueryResult<()> {
    let dropped: Vec<_> = dropped.collect();
    let have_values = dropped.iter().map(|field| has_value::<C>(*field));
    if let Some(have_values) = have_values.reduce(Fragment::or) {
        let names: Vec<_> = dropped.iter().map(|field| field.name()).collect();
        let (before, after) = C::merge(&names);
        let nulls = names.iter().map(|name| format!("\"{name}\":null"));
        let patch = format!("{{{}}}", nulls.collect::<Vec<_>>().join(","));
        let update = Fragment::new(format!(
            "UPDATE robots SET revision = revision + 1, search_text = NULL, own_text = NULL, own = {before}"
        ));
        let update = update.text(patch).sql(format!("{after} WHERE "));
        connection.change(update.then(have_values)).await?;
    }
    Ok(())
}

/// Removes robots from the search index that have a value of a field that only one of two definitions searches.
pub(super) async fn reset_search<C: Dialect>(
    connection: &mut C,
    present: &Definition,
    definition: &Definition,
) -> QueryResult<()> {
    let is_searched = |definition: &Definition, field: Field| {
        let field = definition.field(field.name());
        field.is_some_and(Field::is_searched)
    };
    let all = definition.own().chain(present.own());
    let changed =
        all.filter(|field| is_searched(definition, *field) != is_searched(present, *field));
    if let Some(have_values) = changed.map(has_value::<C>).reduce(Fragment::or) {
        let reset = Fragment::new("UPDATE robots SET search_text = NULL, own_text = NULL WHERE ");
        connection.change(reset.then(have_values)).await?;
    }
    Ok(())
}

fn has_value<C: Dialect>(field: Field) -> Fragment<'static> {
    Fragment::new(format!("{} IS NOT NULL", value::<C>(field)))
}

/// The SQL of a field's value, without an index that may not exist yet.
fn value<C: Dialect>(field: Field) -> Cow<'static, str> {
    if field.is_own() {
        C::stored_value(field).into()
    } else {
        expression::<C>(field)
    }
}

/// Creates the indexes of a definition that do not exist.
pub(super) async fn create_indexes<C: Dialect>(
    connection: &mut C,
    definition: &Definition,
) -> QueryResult<()> {
    if let Some(orphans) = C::ORPHANS {
        for column in connection.texts(orphans).await? {
            let drop = format!("ALTER TABLE robots DROP COLUMN {column}");
            connection.batch(&drop).await?;
        }
    }
    let existing = connection.texts(C::INDEXES).await?;
    for index in indexes(definition) {
        if !existing.contains(&index.name) {
            connection.batch(&C::create_index(&index)).await?;
        }
    }
    Ok(())
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
