//! Kinds of fields: how their values are parsed, checked and described.

use std::{
    borrow::{Borrow, Cow},
    fmt,
};

use super::{
    format::{Format, NamedFormat},
    value::Value,
};

/// The kind of a field's values, and their limits.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// The id of a robot.
    Id,
    /// A text without NUL.
    Text {
        /// The maximum number of characters (Unicode scalar values).
        max_length: usize,
        /// What a text must be besides.
        format: Format,
    },
    /// One of these texts.
    Choice(Cow<'static, [Cow<'static, str>]>),
    /// An integer of 64 bits.
    Integer {
        /// The least value.
        minimum: i64,
        /// The greatest value.
        maximum: i64,
    },
    /// A number, as a floating-point number of 64 bits.
    Number {
        /// The least value.
        minimum: f64,
        /// The greatest value.
        maximum: f64,
    },
    /// `true` or `false`.
    Boolean,
    /// A moment. The service sets such values.
    Timestamp,
}

/// The maximum length of texts that are sorted by, or that an index has, in characters. Databases limit both.
pub(crate) const INDEXED_LENGTH: usize = 500;

impl Kind {
    /// Whether values are numbers, which tables align to the right.
    #[must_use]
    pub const fn is_number(&self) -> bool {
        matches!(self, Self::Id | Self::Integer { .. } | Self::Number { .. })
    }

    /// Whether values are texts, in JSON and in databases.
    #[must_use]
    pub const fn is_text(&self) -> bool {
        matches!(self, Self::Text { .. } | Self::Choice(_))
    }

    /// The format of values that are times.
    pub(crate) const fn time(&self) -> Option<&'static NamedFormat> {
        match self {
            Self::Text {
                format: Format::Named(format),
                ..
            } if format.is_time => Some(format),
            _ => None,
        }
    }

    /// Whether values are points in time, such as dates: texts in the order of time, which are counted by years.
    #[must_use]
    pub const fn is_time(&self) -> bool {
        self.time().is_some()
    }

    /// Whether values have an order that people ask for: from one to another.
    #[must_use]
    pub const fn is_ordered(&self) -> bool {
        self.is_time()
            || matches!(
                self,
                Self::Integer { .. } | Self::Number { .. } | Self::Timestamp
            )
    }

    /// The type of values in JSON.
    #[must_use]
    pub const fn json_type(&self) -> &'static str {
        match self {
            Self::Id | Self::Text { .. } | Self::Choice(_) | Self::Timestamp => "string",
            Self::Integer { .. } => "integer",
            Self::Number { .. } => "number",
            Self::Boolean => "boolean",
        }
    }

    /// Whether a time is one.
    pub(crate) fn is_valid_time(&self, value: &Value<'_>) -> bool {
        let is_valid =
            |time: &NamedFormat| matches!(value, Value::Text(text) if (time.is_valid)(text));
        self.time().is_none_or(is_valid)
    }

    /// What a value must be, for people.
    pub(super) fn requirement(&self) -> String {
        match self {
            Self::Id => "a positive integer".to_owned(),
            Self::Text { .. } => self
                .time()
                .map_or_else(|| "a string".to_owned(), NamedFormat::description),
            Self::Choice(choices) => format!("one of: {}", choices.join(", ")),
            Self::Integer { minimum, maximum } => {
                format!("an integer from {minimum} to {maximum}")
            }
            Self::Number { .. } => "a number".to_owned(),
            Self::Boolean => "true or false".to_owned(),
            Self::Timestamp => "a date, or a time such as 2026-05-31T12:00:00Z".to_owned(),
        }
    }

    /// The limits of values, for help texts.
    pub(super) fn limits(&self) -> String {
        match self {
            Self::Text { max_length, format } => {
                let text = match format {
                    Format::Named(format) if format.is_time => return format.description(),
                    Format::Named(format) => format!("{}, ", format.noun),
                    Format::Pattern(pattern) => format!("matches {}, ", pattern.as_str()),
                    Format::Any => String::new(),
                };
                format!("{text}1 to {max_length} characters")
            }
            Self::Choice(choices) => listed(choices, "or"),
            Self::Integer {
                minimum: i64::MIN,
                maximum: i64::MAX,
            } => "an integer".to_owned(),
            Self::Integer {
                minimum,
                maximum: i64::MAX,
            } => format!("an integer, {minimum} or greater"),
            Self::Number { minimum, maximum } => match (*minimum > f64::MIN, *maximum < f64::MAX) {
                (true, true) => format!("a number from {minimum} to {maximum}"),
                (true, false) => format!("a number, {minimum} or greater"),
                (false, true) => format!("a number, {maximum} or less"),
                (false, false) => self.requirement(),
            },
            Self::Id | Self::Integer { .. } | Self::Boolean | Self::Timestamp => self.requirement(),
        }
    }

    /// The value of a text; `None` if it is of another kind.
    pub(super) fn parse<'t>(&self, text: &'t str) -> Option<Value<'t>> {
        match self {
            Self::Id => text.parse().ok().map(Value::Id),
            Self::Text { .. } | Self::Choice(_) => Some(text.into()),
            Self::Integer { .. } => text.parse().ok().map(Value::Integer),
            Self::Number { .. } => {
                let is_decimal =
                    text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
                let number = text.parse().ok().filter(|_| is_decimal);
                number.and_then(Value::number)
            }
            Self::Boolean => text.parse().ok().map(Value::Boolean),
            Self::Timestamp => text.parse().ok().map(Value::Timestamp),
        }
    }

    /// Whether a value is of this kind, whatever its limits are.
    pub(super) const fn has(&self, value: &Value<'_>) -> bool {
        match value {
            Value::Id(_) => matches!(self, Self::Id),
            Value::Text(_) => self.is_text(),
            Value::Integer(_) => matches!(self, Self::Integer { .. } | Self::Number { .. }),
            Value::Number(number) => number.is_finite() && matches!(self, Self::Number { .. }),
            Value::Boolean(_) => matches!(self, Self::Boolean),
            Value::Timestamp(_) => matches!(self, Self::Timestamp),
        }
    }
}

/// Names in a sentence: `a, b or c`.
pub(crate) fn listed<T: Borrow<str> + fmt::Display>(names: &[T], conjunction: &str) -> String {
    match names.split_last() {
        Some((last, before)) if !before.is_empty() => {
            format!("{} {conjunction} {last}", before.join(", "))
        }
        _ => names.concat(),
    }
}
