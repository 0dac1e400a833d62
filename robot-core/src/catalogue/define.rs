//! Changes of a catalogue's definition.

use super::error::{Error, Result};
use crate::model::{Definition, Field, Kind, Revision};

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
    /// Whether the values of fields that are removed, or that get another kind, are dropped. Otherwise robots that
    /// have such values exclude the definition.
    pub drops_values: bool,
}

/// Why robots exclude a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionConflict {
    /// They have values of a field that is to be removed, or to get another kind.
    HaveValues,
    /// They have the same values of a field that is to be unique.
    HaveDuplicates,
    /// They have longer texts of a field than an index permits.
    HaveLongTexts,
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

    /// The fields whose values are dropped.
    pub(crate) fn dropped<'a>(
        &'a self,
        present: &'a Definition,
    ) -> impl Iterator<Item = Field> + 'a {
        self.lost(present).filter(|_| self.drops_values)
    }

    /// The fields by which robots may exclude the definition.
    pub(crate) fn conflicts<'a>(
        &'a self,
        present: &'a Definition,
    ) -> impl Iterator<Item = (Field, DefinitionConflict)> + 'a {
        let lost = self.lost(present).filter(|_| !self.drops_values);
        // Values of another kind are dropped, or exclude the definition themselves.
        let gets = move |field: Field, has: fn(Field) -> bool| {
            let before = present.field(field.name());
            has(field) && before.is_none_or(|before| before.has_kind_of(field) && !has(before))
        };
        let unique = self.definition.unique();
        let unique = unique.filter(move |field| gets(*field, Field::is_unique));
        let long = self.definition.own().filter(move |field| {
            gets(*field, Field::is_indexed) && matches!(field.kind(), Kind::Text { .. })
        });
        let lost = lost.map(|field| (field, DefinitionConflict::HaveValues));
        let long = long.map(|field| (field, DefinitionConflict::HaveLongTexts));
        let unique = unique.map(|field| (field, DefinitionConflict::HaveDuplicates));
        lost.chain(long).chain(unique)
    }

    /// The present fields whose values are not values of the definition.
    fn lost<'a>(&'a self, present: &'a Definition) -> impl Iterator<Item = Field> + 'a {
        present.own().filter(|field| {
            let kept = self.definition.field(field.name());
            !kept.is_some_and(|kept| kept.has_kind_of(*field))
        })
    }
}
