//! Options and outcomes of an import.

use super::{position::RecordPosition, record::ReadError};
use crate::{
    catalogue::Error,
    model::{Definition, Field, Message, RobotId, Rule, Value, listed},
};

/// The maximum number of records of an atomic import. Lower, and files have to be divided; higher, and
/// other writers of an SQLite file wait longer for its one transaction.
///
/// ```
/// use robot_core::{Draft, MemoryCatalogue};
/// use robot_core::transfer::{ATOMIC_LIMIT, ImportOptions, Record, import_atomically};
///
/// let drafts = (0..=ATOMIC_LIMIT).map(|number| Draft::new(number.to_string(), "droid", 1977));
/// let records = Record::numbered(drafts);
/// let outcomes = import_atomically(&MemoryCatalogue::new(), records, &ImportOptions::default());
/// assert_eq!(outcomes.len(), 1);
/// let error = outcomes[0].result.as_ref().unwrap_err().to_string();
/// assert!(error.starts_with("An atomic import has at most 10000 records"));
/// ```
pub const ATOMIC_LIMIT: usize = 10_000;

/// What to do with a record of a robot that exists.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{CatalogueExt, Draft, MemoryCatalogue};
/// use robot_core::transfer::{FileFormat, ImportOptions, OnConflict, Records, Stored, import};
///
/// let catalogue = Arc::new(MemoryCatalogue::new());
/// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
/// let file = "name,type,year\nR2-D2,droid,1980\nC-3PO,droid,1977\n";
/// let options = ImportOptions {
///     on_conflict: OnConflict::Replace,
///     ..ImportOptions::default()
/// };
/// let records = Records::new(file.as_bytes(), FileFormat::Csv);
/// let outcomes = import(catalogue, records, options);
/// let stored: Vec<_> = outcomes.map(|outcome| outcome.result).collect::<Result<_, _>>()?;
/// assert_eq!(stored, [Stored::Replaced, Stored::Added]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnConflict {
    /// Without a key, the record fails. With a key, the robot gets the values of the record.
    #[default]
    Fail,
    /// The robot keeps its values.
    Skip,
    /// The robot gets the values of the record, and keeps its id. Without a key, names find the robots.
    Replace,
}

impl OnConflict {
    /// The names of the choices for names that are taken, in the order of the variants.
    pub const NAMES: &[&str] = &["fail", "skip", "replace"];

    /// The one with this name.
    ///
    /// ```
    /// use robot_core::transfer::OnConflict;
    ///
    /// assert_eq!(OnConflict::of_name("skip"), Some(OnConflict::Skip));
    /// assert_eq!(OnConflict::of_name("merge"), None);
    /// ```
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let mut all = Self::NAMES
            .iter()
            .zip([Self::Fail, Self::Skip, Self::Replace]);
        all.find_map(|(known, value)| (*known == name).then_some(value))
    }
}

/// Options of an import.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{CatalogueExt, MemoryCatalogue};
/// use robot_core::transfer::{FileFormat, ImportOptions, Records, import};
///
/// let file = "name,type,year\nR2-D2,droid,-1\nC-3PO,droid,1977\n";
/// for (keeps_going, outcomes) in [(false, 1), (true, 2)] {
///     let catalogue = Arc::new(MemoryCatalogue::new());
///     let options = ImportOptions { keeps_going, is_dry_run: true, ..ImportOptions::default() };
///     let records = Records::new(file.as_bytes(), FileFormat::Csv);
///     assert_eq!(import(Arc::clone(&catalogue), records, options).count(), outcomes);
///     assert!(catalogue.list()?.is_empty());
/// }
/// # Ok::<(), robot_core::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// The field that finds the robot that a record changes: the id, or a unique one. The robot gets the values of which
    /// the record has a column or member. A record with a new value adds a robot, except for a new id. The records
    /// must be read [for it](super::Columns::matching). The import keeps a hash of each value, to find one that is
    /// given twice.
    pub key: Option<Field>,
    /// What to do with robots that exist.
    pub on_conflict: OnConflict,
    /// Whether records are added that equal a robot, if names are not unique. Otherwise they fail: the import keeps a hash
    /// of each robot that has the name of a record.
    pub adds_equal: bool,
    /// Whether the import continues after a record has failed. Otherwise no later record is stored. A
    /// failure of the store or the input ends it all the same.
    pub keeps_going: bool,
    /// Whether nothing is stored, and the outcomes are what an import would return. The import keeps a
    /// hash of each name, which takes about 20 bytes per record.
    pub is_dry_run: bool,
}

impl ImportOptions {
    /// The field that finds robots.
    pub(super) fn key(&self) -> Option<&Field> {
        let by_name = self.on_conflict == OnConflict::Replace;
        self.key.as_ref().or(by_name.then_some(&Field::NAME))
    }

    /// Checks that robots can be found in a catalogue with this definition.
    ///
    /// # Errors
    /// The field that finds robots is not unique: a message for people.
    pub fn check(&self, definition: &Definition) -> Result<(), String> {
        let Some(key) = self.key() else {
            return Ok(());
        };
        let mut fields = definition.unique().chain([&Field::ID]);
        if fields.any(|field| field.is(key)) {
            return Ok(());
        }
        let mut unique: Vec<_> = definition.unique().map(Field::name).collect();
        unique.push(Field::ID.name());
        Err(format!(
            "{key} is not unique in this catalogue, so it finds no robot; match {}",
            listed(&unique, "or")
        ))
    }
}

