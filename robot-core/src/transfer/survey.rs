//! Survey of a file: its columns, and the kinds of their values.

use std::{
    collections::{BTreeSet, HashMap},
    io::Read,
};

use super::{
    columns::{Columns, Meaning, normalized},
    names::Names,
    outcome::ImportError,
    position::Position,
    record::{Cell, ReadError},
    records::Records,
};
use crate::model::{CHOICE_LIMIT, Field, excerpt, is_date};

/// The maximum number of columns, which bounds the memory of a survey.
const COLUMN_LIMIT: usize = 1000;

/// The columns of a file, from a reading of the whole file.
///
/// ```
/// use robot_core::transfer::{Format, Records};
///
/// let file = "name,type,year,maker\nR2-D2,droid,1977,Industrial Automaton\n";
/// let survey = Records::new(file.as_bytes(), Format::Csv).survey()?;
/// let fields: Vec<_> = survey.fields(&survey.given).collect();
/// assert_eq!(fields[2..], [("year", Some("year")), ("maker", None)]);
/// # Ok::<(), robot_core::transfer::ReadError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Survey {
    /// The columns as they were given.
    pub given: Columns,
    pub(super) columns: Vec<Column>,
    /// The indices of the columns by their normalized headings; `None` for those that are left out.
    indices: HashMap<String, Option<usize>>,
    /// The number of records.
    pub(super) records: u64,
    /// Whether the catalogue has no robots, so that no robot has a type yet.
    pub is_of_empty_catalogue: bool,
}

/// A column, or the members of JSON records with a name.
#[derive(Debug, Default)]
pub(super) struct Column {
    pub(super) heading: String,
    /// The field that it stands for, if the catalogue has it.
    pub(super) field: Option<Field>,
    /// The number of records that have a value.
    pub(super) values: u64,
    /// The kinds that all values are of.
    pub(super) kinds: Vec<ValueKind>,
    /// The first value that is no integer.
    pub(super) text: Option<(Position, String)>,
    /// The first value that begins like a number, but leaves only texts as the kind of the column.
    pub(super) text_only: Option<(Position, String)>,
    /// The maximum number of characters.
    pub(super) length: usize,
    /// The least integer.
    pub(super) least: Option<i64>,
    /// The different values, unless a field cannot have so many choices.
    pub(super) choices: Option<BTreeSet<String>>,
    /// The first name that occurs again.
    pub(super) repeated: Option<String>,
    /// The names, if it is their column.
    names: Names,
}

/// The kinds of values, the most special first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    Integer,
    Number,
    Boolean,
    Date,
    Text,
}

impl<R: Read> Records<R> {
    /// Reads the whole file, and finds out what its columns are. Records that are malformed are left out.
    ///
    /// # Errors
    /// The input cannot be read, or does not have its format, or all records are malformed.
    pub fn survey(mut self) -> Result<Survey, ReadError> {
        let mut survey = Survey {
            given: self.columns().clone(),
            columns: Vec::new(),
            indices: HashMap::new(),
            records: 0,
            is_of_empty_catalogue: false,
        };
        let malformed = |position, message: String| ReadError::Malformed {
            position,
            message: message.into(),
        };
        for heading in self.headings()? {
            let known = survey.columns.len();
            if survey.index(heading).is_some_and(|index| index < known) {
                let message =
                    format!("The header names the column '{heading}' twice; name it once");
                return Err(malformed(Position::Line(1), message));
            }
        }
        let mut left_out = None;
        while let Some(position) = self.next_position()? {
            let cells = match self.cells() {
                Ok(cells) => cells,
                Err(messages) => {
                    left_out.get_or_insert((position, ImportError::Malformed(messages)));
                    continue;
                }
            };
            survey.records += 1;
            for (heading, cell) in cells {
                if let Some(index) = survey.index(&heading) {
                    survey.columns[index].add(position, cell);
                }
            }
            if survey.columns.len() > COLUMN_LIMIT {
                let message = format!("The records have more than {COLUMN_LIMIT} columns");
                return Err(malformed(position, message));
            }
        }
        match left_out {
            Some((position, error)) if survey.records == 0 => {
                Err(malformed(position, error.to_string()))
            }
            _ => Ok(survey),
        }
    }
}

