//! Plan of an import: what it will do, found by reading the whole file against the catalogue.

use std::{
    collections::HashMap,
    io::{self, Read},
    sync::Arc,
};

use serde::Serialize;

use super::{
    columns::{Columns, Meaning, normalized, twice},
    evidence::Evidence,
    fields::{Fields, ProposalError, ProposedChange, Survey},
    import::Import,
    outcome::{ImportCounts, ImportError, ImportOptions, OnConflict, Outcome},
    position::Position,
    record::ReadError,
    records::Records,
};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Error, Filter, Redefinition},
    model::{Definition, Field, Reading},
};

/// The number of failures that a plan has.
const FAILURES: usize = 5;

/// What the caller of a plan wants.
///
/// ```
/// use robot_core::transfer::{OnConflict, PlanOptions};
///
/// let options = PlanOptions { defines: true, on_conflict: OnConflict::Skip, ..PlanOptions::default() };
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent options"
)]
pub struct PlanOptions {
    /// Whether the catalogue gets the fields that the file needs.
    pub defines: bool,
    /// Whether texts that are few and repeated become choices.
    pub finds_choices: bool,
    /// What to do with robots that exist.
    pub on_conflict: OnConflict,
    /// Whether records that equal a robot are added.
    pub adds_equal: bool,
    /// Whether the import continues after a record has failed.
    pub keeps_going: bool,
}

/// What an import will do: what each column stands for, the fields that are needed, and the numbers of records that are
/// added, changed and so on. Nothing is stored before a plan is whole.
///
/// ```
/// use robot_core::{Catalogue, MemoryCatalogue};
/// use robot_core::transfer::{Columns, Format, Plan, PlanOptions, Records};
///
/// let catalogue = MemoryCatalogue::new();
/// let file = "Name;Type;Year;Accession No\nOwl;coin;-450;1920.7\n";
/// let open = || Ok(Records::new(file.as_bytes(), Format::Csv));
/// let options = PlanOptions { defines: true, ..PlanOptions::default() };
/// let plan = Plan::new(&catalogue, open, Columns::of(catalogue.definition()), options, &mut |_| {})?;
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
    /// How the records are imported.
    pub options: ImportOptions,
    /// What the records will do.
    pub counts: ImportCounts,
    /// The first records that will fail, and why.
    pub failures: Vec<String>,
    /// The number of records that fail because they equal a robot.
    pub equal: u64,
    /// The number of records that fail because robots have their unique values.
    pub taken: u64,
    /// The field that could find the robots that the records change.
    pub key: Option<Field>,
    /// The definition before.
    present: Arc<Definition>,
}

