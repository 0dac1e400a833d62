//! How an import goes, and what it comes to.

use std::borrow::Cow;

use super::records::ReadError;
use crate::error::Error;

/// What is done about a record whose name a robot has already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnConflict {
    /// The record has failed: names are unique.
    #[default]
    Fail,
    /// The robot stays as it is.
    Skip,
    /// The robot gets the type and the year of the record, and keeps its id.
    Replace,
}

/// What is done when a record has failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AfterFailure {
    /// The import ends, and nothing behind the record is stored.
    #[default]
    Stop,
    /// The records behind it are read. Where it is the store or the input that failed, the
    /// import ends all the same.
    GoOn,
}

/// Whether anything is stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rehearsal {
    /// It is.
    #[default]
    No,
    /// Nothing is, and the outcomes are those that there would be. A hash of each name is
    /// remembered, which takes about 20 bytes a record.
    Yes,
}

/// How an import goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportOptions {
    /// What is done about names that are taken.
    pub on_conflict: OnConflict,
    /// What is done about records that fail.
    pub after_failure: AfterFailure,
    /// Whether anything is stored.
    pub rehearsal: Rehearsal,
}

impl ImportOptions {
    /// With this for names that are taken.
    #[must_use]
    pub fn on_conflict(mut self, on_conflict: OnConflict) -> Self {
        self.on_conflict = on_conflict;
        self
    }

    /// With this for records that fail.
    #[must_use]
    pub fn after_failure(mut self, after_failure: AfterFailure) -> Self {
        self.after_failure = after_failure;
        self
    }

    /// Storing, or storing nothing.
    #[must_use]
    pub fn rehearsal(mut self, rehearsal: Rehearsal) -> Self {
        self.rehearsal = rehearsal;
        self
    }
}

/// What became of a record.
#[derive(Debug)]
pub struct Outcome {
    /// The number of the line that the record begins on.
    pub line: u64,
    /// What was done, or why nothing was.
    pub result: Result<Stored, ImportError>,
}

/// What was done with a record that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// A robot was added.
    Added,
    /// The robot that had the name got type and year of the record.
    Replaced,
    /// The robot that had the name stayed as it was.
    Skipped,
}

/// Why a record was not stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// It is no robot: messages for a person who can mend it.
    #[error("{}", .0.join("; "))]
    Malformed(Vec<Cow<'static, str>>),
    /// It breaks rules, or the store failed.
    #[error(transparent)]
    Refused(#[from] Error),
    /// Nothing more can be read.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
}

impl ImportError {
    /// The messages: those of the rules to the letter, one at least.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        match self {
            Self::Malformed(messages) => messages.iter().map(ToString::to_string).collect(),
            Self::Refused(Error::Rejected(violations)) => violations
                .iter()
                .map(|violation| violation.to_string())
                .collect(),
            Self::Refused(error) => vec![error.to_string()],
            Self::Unreadable(error) => vec![error.to_string()],
        }
    }

    /// Whether it is this record's fault alone, so that those behind it may fare better.
    #[must_use]
    pub fn is_of_the_record(&self) -> bool {
        matches!(self, Self::Malformed(_) | Self::Refused(Error::Rejected(_)))
    }
}

/// How many records came to what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Robots that were added.
    pub added: u64,
    /// Robots that were replaced.
    pub replaced: u64,
    /// Records that were skipped, because a robot had the name.
    pub skipped: u64,
    /// Records that failed.
    pub failed: u64,
}

impl Summary {
    /// Counts one more outcome.
    pub fn count(&mut self, outcome: &Outcome) {
        let counter = match outcome.result {
            Ok(Stored::Added) => &mut self.added,
            Ok(Stored::Replaced) => &mut self.replaced,
            Ok(Stored::Skipped) => &mut self.skipped,
            Err(_) => &mut self.failed,
        };
        *counter = counter.saturating_add(1);
    }

    /// How many records there were.
    #[must_use]
    pub fn records(&self) -> u64 {
        [self.added, self.replaced, self.skipped, self.failed]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}
