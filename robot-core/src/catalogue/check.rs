//! The types of a check: whether a catalogue is undamaged and keeps its rules.

use super::error::{Error, OpenError};

/// The number of findings from which on a check looks for no more.
pub(crate) const FINDING_LIMIT: usize = 10;

/// One of the checks of a catalogue.
///
/// ```
/// assert_eq!(robot_core::Check::SearchIndex.as_str(), "search index");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Check {
    /// SQLite's integrity check: pages, indexes, constraints, and the text of names.
    File,
    /// The search index has every name that is not marked as not indexed yet.
    SearchIndex,
    /// Each robot keeps the rules for name, type and year.
    Rules,
    /// The names are in ascending order, and so unique.
    Names,
    /// No id is greater than the last one, so that none is assigned again.
    LastId,
}

impl Check {
    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::SearchIndex => "search index",
            Self::Rules => "rules",
            Self::Names => "names",
            Self::LastId => "last id",
        }
    }
}

/// The result of all checks of a catalogue.
///
/// ```
/// use robot_core::{CatalogueExt, Draft, MemoryCatalogue, check};
///
/// let catalogue = MemoryCatalogue::new();
/// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
/// let report = check(&catalogue, |_| std::ops::ControlFlow::Continue(()))?;
/// assert!(report.is_passed());
/// assert_eq!(report.robots, Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// The checks that were made, each with its first findings, for people.
    pub findings: Vec<(Check, Vec<String>)>,
    /// What has no effect, for people: values of fields that the catalogue does not have. [`repair`](crate::repair)
    /// removes them.
    pub harmless: Vec<String>,
    /// The names of the fields of the owner that no robot has a value of. An import that was killed may have left them.
    pub unused: Vec<String>,
    /// The number of robots, if all of them were read.
    pub robots: Option<u64>,
}

impl CheckReport {
    /// Whether no check has findings.
    #[must_use]
    pub fn is_passed(&self) -> bool {
        self.findings
            .iter()
            .all(|(_, findings)| findings.is_empty())
    }
}

/// Why a catalogue could not be checked.
///
/// ```
/// use std::ops::ControlFlow;
/// use robot_core::{CheckError, MemoryCatalogue, check};
///
/// // An empty catalogue has no page after which the check could be stopped.
/// assert!(check(&MemoryCatalogue::new(), |_| ControlFlow::Break(())).is_ok());
/// assert_eq!(CheckError::Cancelled.to_string(), "the check was stopped");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The catalogue cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The store is busy or unreachable.
    #[error(transparent)]
    Catalogue(#[from] Error),
    /// The caller stopped it.
    #[error("the check was stopped")]
    Cancelled,
}
