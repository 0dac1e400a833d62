//! Changes of a catalogue's definition.

use super::error::{DefinitionConflict, Error, Result};
use crate::model::{Definition, Draft, Field, Kind, Revision, Robot, ValidChanges};

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
}

impl Redefinition {
    /// A definition, which robots must not exclude.
    pub const fn new(definition: Definition) -> Self {
        Self {
            definition,
            expected: None,
            drops_values: false,
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

    /// The fields of the definition that get another kind, to which the values of robots are converted.
    pub(crate) fn converted<'a>(
        &'a self,
        present: &'a Definition,
    ) -> impl Iterator<Item = Field> + 'a {
        let own = self.definition.own();
        own.filter(|field| is_converted(*field, present))
    }

    /// The changes of a robot by which it has values of these fields' kinds. Values that cannot be converted are removed.
    pub(crate) fn conversion(fields: &[Field], robot: &Robot) -> ValidChanges {
        let (mut draft, mut removed) = (Draft::default(), Vec::new());
        for field in fields {
            let Some(value) = robot.value(field.name()) else {
                continue;
            };
            match field.convert(&value) {
                Some(converted) if converted == value => {}
                Some(converted) => draft.set(field, converted),
                None => removed.push(*field),
            }
        }
        ValidChanges::unchecked(draft, removed)
    }

    /// The fields whose values are dropped.
    pub(crate) fn dropped<'a>(
        &'a self,
        present: &'a Definition,
    ) -> impl Iterator<Item = Field> + 'a {
        self.removed(present).filter(|_| self.drops_values)
    }

    /// The fields by which robots may exclude the definition.
    pub(crate) fn conflicts<'a>(
        &'a self,
        present: &'a Definition,
    ) -> impl Iterator<Item = (Field, DefinitionConflict)> + 'a {
        use DefinitionConflict::{HaveDuplicates, HaveLongTexts, HaveOtherKinds, HaveValues};
        let gets = move |field: Field, has: fn(Field) -> bool| {
            let before = present.field(field.name());
            has(field) && before.is_none_or(|before| field.converts(before) || !has(before))
        };
        let unique = self.definition.unique();
        let unique = unique.filter(move |field| gets(*field, Field::is_unique));
        let long = self.definition.own().filter(move |field| {
            let is_text = matches!(field.kind(), Kind::Text { .. });
            is_text && gets(*field, Field::is_indexed) && !is_converted(*field, present)
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
    fn removed<'a>(&'a self, present: &'a Definition) -> impl Iterator<Item = Field> + 'a {
        let fields = present.settable().iter().copied();
        fields.filter(|field| self.definition.field(field.name()).is_none())
    }
}

/// Whether a field has another kind in the present definition.
fn is_converted(field: Field, present: &Definition) -> bool {
    let before = present.field(field.name());
    before.is_some_and(|before| field.converts(before))
}
