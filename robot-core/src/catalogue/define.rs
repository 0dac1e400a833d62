//! Changes of a catalogue's definition.

use super::error::{Error, Result};
use crate::model::{Definition, Field, Revision, RobotId};

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
    pub(crate) definition: Definition,
    expected: Option<Revision>,
    drops_values: bool,
}

/// Why robots exclude a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionConflict {
    /// They have values of a field that is to be removed, or to get another kind.
    HaveValues,
    /// They have the same values of a field that is to be unique.
    HaveDuplicates,
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

    /// Only if the present definition still has this revision.
    pub fn if_revision(mut self, revision: Revision) -> Self {
        self.expected = Some(revision);
        self
    }

    /// Drops the values of fields that are removed, or that get another kind.
    pub fn drop_values(mut self) -> Self {
        self.drops_values = true;
        self
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

    /// What is to be done with the values of the robots.
    pub(crate) fn steps<'a>(&'a self, present: &'a Definition) -> impl Iterator<Item = Step> + 'a {
        let dropped = present.own().filter(|field| {
            let kept = self.definition.field(field.name());
            !kept.is_some_and(|kept| kept.has_kind_of(*field))
        });
        let dropped = dropped.map(|field| {
            if self.drops_values {
                Step::DropValues(field)
            } else {
                Step::ExpectNoValues(field)
            }
        });
        let unique = self.definition.unique().filter(|field| {
            let before = present.field(field.name());
            !before.is_some_and(|before| before.is_unique() && before.has_kind_of(*field))
        });
        dropped.chain(unique.map(Step::ExpectUnique))
    }
}

/// What a store does before a definition takes effect.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    DropValues(Field),
    ExpectNoValues(Field),
    ExpectUnique(Field),
}

impl Error {
    /// The error for robots, given by their number and their lowest ids, that exclude a definition.
    pub(crate) fn definition_conflict(
        field: Field,
        conflict: DefinitionConflict,
        robots: u64,
        ids: Vec<RobotId>,
    ) -> Self {
        Self::DefinitionConflict {
            field: field.name(),
            conflict,
            robots,
            ids,
        }
    }
}