impl Survey {
    /// The headings of the columns, and the names of the fields that they stand for with these columns; `None` for
    /// columns that are not stored.
    pub fn fields<'a>(
        &'a self,
        columns: &'a Columns,
    ) -> impl Iterator<Item = (&'a str, Option<&'static str>)> {
        self.columns.iter().map(|column| {
            let field = columns.meaning(&column.heading).field();
            (column.heading.as_str(), field.map(Field::name))
        })
    }

    /// The index of a column, which is added if it is new; `None` if it is left out.
    fn index(&mut self, heading: &str) -> Option<usize> {
        let normal = normalized(heading);
        if let Some(index) = self.indices.get(&normal) {
            return *index;
        }
        let meaning = self.given.meaning(heading);
        let index = (meaning != Meaning::LeftOut).then_some(self.columns.len());
        self.indices.insert(normal, index);
        if index.is_some() {
            self.columns.push(Column {
                heading: heading.trim().to_owned(),
                field: meaning.field(),
                kinds: ValueKind::ALL.to_vec(),
                choices: Some(BTreeSet::new()),
                ..Column::default()
            });
        }
        index
    }
}

impl Column {
    fn add(&mut self, position: Position, cell: Cell<'_>) {
        let (text, kinds) = match cell {
            Cell::Text(text) => {
                let text = String::from_utf8_lossy(text);
                let kinds = ValueKind::of_text(&text);
                (text, kinds)
            }
            Cell::Json(json) => match serde_json::from_str::<String>(json) {
                Ok(text) => {
                    let mut kinds = ValueKind::of_text(&text);
                    kinds.retain(|kind| kind.is_text());
                    (text.into(), kinds)
                }
                Err(_) => (json.into(), ValueKind::of_json(json)),
            },
        };
        if cell.is_missing() {
            return;
        }
        if text.is_empty() {
            // In JSON, other values than texts cannot be empty.
            self.kinds.retain(|kind| kind.is_text());
            return;
        }
        let text = &*text;
        self.values += 1;
        let could_be_other = self.kinds.len() > 1;
        self.kinds.retain(|kind| kinds.contains(kind));
        if could_be_other
            && self.kinds == [ValueKind::Text]
            && text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        {
            self.text_only = Some((position, excerpt(text).into_owned()));
        }
        let is_integer = matches!(cell, Cell::Text(_)) || kinds.contains(&ValueKind::Integer);
        match text.parse::<i64>() {
            Ok(integer) if is_integer => {
                self.least = Some(self.least.map_or(integer, |least| least.min(integer)));
            }
            _ if self.text.is_none() => {
                self.text = Some((position, excerpt(text).into_owned()));
            }
            _ => {}
        }
        self.length = self.length.max(text.chars().count());
        if let Some(choices) = &mut self.choices
            && !choices.contains(text)
        {
            choices.insert(text.to_owned());
            self.choices.take_if(|choices| choices.len() > CHOICE_LIMIT);
        }
        if self.field == Some(Field::NAME) && !self.names.insert(text).0 {
            self.repeated
                .get_or_insert_with(|| excerpt(text).into_owned());
        }
    }
}

impl ValueKind {
    const ALL: [Self; 5] = [
        Self::Integer,
        Self::Number,
        Self::Boolean,
        Self::Date,
        Self::Text,
    ];

    fn is_text(self) -> bool {
        matches!(self, Self::Date | Self::Text)
    }

    /// The kinds of a text in CSV. A text with zeros that a number would lose is no number: `1920.10` may be
    /// another item than `1920.1`.
    fn of_text(text: &str) -> Vec<Self> {
        let integer = text.parse().map(|integer: i64| integer.to_string());
        let number = finite(text).map(|number| number.to_string());
        let fits = |kind: &Self| match kind {
            Self::Integer => integer.as_deref() == Ok(text),
            // Longer numbers are rounded.
            Self::Number => number.as_deref() == Some(text) && text.len() <= 16,
            Self::Boolean => matches!(text, "true" | "false"),
            Self::Date => is_date(text),
            Self::Text => true,
        };
        Self::ALL.into_iter().filter(fits).collect()
    }

    /// The kinds of a value of JSON that is no text.
    fn of_json(json: &str) -> Vec<Self> {
        let is_integer = json.parse::<i64>().is_ok();
        let fits = |kind: &Self| match kind {
            Self::Integer => is_integer,
            // Longer numbers are rounded, unless their digits are the shortest of the stored number.
            Self::Number => finite(json).is_some_and(|number| {
                let is_short = json.len() <= 16 && !is_integer;
                is_short || number.to_string() == json || format!("{number:e}") == json
            }),
            Self::Boolean => matches!(json, "true" | "false"),
            Self::Date | Self::Text => false,
        };
        Self::ALL.into_iter().filter(fits).collect()
    }
}

/// The number that a field stores, whose zero has no sign.
fn finite(text: &str) -> Option<f64> {
    let number = text.parse::<f64>().ok()? + 0.0;
    number.is_finite().then_some(number)
}
