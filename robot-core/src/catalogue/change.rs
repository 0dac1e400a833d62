//! A single change of a catalogue, as a value.

use std::borrow::Cow;

use compact_str::CompactString;

use super::history::Position;
use crate::model::{
    Definition, Field, Revision, Robot, RobotId, ValidChanges, ValidDraft, Value, Violations,
};

/// An insert, update or delete that satisfies every rule except those that only a store can check.
///
/// [`CatalogueExt::apply`](crate::CatalogueExt::apply) executes it, and
/// [`Catalogue::start`](crate::Catalogue::start) starts it.
///
/// ```
/// use robot_core::{CatalogueExt, Change, Draft, MemoryCatalogue, ValidDraft};
///
/// let catalogue = MemoryCatalogue::new();
/// let draft = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?;
/// let id = catalogue.apply(Change::Insert(draft))?.id;
/// assert_eq!(catalogue.apply(Change::Delete(id, None))?.id, id);
/// assert!(catalogue.list()?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A new robot.
    Insert(ValidDraft),
    /// New values for the members that the changes have, if the robot has the revision. The others keep theirs.
    Update(RobotId, Option<Revision>, ValidChanges),
    /// The robot is removed, if it has the revision.
    Delete(RobotId, Option<Revision>),
    /// A deleted robot comes back under its id.
    Undelete(RobotId, ValidDraft),
}

/// What a store returns about a change that it has stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    /// The id of the robot that was added, changed or deleted.
    pub id: RobotId,
    /// The revision that the store has given to the robot; `None` if it was deleted.
    pub revision: Option<Revision>,
}

/// What a store returns about changes that it has stored together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commit {
    /// A receipt for each change, in their order.
    pub receipts: Vec<Receipt>,
    /// The positions before and after the changes, between which no others are; `None` if the store keeps no history.
    pub positions: Option<(Position, Position)>,
}

/// A change, and who makes it.
#[derive(Debug, Clone)]
pub(crate) struct Authored {
    pub(crate) change: Change,
    pub(crate) by: Option<CompactString>,
}

impl Authored {
    pub(crate) fn new(change: Change, by: Option<&str>) -> Self {
        let by = by.map(CompactString::from);
        Self { change, by }
    }

    pub(crate) fn by(&self) -> Option<&str> {
        self.by.as_deref()
    }
}

impl Receipt {
    /// The robot that a draft has added.
    pub(crate) fn new_robot(self, draft: ValidDraft) -> Robot {
        let robot = draft.with_id(self.id);
        match self.revision {
            Some(revision) => robot.with_revision(revision),
            None => robot,
        }
    }

    /// The robot after changes.
    pub(crate) fn changed_robot(self, changes: ValidChanges, before: &Robot) -> Robot {
        changes.apply_to(before, self.revision.unwrap_or(before.revision()))
    }
}

impl Change {
    /// The id of the robot that it changes or deletes; `None` for an insert.
    #[must_use]
    pub const fn id(&self) -> Option<RobotId> {
        match self {
            Self::Insert(_) => None,
            Self::Update(id, ..) | Self::Delete(id, _) | Self::Undelete(id, _) => Some(*id),
        }
    }

    /// The revision that the robot must have.
    pub(crate) const fn expected(&self) -> Option<Revision> {
        match self {
            Self::Update(_, revision, _) | Self::Delete(_, revision) => *revision,
            Self::Insert(_) | Self::Undelete(..) => None,
        }
    }

    /// The draft of an insert.
    pub(crate) const fn draft(&self) -> Option<&ValidDraft> {
        match self {
            Self::Insert(draft) => Some(draft),
            _ => None,
        }
    }

    /// The change, checked by the present definition of a store, unless this state of the definition has checked it.
    /// A store calls this while the definition cannot change, so that it keeps each value that it acknowledges.
    ///
    /// # Errors
    /// The rules that it violates.
    pub fn check_again(&self, definition: &Definition) -> Result<Cow<'_, Self>, Violations> {
        let checked = match self {
            Self::Insert(draft) => draft
                .check_again(definition)
                .map(|new| new.map(Self::Insert)),
            Self::Update(id, revision, changes) => {
                let checked = changes.check_again(definition);
                checked.map(|new| new.map(|new| Self::Update(*id, *revision, new)))
            }
            Self::Undelete(id, draft) => {
                let checked = draft.check_again(definition);
                checked.map(|new| new.map(|new| Self::Undelete(*id, new)))
            }
            Self::Delete(..) => Ok(None),
        };
        let checked = checked.map_err(|rejection| rejection.violations)?;
        Ok(checked.map_or(Cow::Borrowed(self), Cow::Owned))
    }

    /// The new value of a field.
    pub(crate) fn value(&self, field: &Field) -> Option<Value<'_>> {
        match self {
            Self::Insert(draft) | Self::Undelete(_, draft) => draft.value(field),
            Self::Update(_, _, changes) => changes.value(field),
            Self::Delete(..) => None,
        }
    }
}
