//! A record of a file, and the error that ends reading.

use std::{borrow::Cow, io};

use crate::model::Draft;

/// A record of a file: a draft, or why it is not one.
///
/// ```
/// use robot_core::{Draft, transfer::Record};
///
/// let record = Record { line: 7, draft: Ok(Draft::new("R2-D2", "droid", 1977)) };
/// # assert!(record.draft.is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The number of the line on which it begins, from 1.
    pub line: u64,
    /// The draft, not validated yet, or messages for the person who can correct the record.
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
        /// The current line.
        line: u64,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// The input does not have its format, so that the next record cannot be found.
    #[error("{message}")]
    Malformed {
        /// The line of the error.
        line: u64,
        /// The message for the person who can correct the input.
        message: Cow<'static, str>,
    },
}

impl ReadError {
    /// The line number, from 1.
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
