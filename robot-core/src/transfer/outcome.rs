//! How an import goes, and what it comes to.

use std::borrow::Cow;

use super::records::ReadError;
use crate::error::Error;

/// What is done about a record whose name a robot has already.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::MemoryCatalogue;
/// use robot_core::transfer::{Format, ImportOptions, OnConflict, Records, Stored, import};
///
/// let file = "name,type,year\nR2-D2,droid,1977\nR2-D2,droid,1980\n";
/// let options = ImportOptions::default().on_conflict(OnConflict::Replace);
/// let records = Records::new(file.as_bytes(), Format::Csv);
/// let outcomes = import(Arc::new(MemoryCatalogue::new()), records, options);
/// let stored: Vec<_> = outcomes.map(|outcome| outcome.result).collect::<Result<_, _>>()?;
/// assert_eq!(stored, [Stored::Added, Stored::Replaced]);
/// # Ok::<(), robot_core::transfer::ImportError>(())
/// ```
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
///
/// ```
/// use std::sync::Arc;
/// use robot_core::MemoryCatalogue;
/// use robot_core::transfer::{AfterFailure, Format, ImportOptions, Records, import};
///
/// let file = "name,type,year\nR2-D2,droid,-1\nC-3PO,droid,1977\n";
/// for (after_failure, outcomes) in [(AfterFailure::Stop, 1), (AfterFailure::GoOn, 2)] {
///     let options = ImportOptions::default().after_failure(after_failure);
///     let records = Records::new(file.as_bytes(), Format::Csv);
///     assert_eq!(import(Arc::new(MemoryCatalogue::new()), records, options).count(), outcomes);
/// }
/// ```
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
///
/// ```
/// use std::sync::Arc;
/// use robot_core::MemoryCatalogue;
/// use robot_core::{Catalogue, transfer::{Format, ImportOptions, Records, Rehearsal, import}};
///
/// let catalogue = Arc::new(MemoryCatalogue::new());
/// let records = Records::new("name,type,year\nR2-D2,droid,1977\n".as_bytes(), Format::Csv);
/// let options = ImportOptions::default().rehearsal(Rehearsal::Yes);
/// assert_eq!(import(Arc::clone(&catalogue), records, options).count(), 1);
/// assert!(catalogue.list()?.is_empty());
/// # Ok::<(), robot_core::Error>(())
/// ```
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
///
/// ```
/// use robot_core::transfer::{AfterFailure, ImportOptions, OnConflict, Rehearsal};
///
/// let options = ImportOptions::default()
///     .on_conflict(OnConflict::Skip)
///     .after_failure(AfterFailure::GoOn)
///     .rehearsal(Rehearsal::No);
/// assert_ne!(options, ImportOptions::default());
/// ```
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
///
/// ```
/// use robot_core::transfer::{ImportError, Outcome};
///
/// /// What is told of a record, if there is something to tell.
/// fn told(outcome: &Outcome) -> Option<String> {
///     let error = outcome.result.as_ref().err()?;
///     Some(format!("line {}: {}", outcome.line, error.messages().join("; ")))
/// }
///
/// let error = ImportError::Malformed(vec!["year must be an integer".into()]);
/// let outcome = Outcome { line: 7, result: Err(error) };
/// assert_eq!(told(&outcome).as_deref(), Some("line 7: year must be an integer"));
/// ```
#[derive(Debug)]
pub struct Outcome {
    /// The number of the line that the record begins on.
    pub line: u64,
    /// What was done, or why nothing was.
    pub result: Result<Stored, ImportError>,
}

/// What was done with a record that did not fail.
///
/// ```
/// use robot_core::transfer::{Outcome, Stored};
///
/// let outcome = Outcome { line: 7, result: Ok(Stored::Skipped) };
/// assert!(matches!(outcome.result, Ok(Stored::Skipped)));
/// ```
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
///
/// ```
/// use robot_core::{Error, Violation, transfer::ImportError};
///
/// let error = ImportError::from(Error::from(Violation::NameTaken));
/// assert_eq!(error.messages(), ["The robot name must be unique"]);
/// assert!(error.is_of_the_record());
/// assert!(!ImportError::from(Error::store("the tape is torn")).is_of_the_record());
/// ```
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
///
/// ```
/// use robot_core::transfer::{Outcome, Stored, Summary};
///
/// let mut summary = Summary::default();
/// for (line, stored) in [(1, Stored::Added), (2, Stored::Skipped)] {
///     summary.count(&Outcome { line, result: Ok(stored) });
/// }
/// assert_eq!((summary.added, summary.skipped, summary.records()), (1, 1, 2));
/// ```
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
