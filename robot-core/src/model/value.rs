//! Values of fields.

use std::{borrow::Cow, fmt};

use serde::{Serialize, Serializer};

use super::id::RobotId;

/// The value of a field of a robot.
///
/// ```
/// use robot_core::{Draft, Field, RobotId, ValidDraft};
///
/// let robot = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?
///     .with_id(RobotId::new(7).ok_or("not positive")?);
/// let values = Field::DEFAULT.iter().filter_map(|field| robot.value(*field));
/// let texts: Vec<_> = values.map(|value| value.to_string()).collect();
/// assert_eq!(texts, ["7", "R2-D2", "droid", "1977"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// An id.
    Id(RobotId),
    /// A text, or a choice.
    Text(Cow<'a, str>),
    /// An integer.
    Integer(i64),
}

impl Value<'_> {
    /// The value, without borrowing from a text.
    #[must_use]
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::Id(id) => Value::Id(id),
            Self::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Self::Integer(integer) => Value::Integer(integer),
        }
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<i64> for Value<'_> {
    fn from(integer: i64) -> Self {
        Self::Integer(integer)
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(formatter),
            Self::Text(text) => text.fmt(formatter),
            Self::Integer(integer) => integer.fmt(formatter),
        }
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Id(id) => id.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Integer(integer) => serializer.serialize_i64(*integer),
        }
    }
}
