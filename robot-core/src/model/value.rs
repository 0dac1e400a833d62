//! Values of fields.

use std::{borrow::Cow, cmp::Ordering, fmt};

use serde::Serialize;
use serde_json::Value as Json;

use super::{audit::Timestamp, id::RobotId};

/// The value of a field of a robot.
///
/// ```
/// use robot_core::{Draft, Field, RobotId, ValidDraft};
///
/// let robot = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?
///     .with_id(RobotId::new(7).ok_or("not positive")?);
/// let values = Field::DEFAULT.iter().filter_map(|field| robot.value_of(field));
/// let texts: Vec<_> = values.map(|value| value.to_string()).collect();
/// assert_eq!(texts, ["7", "R2-D2", "droid", "1977"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Value<'a> {
    /// An id.
    Id(RobotId),
    /// A text, or a choice.
    Text(Cow<'a, str>),
    /// An integer. Also a number that is one.
    Integer(i64),
    /// Another number, which is finite. [`Value::number`] makes it.
    Number(f64),
    /// A truth value.
    Boolean(bool),
    /// A moment.
    Timestamp(Timestamp),
}

// No number is NaN.
impl Eq for Value<'_> {}

impl Value<'_> {
    /// The value of a number; `None` if it is not finite. A number that is an integer of 64 bits is an
    /// [`Integer`](Self::Integer), so that equal numbers are equal values.
    #[must_use]
    pub fn number(number: f64) -> Option<Self> {
        let integer = format!("{number:.0}").parse().ok();
        let integer = integer.filter(|_| number.fract() == 0.0).map(Self::Integer);
        let is_finite = number.is_finite();
        integer.or_else(|| is_finite.then_some(Self::Number(number)))
    }

    /// The value, without borrowing from a text.
    #[must_use]
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::Id(id) => Value::Id(id),
            Self::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Self::Integer(integer) => Value::Integer(integer),
            Self::Number(number) => Value::Number(number),
            Self::Boolean(boolean) => Value::Boolean(boolean),
            Self::Timestamp(time) => Value::Timestamp(time),
        }
    }

    /// The same value, borrowed.
    pub(crate) fn borrowed(&self) -> Value<'_> {
        match self {
            Self::Text(text) => Value::Text(Cow::Borrowed(text)),
            other => other.clone().into_owned(),
        }
    }

    /// The number; 0 for a value of another kind.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a field of numbers has no such integers"
    )]
    pub(crate) fn as_number(&self) -> f64 {
        match self {
            Self::Integer(integer) => *integer as f64,
            Self::Number(number) => *number,
            _ => 0.0,
        }
    }

    /// The order of values of one field: texts by their bytes.
    pub(crate) fn compare(&self, other: &Value<'_>) -> Ordering {
        match (self, other) {
            (Self::Text(one), Value::Text(other)) => one.cmp(other),
            (Self::Id(one), Value::Id(other)) => one.cmp(other),
            (Self::Integer(one), Value::Integer(other)) => one.cmp(other),
            (Self::Boolean(one), Value::Boolean(other)) => one.cmp(other),
            (Self::Timestamp(one), Value::Timestamp(other)) => one.cmp(other),
            (one, other) => one.as_number().total_cmp(&other.as_number()),
        }
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<i64> for Value<'_> {
    fn from(integer: i64) -> Self {
        Self::Integer(integer)
    }
}

impl From<bool> for Value<'_> {
    fn from(boolean: bool) -> Self {
        Self::Boolean(boolean)
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(formatter),
            Self::Text(text) => text.fmt(formatter),
            Self::Integer(integer) => integer.fmt(formatter),
            // As in JSON: `1e+300` has few digits.
            Self::Number(number) => serde_json::json!(number).fmt(formatter),
            Self::Boolean(boolean) => boolean.fmt(formatter),
            Self::Timestamp(time) => time.fmt(formatter),
        }
    }
}

/// The value of JSON; `None` if it is `null`, an array or an object, which are values of no field.
pub(crate) fn of_json(json: Json) -> Option<Value<'static>> {
    match json {
        Json::String(text) => Some(text.into()),
        Json::Bool(boolean) => Some(boolean.into()),
        Json::Number(number) => match number.as_i64() {
            Some(integer) => Some(integer.into()),
            None => number.as_f64().and_then(Value::number),
        },
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_are_equal_values() {
        assert_eq!(Value::number(-0.0), Some(Value::Integer(0)));
        assert_eq!(
            Value::number(1e18),
            Some(Value::Integer(1_000_000_000_000_000_000))
        );
        assert_eq!(Value::number(1e19), Some(Value::Number(1e19)));
        assert_eq!(Value::number(3.5), Some(Value::Number(3.5)));
        assert_eq!(Value::number(f64::INFINITY), None);
        let read = |json| of_json(serde_json::from_str(json).unwrap());
        assert_eq!(read("10000000000000000000"), Value::number(1e19));
        assert_eq!(read("5.0"), Some(Value::Integer(5)));
        assert_eq!(read("0.1"), Some(Value::Number(0.1)));
        for json in ["null", "[[1]]", r#"{"a":{}}"#] {
            assert_eq!(read(json), None);
        }
    }
}
