//! Position of a record in a file.

use std::fmt;

/// The position of a record in a file, for messages: `line 3`, or `record 3` if the line does not
/// identify it, as in a JSON array on one line. A failure that is not of one record has `all records`.
///
/// ```
/// use robot_core::transfer::{FileFormat, RecordPosition, Records};
///
/// let positions = |file: &str| -> Vec<_> {
///     Records::new(file.as_bytes(), FileFormat::Json).flatten().map(|record| record.position).collect()
/// };
/// assert_eq!(positions("[{},{}]"), [RecordPosition::Record(1), RecordPosition::Record(2)]);
/// assert_eq!(positions("[\n{},\n{}\n]"), [RecordPosition::Line(2), RecordPosition::Line(3)]);
/// assert_eq!(RecordPosition::Line(2).to_string(), "line 2");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordPosition {
    /// The line on which the record begins, from 1.
    Line(u64),
    /// The number of the record, from 1: another record, or the array, begins on the same line.
    Record(u64),
    /// All records of an atomic import, which are stored together.
    All,
}

impl fmt::Display for RecordPosition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number) => write!(formatter, "line {number}"),
            Self::Record(number) => write!(formatter, "record {number}"),
            Self::All => formatter.write_str("all records"),
        }
    }
}
