//! Plan of an import: what it will do, found by reading the whole file against the catalogue.

use std::{
    io::{self, Read},
    sync::Arc,
};

use super::{
    columns::{Columns, Meaning},
    fields::{Fields, ProposedChange},
    import::Import,
    new_field::ProposalError,
    outcome::{ChangedValue, ImportCounts, ImportError, ImportOptions, Outcome},
    position::RecordPosition,
    record::ReadError,
    records::Records,
    survey::{ColumnReason, PlannedColumn, Survey},
};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Error, Filter, Redefinition},
    model::{Definition, Field, Revision},
};

/// What the caller of a plan wants.
///
/// ```
/// use robot_core::transfer::{OnConflict, PlanOptions};
///
/// let mut options = PlanOptions { defines: true, ..PlanOptions::default() };
/// options.import.on_conflict = OnConflict::Skip;
/// ```
#[derive(Debug, Clone, Default)]
pub struct PlanOptions {
    /// Whether the catalogue gets the fields that the file needs.
    pub defines: bool,
    /// Whether texts that are few and repeated become choices.
    pub finds_choices: bool,
    /// How the records are imported. The columns name the key.
    pub import: ImportOptions,
}

/// What an import will do: what each column stands for, the fields that are needed, and the numbers of records that are
/// added, changed and so on. Nothing is stored before a plan is whole.
///
/// ```
/// use robot_core::{Catalogue, MemoryCatalogue};
/// use robot_core::transfer::{Columns, FileFormat, Plan, PlanOptions, Records};
///
/// let catalogue = MemoryCatalogue::new();
/// let file = "Name;Type;Year;Accession No\nOwl;coin;-450;1920.7\n";
/// let open = || Ok(Records::new(file.as_bytes(), FileFormat::Csv));
/// let options = PlanOptions { defines: true, ..PlanOptions::default() };
/// let plan = Plan::new(&catalogue, open, Columns::of(catalogue.definition()), options, 5)?;
/// let names = plan.definition.settable().iter().map(|field| field.name());
/// assert!(names.eq(["name", "type", "year", "accession_no"]));
/// let changes = plan.changes.iter().map(|change| (change.field.as_str(), change.reason.as_str()));
/// assert!(changes.eq([
///     ("type", "the file has other types"),
///     ("year", "the least is -450"),
///     ("accession_no", "new: a number because of '1920.7' (line 2)"),
/// ]));
/// assert_eq!(plan.counts.added, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Plan {
    /// The definition that the import needs.
    pub definition: Arc<Definition>,
    /// What the columns stand for in a catalogue with this definition.
    pub columns: Columns,
    /// The fields that are new or change, in the order of the columns.
    pub changes: Vec<ProposedChange>,
    /// The columns of the file, in their order.
    pub listed: Vec<PlannedColumn>,
    /// How the records are imported. Those that fail are known, so that the import continues after them.
    pub options: ImportOptions,
    /// What the records will do.
    pub counts: ImportCounts,
    /// The first values of robots that will change.
    pub changed: Vec<ChangedValue>,
    /// The first records that will fail.
    pub failures: Vec<Outcome>,
    /// The number of records that fail because they equal a robot.
    pub equal: u64,
    /// The number of records that fail because robots have their unique values.
    pub taken: u64,
    /// The field that could find the robots that the records change.
    pub key: Option<Field>,
    /// The definition before.
    present: Arc<Definition>,
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    /// No definition fits the file.
    #[error("{error}")]
    Unfit {
        /// Why.
        #[source]
        error: ProposalError,
        /// The columns of the file, as far as they are known.
        columns: Vec<PlannedColumn>,
    },
    /// Columns are no fields, and not left out.
    #[error("the catalogue does not have the columns {}", .0.join(", "))]
    Unknown(Vec<String>),
    /// The options do not fit the catalogue.
    #[error("{0}")]
    Options(String),
    /// The catalogue cannot be read.
    #[error(transparent)]
    Store(#[from] Error),
}