/// A column of a file, and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PlannedColumn {
    /// The heading; `#3` for the third column if it has none.
    pub heading: String,
    /// The number of the column, from 1.
    pub number: usize,
    /// The name of the field; `None` if the column is not stored.
    pub field: Option<String>,
    /// What the values are, or why the column is not stored.
    pub reason: String,
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
    /// do. Records that fail are passed to `on_failure`.
    ///
    /// # Errors
    /// The file cannot be read, no definition fits it, or the options do not fit.
    pub fn new<C: Catalogue, R: Read>(
        catalogue: C,
        open: impl Fn() -> io::Result<Records<R>>,
        columns: Columns,
        options: PlanOptions,
        on_failure: &mut dyn FnMut(&Outcome),
    ) -> Result<Self, PlanError> {
        let open = || {
            open().map_err(|cause| ReadError::Input {
                position: Position::Line(0),
                cause,
            })
        };
        let present = Arc::clone(&columns.definition);
        let mut survey = survey(open()?, &columns)?;
        survey.is_of_empty_catalogue = catalogue.count(&Filter::all())? == 0;
        survey.finds_choices = options.finds_choices;
        if let Some(message) = &survey.repeated {
            let reason = |column: &Evidence| match column.meaning {
                Meaning::Unknown | Meaning::New(_) => "not planned yet".to_owned(),
                Meaning::Field(_) | Meaning::LeftOut => String::new(),
            };
            let reasons: Vec<_> = survey.columns.iter().map(reason).collect();
            return Err(PlanError::Unfit {
                error: ProposalError::Twice(message.clone()),
                columns: listed(&survey, &columns, &reasons),
            });
        }
        let mut fields = Fields::present(&survey, columns);
        let mut definition = Arc::clone(&present);
        if options.defines {
            match fields.define() {
                Ok(defined) => definition = Arc::new(defined),
                Err(error) => {
                    let columns = listed(&survey, &fields.columns, &fields.reasons);
                    return Err(PlanError::Unfit { error, columns });
                }
            }
        }
        let Fields {
            columns,
            changes,
            reasons,
            ..
        } = fields;
        let mut columns = columns.redefined(Arc::clone(&definition));
        let listed = listed(&survey, &columns, &reasons);
        let unknown = survey
            .columns
            .iter()
            .zip(&reasons)
            .filter(|(column, reason)| {
                let is_unknown = matches!(column.meaning, Meaning::Unknown | Meaning::New(_));
                is_unknown && reason.is_empty()
            });
        let unknown: Vec<_> = unknown.map(|(column, _)| column.heading.clone()).collect();
        if columns.is_strict && !options.defines && !unknown.is_empty() {
            return Err(PlanError::Unknown(unknown));
        }
        columns.is_strict = false;
        let import = import_options(&columns, options, &definition)?;
        let mut plan = Self {
            options: import,
            counts: ImportCounts::default(),
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
        plan.try_records(catalogue, open()?, on_failure)?;
        Ok(plan)
    }

    /// Finds out what the records do.
    fn try_records<C: Catalogue, R: Read>(
        &mut self,
        catalogue: C,
        records: Records<R>,
        on_failure: &mut dyn FnMut(&Outcome),
    ) -> Result<(), PlanError> {
        let mut records = records.with_columns(self.columns.clone());
        records.read_header()?;
        let mut import = Import::dry_run(catalogue, &mut records, self.options, &self.definition);
        for outcome in import.by_ref() {
            self.counts.count(&outcome);
            let error = match &outcome.result {
                Ok(_) => continue,
                Err(error) if error.is_record_error() => error,
                Err(_) => return Err(outcome.into()),
            };
            let position = outcome.position;
            self.equal += u64::from(matches!(error, ImportError::Present));
            self.taken += u64::from(error.is_taken());
            if self.failures.len() < FAILURES {
                let messages = self.definition.worded(&error.messages().join("; "));
                self.failures.push(format!("{position}: {messages}"));
            }
            on_failure(&outcome);
        }
        self.key = import.candidate(self.counts.records());
        Ok(())
    }

    /// The change of the definition that the import needs, if it needs one.
    #[must_use]
    pub fn redefinition(&self) -> Option<Redefinition> {
        (!self.changes.is_empty()).then(|| {
            let mut redefinition = Redefinition::new(Definition::clone(&self.definition));
            redefinition.expected = Some(self.present.revision());
            redefinition
        })
    }

    /// Takes the new fields back, after nothing was imported. Returns whether they are taken back: not if robots of other
    /// clients have values of them.
    pub fn take_back(&self, catalogue: &dyn Catalogue) -> bool {
        self.changes.is_empty() || {
            let mut back = Redefinition::new(Definition::clone(&self.present));
            back.expected = Some(self.present.revision().next());
            catalogue.define(back).is_ok()
        }
    }

    /// What the caller can choose so that records do not fail, or change robots, for people: with the ways to give a key,
    /// to skip, and to add equal records.
    #[must_use]
    pub fn advice(&self, matching: &str, skip: &str, add_equal: &str) -> Vec<String> {
        let mut advice = Vec::new();
        match self.key {
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

impl From<Outcome> for PlanError {
    /// The failure of the file or the store.
    fn from(outcome: Outcome) -> Self {
        match outcome.result {
            Err(ImportError::Unreadable(error)) => error.into(),
            Err(ImportError::Store(error)) => error.into(),
            other => Self::Options(
                other
                    .err()
                    .map_or_else(String::new, |error| error.to_string()),
            ),
        }
    }
}

/// The options of the import.
fn import_options(
    columns: &Columns,
    options: PlanOptions,
    definition: &Definition,
) -> Result<ImportOptions, PlanError> {
    let key = columns.key.as_deref();
    let key = key.map(|name| {
        definition
            .field(name)
            .ok_or_else(|| format!("{name} is not a field"))
    });
    let import = ImportOptions {
        key: key.transpose().map_err(PlanError::Options)?,
        on_conflict: options.on_conflict,
        adds_equal: options.adds_equal,
        keeps_going: options.keeps_going,
        is_dry_run: false,
    };
    import.check(definition).map_err(PlanError::Options)?;
    Ok(import)
}

/// Reads the whole file, and finds out what its columns are.
fn survey<R: Read>(records: Records<R>, columns: &Columns) -> Result<Survey, ReadError> {
    let mut records = records.with_columns(columns.clone());
    let mut columns = columns.clone();
    let malformed = |position, message: String| ReadError::Malformed {
        position,
        message: message.into(),
    };
    let headings = records.headings()?.into_iter().map(str::to_owned);
    let headings: Vec<_> = headings.collect();
    let mut survey = Survey {
        columns: Vec::new(),
        indices: HashMap::new(),
        records: 0,
        has_header: !headings.is_empty(),
        has_commas: records.has_commas(),
        is_padded: headings.iter().any(|heading| heading.trim() != heading),
        repeated: None,
        is_of_empty_catalogue: false,
        finds_choices: false,
    };
    let added = survey.add(&mut columns, &headings);
    added.map_err(|message| malformed(Position::Line(1), message))?;
    while let Some(position) = records.next_position()? {
        survey.records += 1;
        // The plan counts a record that is malformed as a failure.
        let Ok(cells) = records.cells() else {
            continue;
        };
        let new = cells.iter().map(|(heading, _)| heading);
        let new = new.filter(|heading| !survey.indices.contains_key(&***heading));
        let new: Vec<_> = new.map(|heading| (**heading).to_owned()).collect();
        let added = survey.add(&mut columns, &new);
        added.map_err(|message| malformed(position, message))?;
        for (heading, cell) in cells {
            let index = survey.indices.get(&*heading);
            if let Some(evidence) = index.and_then(|index| survey.columns.get_mut(*index)) {
                evidence.add(position, survey.records, cell);
            }
        }
    }
    let headings = survey.columns.iter().map(|column| column.heading.as_str());
    let headings: Vec<_> = headings.collect();
    if survey.records > 0 || survey.has_header {
        let checked = columns.check_choices(&headings);
        checked.map_err(|message| malformed(Position::Line(1), message))?;
    }
    Ok(survey)
}

impl Survey {
    /// Adds columns that are new. Members of JSON whose names differ only by their case are one column.
    fn add(&mut self, columns: &mut Columns, headings: &[String]) -> Result<(), String> {
        columns.find(&headings.iter().map(String::as_str).collect::<Vec<_>>())?;
        for heading in headings {
            let found = columns.found(heading);
            let meaning = found.map_or(Meaning::Unknown, |column| column.meaning.clone());
            let normal = normalized(heading);
            let is_twin = |other: &Evidence| match (&other.meaning, &meaning) {
                (Meaning::LeftOut, _) | (_, Meaning::LeftOut) => false,
                (Meaning::Unknown, Meaning::Unknown) => normalized(&other.heading) == normal,
                (one, other) => one == other,
            };
            let twin = self.columns.iter().position(is_twin);
            if let Some(twin) = twin {
                if !self.has_header {
                    self.indices.insert(heading.clone(), twin);
                    continue;
                }
                let other = &self.columns[twin].heading;
                if other == heading.trim() {
                    return Err(twice("the same field", other, heading));
                }
                self.repeated
                    .get_or_insert_with(|| twice("the same field", other, heading));
            }
            let reading = Reading {
                nulls: columns.nulls.clone(),
                dates: columns.dates,
                trims: self.is_padded,
                ..Reading::default()
            };
            let is_key = meaning.field() == Some(Field::NAME) || normal == Field::ID.name();
            let number = self.columns.len() + 1;
            self.indices.insert(heading.clone(), self.columns.len());
            let evidence = Evidence::new(heading, number, meaning, reading, is_key);
            self.columns.push(evidence);
        }
        Ok(())
    }
}

fn listed(survey: &Survey, columns: &Columns, reasons: &[String]) -> Vec<PlannedColumn> {
    let mut columns = columns.clone();
    let headings: Vec<_> = survey
        .columns
        .iter()
        .map(|column| column.heading.as_str())
        .collect();
    // What is wrong with them is reported elsewhere.
    let _ = columns.find(&headings);
    let planned = survey.columns.iter().zip(reasons).map(|(column, reason)| {
        let field = match columns.found(&column.heading).map(|found| &found.meaning) {
            Some(Meaning::Field(field)) => Some(field.name().to_owned()),
            Some(Meaning::New(name)) => Some(name.clone()),
            _ => None,
        };
        let reason = match (&field, reason.as_str()) {
            (None, "") => "left out",
            (_, reason) => reason,
        };
        PlannedColumn {
            heading: column.heading.clone(),
            number: column.number,
            field,
            reason: reason.to_owned(),
        }
    });
    planned.collect()
}
