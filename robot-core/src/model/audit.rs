//! When and by whom a robot was changed.

use std::{fmt, str::FromStr};

use compact_str::CompactString;
use serde::{Serialize, Serializer};

/// A moment, to the millisecond. As text, and in JSON, it is UTC in RFC 3339.
///
/// ```
/// use robot_core::Timestamp;
///
/// let time: Timestamp = "2026-05-31T14:00:00+02:00".parse()?;
/// assert_eq!(time.to_string(), "2026-05-31T12:00:00.000Z");
/// assert_eq!("2026-05-31".parse::<Timestamp>()?.to_string(), "2026-05-31T00:00:00.000Z");
/// # Ok::<(), robot_core::ParseTimestampError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(jiff::Timestamp);

impl Timestamp {
    /// The beginning of the year 1.
    pub(crate) const MIN: Self = Self(jiff::Timestamp::constant(-62_135_596_800, 0));

    /// The present moment, by the clock of this computer.
    #[must_use]
    pub fn now() -> Self {
        let now = jiff::Timestamp::now();
        Self::from_milliseconds(now.as_millisecond()).unwrap_or(Self(now))
    }

    /// The moment so many milliseconds after the beginning of 1970; `None` beyond the year 9999.
    #[must_use]
    pub fn from_milliseconds(milliseconds: i64) -> Option<Self> {
        let time = jiff::Timestamp::from_millisecond(milliseconds).ok();
        time.map(Self).filter(|time| *time >= Self::MIN)
    }

    /// The number of milliseconds since the beginning of 1970.
    #[must_use]
    pub fn milliseconds(self) -> i64 {
        self.0.as_millisecond()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.3}", self.0)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A text is not a [`Timestamp`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a time is a date, or a date and a time with an offset, such as 2026-05-31T12:00:00Z")]
pub struct ParseTimestampError;

impl FromStr for Timestamp {
    type Err = ParseTimestampError;

    /// Parses a date and a time with an offset from UTC, or a date, which is its beginning in UTC.
    fn from_str(text: &str) -> Result<Self, ParseTimestampError> {
        let parsed = if super::date::is_date(text) {
            format!("{text}T00:00Z").parse()
        } else {
            text.parse::<jiff::Timestamp>()
        };
        let time = parsed.map_err(|_| ParseTimestampError)?;
        Self::from_milliseconds(time.as_millisecond()).ok_or(ParseTimestampError)
    }
}

/// When a robot was added and last changed, and by whom.
///
/// The store sets it. What is unknown is `None`: the times of robots that were stored before catalogues kept them, and the
/// author of a change by another program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Audit {
    /// When the robot was added.
    pub created_at: Option<Timestamp>,
    /// When it was last changed.
    pub updated_at: Option<Timestamp>,
    /// Who has made that change: the name of a token, or of a user.
    pub updated_by: Option<CompactString>,
}
