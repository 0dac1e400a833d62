//! Records, one at a time from any input.

use std::{
    borrow::Cow,
    io::{self, Read},
};

use super::{
    elements::Elements,
    format::Format,
    lines,
    rows::Rows,
    source::{Cut, RECORD_LIMIT, Source},
};
use crate::model::{
    Draft,
    draft_json::{self, DraftJsonError, Messages, Place},
};

/// A record of a file: what is to be a robot.
///
/// ```
/// use robot_core::{Draft, transfer::Record};
///
/// let record = Record { line: 7, draft: Ok(Draft::new("R2-D2", "droid", 1977)) };
/// # assert!(record.draft.is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The number of the line that it begins on, from 1.
    pub line: u64,
    /// The draft, not validated yet, or messages about what is wrong with the record.
    pub draft: Result<Draft, Vec<Cow<'static, str>>>,
}

impl Record {
    /// Records of these drafts, numbered from 1, for [`import()`](super::import()).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use robot_core::{Draft, MemoryCatalogue, transfer::{ImportOptions, Record, import}};
    ///
    /// let drafts = (0..5000).map(|number| Draft::new(format!("RX-{number}"), "virtual", number));
    /// let catalogue = Arc::new(MemoryCatalogue::new());
    /// let mut outcomes = import(catalogue, Record::numbered(drafts), ImportOptions::default());
    /// assert!(outcomes.all(|outcome| outcome.result.is_ok()));
    /// ```
    pub fn numbered(
        drafts: impl IntoIterator<Item = Draft>,
    ) -> impl Iterator<Item = Result<Self, ReadError>> {
        (1..).zip(drafts).map(|(line, draft)| {
            Ok(Self {
                line,
                draft: Ok(draft),
            })
        })
    }
}

/// Why no more records can be read.
///
/// ```
/// use robot_core::transfer::{Format, Records};
///
/// let mut records = Records::new("name,year\nR2-D2,1977\n".as_bytes(), Format::Csv);
/// let error = records.next().ok_or("no record")?.unwrap_err();
/// assert_eq!(error.line(), 1);
/// assert!(error.to_string().contains("type"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The input failed.
    #[error("The input cannot be read: {cause}")]
    Input {
        /// The line that was being read.
        line: u64,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// The input is not of its format, in a way that does not let the reading go on.
    #[error("{message}")]
    Malformed {
        /// The line where that shows.
        line: u64,
        /// What is wrong, for a person who can mend it.
        message: Cow<'static, str>,
    },
}

impl ReadError {
    /// The number of the line that it is about, from 1.
    #[must_use]
    pub fn line(&self) -> u64 {
        match self {
            Self::Input { line, .. } | Self::Malformed { line, .. } => *line,
        }
    }

    pub(super) fn input(line: u64, cause: io::Error) -> Self {
        Self::Input { line, cause }
    }

    pub(super) fn malformed(line: u64, message: impl Into<Cow<'static, str>>) -> Self {
        let message = message.into();
        Self::Malformed { line, message }
    }
}

/// The records of an input, one at a time, in constant memory.
///
/// A record that is no robot does not keep those behind it from being read; an error does.
///
/// ```
/// use robot_core::{Draft, transfer::{Format, Records}};
///
/// let file = "{\"name\":\"R2-D2\",\"type\":\"droid\",\"year\":1977}\n\n{\"year\":\"1977\"}\n";
/// let records: Vec<_> = Records::new(file.as_bytes(), Format::Ndjson).collect::<Result<_, _>>()?;
/// assert_eq!(records[0].draft, Ok(Draft::new("R2-D2", "droid", 1977)));
/// assert_eq!((records[1].line, records[1].draft.is_err()), (3, true));
/// # Ok::<(), robot_core::transfer::ReadError>(())
/// ```
pub struct Records<R> {
    source: Source<R>,
    cut: Cut,
    layout: Layout,
    is_over: bool,
}

/// How records are told apart.
enum Layout {
    Rows(Box<Rows>),
    Elements(Elements),
    Lines,
}

impl<R: Read> Records<R> {
    /// The records of this input in this format. Nothing is read before the first is asked for.
    pub fn new(input: R, format: Format) -> Self {
        Self {
            source: Source::new(input),
            cut: Cut::default(),
            layout: match format {
                Format::Csv => Layout::Rows(Box::default()),
                Format::Json => Layout::Elements(Elements::default()),
                Format::Ndjson => Layout::Lines,
            },
            is_over: false,
        }
    }

    fn read(&mut self) -> Result<Option<Record>, ReadError> {
        let Self { source, cut, .. } = self;
        let line = match &mut self.layout {
            Layout::Rows(rows) => return rows.next(source),
            Layout::Elements(elements) => elements.next(source, cut)?,
            Layout::Lines => {
                let line = lines::next(source, cut);
                line.map_err(|error| ReadError::input(source.line(), error))?
            }
        };
        line.map(|line| self.object(line)).transpose()
    }

    /// The record that has been cut out. Of a line only itself can be broken, of an array all
    /// that follows, too.
    fn object(&self, line: u64) -> Result<Record, ReadError> {
        let Some(bytes) = self.cut.bytes() else {
            let message = format!("The record has more than {RECORD_LIMIT} bytes");
            let draft = Err(vec![message.into()]);
            return Ok(Record { line, draft });
        };
        let draft = match (draft_json::read(bytes), &self.layout) {
            (
                Err(
                    DraftJsonError::NotJson(place)
                    | DraftJsonError::Truncated(place)
                    | DraftJsonError::Trailing(place),
                ),
                Layout::Elements(_),
            ) => {
                let further = place.line.saturating_sub(1).try_into().unwrap_or(u64::MAX);
                return Err(ReadError::malformed(
                    line.saturating_add(further),
                    "The JSON is not valid here; nothing behind it can be read",
                ));
            }
            (draft, _) => draft.map_err(messages),
        };
        Ok(Record { line, draft })
    }
}

fn messages(error: DraftJsonError) -> Messages {
    error.messages("The record", |Place { column, .. }| {
        format!("column {column}")
    })
}

impl<R: Read> Iterator for Records<R> {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let record = self.read().transpose();
        self.is_over = !matches!(record, Some(Ok(_)));
        record
    }
}