impl Plan {
    /// Plans an import of a file, which is opened and read twice: to find out what its columns are, and what its records
    /// do. The plan has up to this number of failures.
    ///
    /// # Errors
    /// The file cannot be read, no definition fits it, or the options do not fit.
    pub fn new<C: Catalogue, R: Read>(
        catalogue: C,
        open: impl Fn() -> io::Result<Records<R>>,
        columns: Columns,
        options: PlanOptions,
        failures: usize,
    ) -> Result<Self, PlanError> {
        let open = || {
            open().map_err(|cause| ReadError::Input {
                position: RecordPosition::Line(0),
                cause,
            })
        };
        let present = Arc::clone(&columns.definition);
        let mut survey = Survey::new(open()?, &columns)?;
        survey.is_of_empty_catalogue = catalogue.count(&Filter::all())? == 0;
        survey.finds_choices = options.finds_choices;
        let mut fields = Fields::present(&survey, columns);
        let defined = match &survey.repeated {
            Some(message) => Err(ProposalError::Columns(message.clone())),
            None if options.defines => fields.define().map(Arc::new),
            None => Ok(Arc::clone(&present)),
        };
        let definition = defined.map_err(|error| PlanError::Unfit {
            error,
            columns: survey.listed(&fields.columns, &fields.reasons),
        })?;
        let Fields {
            columns,
            changes,
            reasons,
            ..
        } = fields;
        let mut columns = columns.redefined(Arc::clone(&definition));
        let listed = survey.listed(&columns, &reasons);
        let unknown = survey
            .columns
            .iter()
            .zip(&reasons)
            .filter(|(column, reason)| {
                let is_unknown = matches!(column.meaning, Meaning::Unknown | Meaning::New(_));
                is_unknown && **reason == ColumnReason::Known
            });
        let unknown: Vec<_> = unknown.map(|(column, _)| column.heading.clone()).collect();
        if columns.is_strict && !options.defines && !unknown.is_empty() {
            return Err(PlanError::Unknown(unknown));
        }
        columns.is_strict = false;
        let mut plan = Self {
            options: import_options(&columns, options.import, &definition)?,
            counts: ImportCounts::default(),
            changed: Vec::new(),
            failures: Vec::new(),
            equal: 0,
            taken: 0,
            key: None,
            definition,
            columns,
            changes,
            listed,
            present,
        };
        plan.try_records(catalogue, open()?, failures)?;
        Ok(plan)
    }

    /// Finds out what the records do.
    fn try_records<C: Catalogue, R: Read>(
        &mut self,
        catalogue: C,
        records: Records<R>,
        failures: usize,
    ) -> Result<(), PlanError> {
        let mut records = records.with_columns(self.columns.clone());
        records.read_header()?;
        let options = self.options.clone();
        let mut import = Import::dry_run(catalogue, &mut records, options, &self.definition);
        for outcome in import.by_ref() {
            self.counts.count(&outcome);
            let Err(error) = &outcome.result else {
                continue;
            };
            if !error.is_record_error() {
                return outcome.result.map(drop).map_err(PlanError::from);
            }
            self.equal += u64::from(matches!(error, ImportError::Present));
            self.taken += u64::from(error.is_taken());
            if self.failures.len() < failures {
                self.failures.push(outcome);
            }
        }
        self.key = import.candidate(self.counts.records());
        self.changed = import.changed;
        Ok(())
    }

    /// The change of the definition that the import needs, if it needs one.
    #[must_use]
    pub fn redefinition(&self) -> Option<Redefinition> {
        let change = || redefinition(&self.definition, self.present.revision());
        (!self.changes.is_empty()).then(change)
    }

    /// Takes the new fields back, after nothing was imported. Returns whether they are taken back: not if robots of other
    /// clients have values of them.
    pub fn take_back(&self, catalogue: &dyn Catalogue) -> bool {
        let back = || redefinition(&self.present, self.present.revision().next());
        self.changes.is_empty() || catalogue.define(back()).is_ok()
    }

    /// What the caller can choose so that records do not fail, or change robots, for people: with the ways to give a key,
    /// to skip, and to add equal records.
    #[must_use]
    pub fn advice(&self, matching: &str, skip: &str, add_equal: &str) -> Vec<String> {
        let mut advice = Vec::new();
        match &self.key {
            Some(key) => advice.push(format!("To change these robots, add {matching}{key}")),
            None if self.taken > 0 => {
                advice.push(format!(
                    "To skip the records whose robots exist, add {skip}"
                ));
            }
            None => {}
        }
        if self.equal > 0 {
            let (equal, records) = (self.equal, self.counts.records());
            advice.push(format!(
                "{equal} of {records} records are there already; to leave them as they are, add {skip}, or to add \
                 them again, {add_equal}"
            ));
        }
        let advice = advice.iter().map(|text| self.definition.worded(text));
        advice.collect()
    }
}

impl From<ImportError> for PlanError {
    /// The failure of the file or the store.
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Unreadable(error) => error.into(),
            ImportError::Store(error) => error.into(),
            error => Self::Options(error.to_string()),
        }
    }
}

fn redefinition(definition: &Definition, expected: Revision) -> Redefinition {
    let mut redefinition = Redefinition::new(definition.clone());
    redefinition.expected = Some(expected);
    redefinition
}

/// The options of the import, which finds robots by the key of the columns.
fn import_options(
    columns: &Columns,
    mut options: ImportOptions,
    definition: &Definition,
) -> Result<ImportOptions, PlanError> {
    let key = columns.key.as_deref().map(|name| {
        let field = definition.field(name).cloned();
        field.ok_or_else(|| PlanError::Options(format!("{name} is not a field")))
    });
    options.key = key.transpose()?;
    options.keeps_going = true;
    options.check(definition).map_err(PlanError::Options)?;
    Ok(options)
}
