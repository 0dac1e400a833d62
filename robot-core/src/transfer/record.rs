//! A record of a file, and the error that ends reading.

use std::{borrow::Cow, io};

use super::position::RecordPosition;
use crate::model::{
    Draft, Field, Message, Messages, Reading, Revision, RobotId, Value, draft_json::parse_json,
    excerpt, whole,
};

/// The values of a record, or messages for the person who can correct the record.
pub(super) type ParsedRecord = Result<Values, Messages>;

/// A record of a file: its values, or why it has none.
///
/// ```
/// use robot_core::{Draft, transfer::{RecordPosition, Record, Values}};
///
/// let values = Values::from(Draft::new("R2-D2", "droid", 1977));
/// let record = Record { position: RecordPosition::Line(7), values: Ok(values) };
/// # assert!(record.values.is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Where it is in the file.
    pub position: RecordPosition,
    /// The values, or messages for the person who can correct the record.
    pub values: Result<Values, Vec<Message>>,
}

/// The values of a record, not validated yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Values {
    /// The id of the robot that the record changes; `None` unless ids are read.
    pub id: Option<RobotId>,
    /// The revision that the robot has unless it was changed; `None` unless ids are read.
    pub revision: Option<Revision>,
    /// The values of fields.
    pub draft: Draft,
    /// The fields of which the record says that they have no value.
    pub removed: Vec<Field>,
}

impl From<Draft> for Values {
    fn from(draft: Draft) -> Self {
        Self {
            draft,
            ..Self::default()
        }
    }
}

/// What helps if a file is not UTF-8.
pub(super) const ENCODING_HINT: &str = "if the file is from a spreadsheet, add --encoding windows-1252, or in a request \
                                        encoding=windows-1252";

/// A value in a file.
#[derive(Clone, Copy)]
pub(super) enum Cell<'a> {
    /// A text of CSV, whose kind is open. It need not be UTF-8.
    Text(&'a [u8]),
    /// A value of JSON.
    Json(&'a str),
}

impl Cell<'_> {
    /// The value of a field, or what is wrong with it; `None` if the record says that there is no value.
    pub(super) fn value(
        self,
        field: &Field,
        reading: &Reading,
    ) -> Result<Option<Value<'static>>, String> {
        let wrong = |message: String, value: &str| {
            // The contract has the messages of the built-in fields.
            let shown = field
                .is_own()
                .then(|| format!(", not '{}'", excerpt(value)));
            message + &shown.unwrap_or_default()
        };
        match self {
            Self::Text(b"") | Self::Json("null") => Ok(None),
            Self::Text(text) => match str::from_utf8(text) {
                Ok(text) => {
                    let text = reading.text(field, text)?;
                    let value = text.map(|text| {
                        let value = field.parse_value(&text).map(Value::into_owned);
                        value.map_err(|message| wrong(message, &text))
                    });
                    value.transpose()
                }
                Err(_) => Err(format!("{field} is not UTF-8; {ENCODING_HINT}")),
            },
            Self::Json(json) => {
                let value = parse_json(field, whole(json)).map(Some);
                value.map_err(|message| wrong(message, json.trim_matches('"')))
            }
        }
    }

    /// Whether a cell is empty, or the number of the record after so many.
    pub(super) fn is_number_of(self, records: u64) -> bool {
        let Self::Text(text) = self else {
            return false;
        };
        let text = String::from_utf8_lossy(text);
        let text = text.trim();
        text.is_empty() || text.parse() == Ok(records) || text.parse() == Ok(records + 1)
    }

    /// The text of an id or a revision; `None` if there is none.
    pub(super) fn number(self) -> Option<String> {
        let text = match self {
            Self::Text(text) => String::from_utf8_lossy(text),
            Self::Json(json) => json.trim_matches('"').into(),
        };
        let text = text.trim();
        (!text.is_empty() && text != "null").then(|| text.to_owned())
    }
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
        (1..).zip(drafts).map(|(number, draft)| {
            Ok(Self {
                position: RecordPosition::Record(number),
                values: Ok(draft.into()),
            })
        })
    }
}

/// Why no more records can be read.
///
/// ```
/// use robot_core::transfer::{FileFormat, RecordPosition, Records};
///
/// let mut records = Records::new("name,year\nR2-D2,1977\n".as_bytes(), FileFormat::Csv);
/// let error = records.next().ok_or("no record")?.unwrap_err();
/// assert_eq!(error.position(), RecordPosition::Line(1));
/// assert!(error.to_string().contains("type"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The input failed.
    #[error("The input cannot be read: {cause}")]
    Input {
        /// The current position.
        position: RecordPosition,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// The input does not have its format, so that the next record cannot be found.
    #[error("{message}")]
    Malformed {
        /// The position of the error.
        position: RecordPosition,
        /// The message for the person who can correct the input.
        message: Cow<'static, str>,
    },
}

impl ReadError {
    /// Where reading ended.
    #[must_use]
    pub fn position(&self) -> RecordPosition {
        let (Self::Input { position, .. } | Self::Malformed { position, .. }) = self;
        *position
    }
}
