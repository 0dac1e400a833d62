//! A record of a file, and the error that ends reading.

use std::{borrow::Cow, io};

use super::position::Position;
use crate::model::{Draft, Message, Messages};

/// A draft, or messages for the person who can correct the record.
pub(super) type ParsedDraft = Result<Draft, Messages>;

/// A record of a file: a draft, or why it is not one.
///
/// ```
/// use robot_core::{Draft, transfer::{Position, Record}};
///
/// let record = Record { position: Position::Line(7), draft: Ok(Draft::new("R2-D2", "droid", 1977)) };
/// # assert!(record.draft.is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Where it is in the file.
    pub position: Position,
    /// The draft, not validated yet, or messages for the person who can correct the record.
    pub draft: Result<Draft, Vec<Message>>,
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
                position: Position::Record(number),
                draft: Ok(draft),
            })
        })
    }
}

/// Why no more records can be read.
///
/// ```
/// use robot_core::transfer::{Format, Position, Records};
///
/// let mut records = Records::new("name,year\nR2-D2,1977\n".as_bytes(), Format::Csv);
/// let error = records.next().ok_or("no record")?.unwrap_err();
/// assert_eq!(error.position(), Position::Line(1));
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
        position: Position,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// The input does not have its format, so that the next record cannot be found.
    #[error("{message}")]
    Malformed {
        /// The position of the error.
        position: Position,
        /// The message for the person who can correct the input.
        message: Cow<'static, str>,
    },
}

impl ReadError {
    /// Where reading ended.
    #[must_use]
    pub fn position(&self) -> Position {
        let (Self::Input { position, .. } | Self::Malformed { position, .. }) = self;
        *position
    }

    /// Changes the position.
    pub(super) fn at(mut self, new: Position) -> Self {
        let (Self::Input { position, .. } | Self::Malformed { position, .. }) = &mut self;
        *position = new;
        self
    }

    pub(super) fn input(line: u64, cause: io::Error) -> Self {
        let position = Position::Line(line);
        Self::Input { position, cause }
    }

    pub(super) fn malformed(line: u64, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Malformed {
            position: Position::Line(line),
            message: message.into(),
        }
    }
}
