//! A single change of a catalogue, as a value.

use crate::model::{Revision, RobotId, ValidChanges, ValidDraft};

/// An insert, update or delete that satisfies every rule except those that only a store can check.
///
/// [`CatalogueExt::apply`](crate::CatalogueExt::apply) executes it. A store whose
/// [`submit`](crate::Catalogue::submit) gets a variant that it does not know returns it.
///
/// ```
/// use robot_core::{CatalogueExt, Change, Draft, MemoryCatalogue, ValidDraft};
///
/// let catalogue = MemoryCatalogue::new();
/// let draft = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?;
/// let id = catalogue.apply(Change::Insert(draft))?;
/// assert_eq!(catalogue.apply(Change::Delete(id))?, id);
/// assert!(catalogue.list()?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// [`Catalogue::insert`](crate::Catalogue::insert).
    Insert(ValidDraft),
    /// [`Catalogue::update`](crate::Catalogue::update).
    Update(RobotId, ValidChanges),
    /// [`Catalogue::update_if`](crate::Catalogue::update_if).
    UpdateIf(RobotId, Revision, ValidChanges),
    /// [`Catalogue::delete`](crate::Catalogue::delete).
    Delete(RobotId),
    /// [`Catalogue::delete_if`](crate::Catalogue::delete_if).
    DeleteIf(RobotId, Revision),
}

impl Change {
    /// The id of the robot that it changes or deletes; `None` for an insert.
    #[must_use]
    pub const fn id(&self) -> Option<RobotId> {
        match self {
            Self::Insert(_) => None,
            Self::Update(id, _)
            | Self::UpdateIf(id, ..)
            | Self::Delete(id)
            | Self::DeleteIf(id, _) => Some(*id),
        }
    }
}
