//! Survey of a file: what is known about its columns before fields are chosen, found by reading all of it.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    io::Read,
};

use serde::{Serialize, Serializer};

use super::{
    columns::{Columns, Meaning, normalized, twice},
    evidence::Evidence,
    position::RecordPosition,
    record::ReadError,
    records::Records,
};
use crate::model::{Field, Member, Reading};

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
    pub reason: ColumnReason,
    /// The texts that the user has said to mean no value, and how many values of the column each of them empties.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub emptied: BTreeMap<String, u64>,
}

/// Why a column is stored as it is, or not stored. Its text is for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnReason {
    /// It stands for a field that the catalogue has.
    #[default]
    Known,
    /// It stands for no field.
    LeftOut,
    /// No record has a value.
    Empty,
    /// It has no heading, and numbers the records.
    Numbering,
    /// The columns that need new fields are more than there is room for, and others have more values.
    NoRoom {
        /// The number of columns.
        columns: usize,
        /// The number of fields that there is room for.
        room: usize,
    },
    /// This name differs from another one by blanks at its ends only.
    BlankTwin(String),
    /// It is a new field, of a kind for this reason.
    New(String),
    /// Columns stand for the same field, so that no other one was planned.
    NotPlanned,
}

impl fmt::Display for ColumnReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Known => "",
            Self::LeftOut => "left out",
            Self::Empty => "left out: no record has a value",
            Self::Numbering => "left out: it numbers the records",
            Self::NoRoom { columns, room } => &format!(
                "left out: the file needs {columns} new fields, and there is room for {room}; these have most values"
            ),
            Self::BlankTwin(name) => {
                &format!("warning: {name} differs from another name by blanks at its ends only")
            }
            Self::New(reason) => reason,
            Self::NotPlanned => "not planned yet",
        };
        formatter.write_str(text)
    }
}

impl Serialize for ColumnReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What is known about a file before its fields are chosen.
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent properties"
)]
#[derive(Default)]
pub(super) struct Survey {
    pub(super) columns: Vec<Evidence>,
    /// The indices of the columns by their headings.
    indices: HashMap<String, usize>,
    /// Whether a header names all columns.
    has_header: bool,
    /// The number of records.
    pub(super) records: u64,
    /// Whether commas separate the columns.
    pub(super) has_commas: bool,
    /// Whether blanks around headings show that those around values are no part of them.
    pub(super) is_padded: bool,
    /// Whether the catalogue has no robots, so that no robot has a type yet.
    pub(super) is_of_empty_catalogue: bool,
    /// What is wrong if two columns stand for the same field.
    pub(super) repeated: Option<String>,
    pub(super) finds_choices: bool,
}

impl Survey {
    /// Reads the whole file.
    pub(super) fn new<R: Read>(records: Records<R>, columns: &Columns) -> Result<Self, ReadError> {
        let mut records = records.with_columns(columns.clone());
        let mut columns = columns.clone();
        let malformed = |position, message: String| ReadError::Malformed {
            position,
            message: message.into(),
        };
        let headings = records.headings()?.into_iter().map(str::to_owned);
        let headings: Vec<_> = headings.collect();
        let mut survey = Self {
            has_header: !headings.is_empty(),
            has_commas: records.has_commas(),
            is_padded: headings.iter().any(|heading| heading.trim() != heading),
            ..Self::default()
        };
        let headings: Vec<_> = headings.iter().map(String::as_str).collect();
        let added = survey.add(&mut columns, &headings);
        added.map_err(|message| malformed(RecordPosition::Line(1), message))?;
        while let Some(position) = records.next_position()? {
            survey.records += 1;
            // The plan counts a record that is malformed as a failure.
            let Ok(cells) = records.cells() else {
                continue;
            };
            let new = cells.iter().map(|(heading, _)| &**heading);
            let new = new.filter(|heading| !survey.indices.contains_key(*heading));
            let new: Vec<_> = new.collect();
            let added = survey.add(&mut columns, &new);
            added.map_err(|message| malformed(position, message))?;
            for (heading, cell) in cells {
                let index = survey.indices.get(&*heading);
                if let Some(evidence) = index.and_then(|index| survey.columns.get_mut(*index)) {
                    evidence.add(position, survey.records, cell);
                }
            }
        }
        if survey.records > 0 || survey.has_header {
            let checked = columns.check_choices(&survey.headings());
            checked.map_err(|message| malformed(RecordPosition::Line(1), message))?;
        }
        Ok(survey)
    }

    /// The headings of the columns.
    pub(super) fn headings(&self) -> Vec<&str> {
        let columns = self.columns.iter();
        columns.map(|column| column.heading.as_str()).collect()
    }

    /// Adds columns that are new. Members of JSON whose names differ only by their case are one column.
    fn add(&mut self, columns: &mut Columns, headings: &[&str]) -> Result<(), String> {
        columns.find(headings)?;
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
                    self.indices.insert((*heading).to_owned(), twin);
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
                trims: self.is_padded,
                ..columns.reading.clone()
            };
            let is_name = meaning.field().map(Field::member) == Some(Member::Name);
            let is_key = is_name || normal == Field::ID.name();
            let number = self.columns.len() + 1;
            self.indices
                .insert((*heading).to_owned(), self.columns.len());
            let evidence = Evidence::new(heading, number, meaning, reading, is_key);
            self.columns.push(evidence);
        }
        Ok(())
    }

    /// The columns for people, with a reason for each. What is wrong with them is reported elsewhere.
    pub(super) fn listed(&self, columns: &Columns, reasons: &[ColumnReason]) -> Vec<PlannedColumn> {
        let mut columns = columns.clone();
        let _ = columns.find(&self.headings());
        let planned = self.columns.iter().zip(reasons).map(|(column, reason)| {
            let field = match columns.found(&column.heading).map(|found| &found.meaning) {
                Some(Meaning::Field(field)) => Some(field.name().to_owned()),
                Some(Meaning::New(name)) => Some(name.clone()),
                _ => None,
            };
            let reason = match (&column.meaning, reason) {
                (Meaning::Unknown | Meaning::New(_), _) if self.repeated.is_some() => {
                    ColumnReason::NotPlanned
                }
                (_, ColumnReason::Known) if field.is_none() => ColumnReason::LeftOut,
                (_, reason) => reason.clone(),
            };
            PlannedColumn {
                heading: column.heading.clone(),
                number: column.number,
                field,
                reason,
                emptied: column.emptied.clone(),
            }
        });
        planned.collect()
    }
}
