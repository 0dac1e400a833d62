//! Changes of a catalogue's definition.

use std::collections::HashMap;

use compact_str::CompactString;

use super::error::{DefinitionConflict, Error, Result};
use crate::model::{Definition, Draft, Field, INDEXED_LENGTH, Kind, Revision, Robot, ValidChanges};

/// A new definition of a catalogue.
///
/// ```
/// use robot_core::{Catalogue, CatalogueExt, Draft, MemoryCatalogue, Redefinition};
///
/// let catalogue = MemoryCatalogue::new();
/// let definition = r#"{"properties": {"maker": {"type": "string"}}}"#.parse()?;
/// catalogue.define(Redefinition::new(definition))?;
/// let mut draft = Draft::new("R2-D2", "droid", 1977);
/// draft.set("maker", "Industrial Automaton");
/// assert!(catalogue.add(draft)?.value("maker").is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Redefinition {
    /// The definition.
    pub definition: Definition,
    /// The revision that the present definition must still have; `None` for any.
    pub expected: Option<Revision>,
    /// Whether the values of fields that are removed are dropped, and values that cannot be converted to the new kind of
    /// their field. Otherwise robots that have such values exclude the definition.
    pub drops_values: bool,
    /// Who changes the definition, and by that robots.
    pub by: Option<CompactString>,
}

impl Redefinition {
    /// A definition, which robots must not exclude.
    pub const fn new(definition: Definition) -> Self {
        Self {
            definition,
            expected: None,
            drops_values: false,
            by: None,
        }
    }

    // For stores.

    /// Fails if the present definition has another revision than the expected one.
    ///
    /// # Errors
    /// [`Error::DefinitionStale`].
    pub fn check_revision(&self, present: Revision) -> Result<()> {
        match self.expected {
            Some(expected) if expected != present => Err(Error::DefinitionStale),
            _ => Ok(()),
        }
    }

