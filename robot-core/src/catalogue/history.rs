//! The changes of a catalogue in their order, and the history of a robot.

use std::{fmt, str::FromStr};

use compact_str::CompactString;
use serde::Serialize;

use super::error::{Error, Result};
use crate::model::{Revision, Robot, RobotId, Timestamp};

/// A place in the order of all changes of a catalogue: after some of them, and before the others.
///
/// Its text is opaque. It is of use for this catalogue only, and for as long as the catalogue keeps later changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The catalogue that it belongs to. A copy in another store is another one, but a copied file is not.
    pub(crate) identity: CompactString,
    /// The revision of the last change before it; 0 before the first one.
    pub(crate) revision: i64,
}

impl Position {
    /// The position in the catalogue with this identity, after the change with this revision; 0 for before the first one.
    /// For stores.
    #[must_use]
    pub fn new(identity: impl Into<CompactString>, revision: i64) -> Self {
        let identity = identity.into();
        Self { identity, revision }
    }

    /// The revision of the last change before it; 0 before the first one.
    #[must_use]
    pub const fn revision(&self) -> i64 {
        self.revision
    }

    /// The position in the same catalogue after the change with this revision; 0 for before the first one.
    #[must_use]
    pub fn at(&self, revision: i64) -> Self {
        Self::new(self.identity.clone(), revision)
    }

    /// Whether a change with this revision comes after it.
    #[must_use]
    pub const fn precedes(&self, revision: Revision) -> bool {
        self.revision < revision.get()
    }

    /// Fails unless the changes after it are known to a catalogue whose present position is `now`, and which has all of
    /// them after `complete_from`. For stores.
    ///
    /// # Errors
    /// [`Error::PositionGone`].
    pub fn check(&self, now: &Self, complete_from: i64) -> Result<()> {
        let is_known = self.identity == now.identity
            && (complete_from..=now.revision).contains(&self.revision);
        is_known.then_some(()).ok_or(Error::PositionGone)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.identity, self.revision)
    }
}

impl Serialize for Position {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A text is not a [`Position`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is no position in the changes of a catalogue")]
pub struct ParsePositionError;

impl FromStr for Position {
    type Err = ParsePositionError;

    fn from_str(text: &str) -> Result<Self, ParsePositionError> {
        let (identity, revision) = text.rsplit_once('-').ok_or(ParsePositionError)?;
        let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let revision = revision.parse().ok().filter(|_| is_plain(revision));
        let position = revision.map(|revision| Self::new(identity, revision));
        position
            .filter(|_| !identity.is_empty() && is_plain(identity))
            .ok_or(ParsePositionError)
    }
}

/// What a change did to a robot. A robot that was added and changed has changed: its latest change counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It was added, or came back after a deletion.
    Added,
    /// It got other values.
    Changed,
    /// It was deleted.
    Deleted,
}

/// A change of a robot that has been made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The revision: the number of the change.
    pub revision: Revision,
    /// What it did.
    pub action: Action,
    /// When; `None` for a change before catalogues kept times.
    pub at: Option<Timestamp>,
    /// By whom; `None` for other programs.
    pub by: Option<CompactString>,
    /// The id of the robot.
    pub id: RobotId,
    /// The robot after the change; `None` if it was deleted.
    pub robot: Option<Robot>,
    /// The robot before the change; `None` if it did not exist, if the version is not kept, or if only the
    /// [latest](Extent::Latest) changes are read and it was not deleted.
    pub before: Option<Robot>,
}

/// Which changes are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The last change of each robot, with the robot as it is now. A caller that has listed the robots, and then follows
    /// these changes from the position before the list, has the state of the catalogue.
    Latest,
    /// Every change, with the robot as it was after the change.
    Every,
}

/// Some changes of a catalogue, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// The changes.
    pub events: Vec<Event>,
    /// The position after them.
    pub next: Position,
    /// Whether there are no further changes now.
    pub is_last: bool,
}