/// The outcome of one record.
///
/// ```
/// use robot_core::transfer::{ImportError, Outcome, RecordPosition};
///
/// let error = ImportError::Malformed(vec!["year must be an integer".into()]);
/// let outcome = Outcome { position: RecordPosition::Line(7), id: None, result: Err(error) };
/// assert_eq!(outcome.message().as_deref(), Some("line 7: year must be an integer"));
/// ```
#[derive(Debug)]
pub struct Outcome {
    /// Where the record is in the file.
    pub position: RecordPosition,
    /// The id of the robot that the record has added, or that it finds.
    pub id: Option<RobotId>,
    /// What was stored, or why nothing was.
    pub result: Result<Stored, ImportError>,
}

impl Outcome {
    /// The message about a record that failed, with its position.
    #[must_use]
    pub fn message(&self) -> Option<String> {
        let error = self.result.as_ref().err()?;
        let messages = error.messages().join("; ");
        Some(format!("{}: {messages}", self.position))
    }
}

/// The result of a record that did not fail.
///
/// ```
/// use robot_core::transfer::{Outcome, RecordPosition, Stored};
///
/// let outcome = Outcome { position: RecordPosition::Line(7), id: None, result: Ok(Stored::Skipped) };
/// assert!(matches!(outcome.result, Ok(Stored::Skipped)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// A robot was added.
    Added,
    /// The robot that the record finds got the values of the record.
    Replaced,
    /// The robot that the record finds has the values of the record already.
    Unchanged,
    /// The robot kept its values.
    Skipped,
}

/// Why a record was not stored.
///
/// ```
/// use robot_core::{Error, Violation, transfer::ImportError};
///
/// let error = ImportError::from(Error::from(Violation::NAME_TAKEN));
/// assert_eq!(error.messages(), ["The robot name must be unique"]);
/// assert!(error.is_record_error());
/// assert!(!ImportError::from(Error::store("disk failure")).is_record_error());
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The record cannot be parsed: messages for the person who can correct it.
    #[error("{}", Message::joined(.0, "; "))]
    Malformed(Vec<Message>),
    /// The robot violates rules, or the store failed.
    #[error(transparent)]
    Store(#[from] Error),
    /// A robot has all values of the record already, and names are not unique.
    #[error("The same robot is there already")]
    Present,
    /// No more records can be read.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    /// An atomic import has more records than it may have.
    #[error(
        "An atomic import has at most {ATOMIC_LIMIT} records; divide the file, or import it without \
         'atomic'"
    )]
    TooMany,
}

impl ImportError {
    /// The messages, at least one, with the cause of a failure of the store; those of violated rules are
    /// exactly the contract's.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        match self {
            Self::Malformed(messages) => messages.iter().map(ToString::to_string).collect(),
            Self::Store(Error::Rejected(violations)) => violations.messages(),
            Self::Store(error) => vec![error.with_cause()],
            Self::Present | Self::Unreadable(_) | Self::TooMany => vec![self.to_string()],
        }
    }

    /// Whether robots have the unique values of the record, and nothing else is wrong with it.
    pub(super) fn is_taken(&self) -> bool {
        match self {
            Self::Store(Error::Rejected(violations)) => {
                violations.iter().all(|one| one.rule() == Rule::Taken)
            }
            _ => false,
        }
    }

    /// Whether only this record is affected, so that later ones may succeed.
    #[must_use]
    pub fn is_record_error(&self) -> bool {
        matches!(
            self,
            Self::Malformed(_) | Self::Present | Self::Store(Error::Rejected(_))
        )
    }
}

/// A value of a robot that an import would change.
#[derive(serde::Serialize, Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangedValue {
    /// The id of the robot.
    pub id: RobotId,
    /// Its name before the import.
    pub name: String,
    /// The name of the field.
    pub field: String,
    /// The value before the import; `None` if there is none.
    pub before: Option<Value<'static>>,
    /// The value after it.
    pub after: Option<Value<'static>>,
}

/// The number of records by outcome.
///
/// ```
/// use robot_core::transfer::{Outcome, RecordPosition, Stored, ImportCounts};
///
/// let mut summary = ImportCounts::default();
/// for (line, stored) in [(1, Stored::Added), (2, Stored::Skipped)] {
///     let position = RecordPosition::Line(line);
///     summary.count(&Outcome { position, id: None, result: Ok(stored) });
/// }
/// assert_eq!((summary.added, summary.skipped, summary.records()), (1, 1, 2));
/// ```
#[derive(serde::Serialize, Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportCounts {
    /// Robots added.
    pub added: u64,
    /// Robots replaced.
    pub replaced: u64,
    /// Robots that were the same already.
    #[serde(skip_serializing_if = "is_zero")]
    pub unchanged: u64,
    /// Records skipped, because their robots exist.
    pub skipped: u64,
    /// Records that failed.
    pub failed: u64,
}

impl ImportCounts {
    /// Adds an outcome.
    pub fn count(&mut self, outcome: &Outcome) {
        let counter = match outcome.result {
            Ok(Stored::Added) => &mut self.added,
            Ok(Stored::Replaced) => &mut self.replaced,
            Ok(Stored::Unchanged) => &mut self.unchanged,
            Ok(Stored::Skipped) => &mut self.skipped,
            Err(_) => &mut self.failed,
        };
        *counter += 1;
    }

    /// The total number of records.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.added + self.replaced + self.unchanged + self.skipped + self.failed
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde calls"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