    /// The definition that a store keeps after `present`, and the changed robots in the order of the changes: for stores
    /// that have all robots in memory, and pass them in the order of their ids. A robot may be changed twice. The store
    /// gives each the revision of its change.
    ///
    /// # Errors
    /// [`Error::DefinitionStale`]; [`Error::DefinitionConflict`] if robots exclude the definition.
    pub fn apply<'r>(
        &self,
        present: &Definition,
        robots: impl IntoIterator<Item = &'r Robot>,
    ) -> Result<(Definition, Vec<Robot>)> {
        self.check_revision(present.revision())?;
        let converted: Vec<_> = self.converted(present).collect();
        let dropped: Vec<_> = self.dropped(present).collect();
        let robots = robots.into_iter();
        let robots = robots.map(|robot| (robot, rewritten(robot, &converted, &dropped)));
        let robots: Vec<_> = robots.collect();
        for (field, conflict) in self.conflicts(present) {
            let least = match conflict {
                DefinitionConflict::HaveDuplicates => 2,
                _ => 1,
            };
            let mut holders: HashMap<_, Vec<_>> = HashMap::new();
            for (before, (converted, removed)) in &robots {
                let after = removed.as_ref().or(converted.as_ref()).unwrap_or(before);
                let robot = if least == 1 { before } else { after };
                let value = robot.value(field.name()).map(|value| value.to_string());
                let excludes = |value: &String| match conflict {
                    DefinitionConflict::HaveValues | DefinitionConflict::HaveDuplicates => true,
                    DefinitionConflict::HaveOtherKinds => after.value(field.name()).is_none(),
                    DefinitionConflict::HaveLongTexts => value.chars().count() > INDEXED_LENGTH,
                };
                if let Some(value) = value.filter(excludes) {
                    holders.entry(value).or_default().push(robot.id());
                }
            }
            let excluding = holders.into_iter().filter(|(_, ids)| ids.len() >= least);
            let mut excluding: Vec<_> = excluding
                .flat_map(|(value, ids)| ids.into_iter().map(move |id| (id, value.clone())))
                .collect();
            excluding.sort_unstable();
            if !excluding.is_empty() {
                let robots = excluding.len() as u64;
                return Err(Error::excluded(field, conflict, robots, excluding));
            }
        }
        let definition = self.definition.clone();
        let definition = definition.with_revision(present.revision().next());
        let (converted, removed): (Vec<_>, Vec<_>) =
            robots.into_iter().map(|(_, changed)| changed).unzip();
        let changed = converted.into_iter().chain(removed).flatten();
        Ok((definition, changed.collect()))
    }

    /// The fields of the definition that get another kind, to which the values of robots are converted.
    pub(crate) fn converted<'a>(
        &'a self,
        present: &'a Definition,
    ) -> impl Iterator<Item = &'a Field> + 'a {
        let own = self.definition.own();
        own.filter(|field| is_converted(field, present))
    }

    /// The changes of a robot by which it has values of these fields' kinds. Values that cannot be converted are removed.
    pub(crate) fn conversion(fields: &[&Field], robot: &Robot) -> ValidChanges {
        let (mut draft, mut removed) = (Draft::default(), Vec::new());
        for field in fields {
            let Some(value) = robot.value(field.name()) else {
                continue;
            };
            match field.convert(&value) {
                Some(converted) if converted == value => {}
                Some(converted) => draft.set(field, converted),
                None => removed.push((*field).clone()),
            }
        }
        ValidChanges::unchecked(draft, removed)
    }

    /// The fields whose values are dropped.
    pub(crate) fn dropped<'a>(
        &'a self,
        present: &'a Definition,
    ) -> impl Iterator<Item = &'a Field> + 'a {
        self.removed(present).filter(|_| self.drops_values)
    }

    /// The fields by which robots may exclude the definition.
    pub(crate) fn conflicts<'a>(
        &'a self,
        present: &'a Definition,
    ) -> impl Iterator<Item = (&'a Field, DefinitionConflict)> + 'a {
        use DefinitionConflict::{HaveDuplicates, HaveLongTexts, HaveOtherKinds, HaveValues};
        let gets = move |field: &Field, has: fn(&Field) -> bool| {
            let before = present.field(field.name());
            has(field) && before.is_none_or(|before| field.converts(before) || !has(before))
        };
        let unique = self.definition.unique();
        let unique = unique.filter(move |field| gets(field, Field::is_unique));
        let long = self.definition.own().filter(move |field| {
            let is_text = matches!(field.kind(), Kind::Text { .. });
            is_text && gets(field, Field::is_indexed) && !is_converted(field, present)
        });
        let removed = self.removed(present).map(|field| (field, HaveValues));
        let converted = self.converted(present).map(|field| (field, HaveOtherKinds));
        // In the order in which a database finds them.
        removed
            .filter(|_| !self.drops_values)
            .chain(long.map(|field| (field, HaveLongTexts)))
            .chain(converted.filter(|_| !self.drops_values))
            .chain(unique.map(|field| (field, HaveDuplicates)))
    }

    /// The present fields that the definition does not have.
    fn removed<'a>(&'a self, present: &'a Definition) -> impl Iterator<Item = &'a Field> + 'a {
        let fields = present.settable().iter();
        fields.filter(|field| self.definition.field(field.name()).is_none())
    }
}

/// A robot with values of the kinds of the converted fields, and without those of the dropped ones, as far as that changes
/// it: in two changes, but own values are dropped with the conversion, as databases do it.
fn rewritten(
    robot: &Robot,
    converted: &[&Field],
    dropped: &[&Field],
) -> (Option<Robot>, Option<Robot>) {
    let conversion = Redefinition::conversion(converted, robot);
    let is_converted = !conversion.is_empty();
    let has_value = |field: &&&Field| robot.value(field.name()).is_some();
    let removed = dropped.iter().filter(has_value).copied().cloned();
    let (own, built_in): (Vec<_>, Vec<_>) = removed.partition(Field::is_own);
    let without = |robot: &Robot, removed: Vec<Field>| {
        let removal = ValidChanges::unchecked(Draft::default(), removed);
        removal.apply_to(robot, robot.revision())
    };
    if !is_converted {
        let removed = [own, built_in].concat();
        let removed = (!removed.is_empty()).then(|| without(robot, removed));
        return (None, removed);
    }
    let converted = without(&conversion.apply_to(robot, robot.revision()), own);
    let removed = (!built_in.is_empty()).then(|| without(&converted, built_in));
    (Some(converted), removed)
}

/// Whether a field has another kind in the present definition.
fn is_converted(field: &Field, present: &Definition) -> bool {
    let before = present.field(field.name());
    before.is_some_and(|before| field.converts(before))
}
