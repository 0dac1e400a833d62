//! Kinds of fields: how their values are parsed, checked and described.

use regex_lite::Regex;

use super::value::Value;

/// The kind of a field's values, and their limits.
#[derive(Debug, Clone, Copy, PartialEq)]
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
    Choice(&'static [&'static str]),
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
}

/// The maximum length of texts that are sorted by, or that an index has, in characters. Databases limit both.
pub(crate) const INDEXED_LENGTH: usize = 500;

/// What a text must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Any text.
    Any,
    /// A date, such as `2020-05-31`.
    Date,
    /// A URI (RFC 3986), such as `https://example.org/`.
    Uri,
    /// A text that a regular expression matches anywhere.
    Pattern(Pattern),
}

impl Format {
    /// The formats with a name.
    pub const NAMED: &[Self] = &[Self::Date, Self::Uri];

    /// The name in a definition.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Date => Some("date"),
            Self::Uri => Some("uri"),
            Self::Any | Self::Pattern(_) => None,
        }
    }
}

/// A regular expression, which takes linear time.
#[derive(Debug, Clone, Copy)]
pub struct Pattern(pub(super) &'static Regex);

impl Pattern {
    /// The text of the regular expression.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        self.0.as_str()
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Pattern {}

impl Kind {
    /// Whether values are numbers, which tables align to the right.
    #[must_use]
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Id | Self::Integer { .. } | Self::Number { .. })
    }

    /// Whether values are texts, in JSON and in databases.
    #[must_use]
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Text { .. } | Self::Choice(_))
    }

    /// Whether values are dates.
    #[must_use]
    pub const fn is_date(self) -> bool {
        matches!(
            self,
            Self::Text {
                format: Format::Date,
                ..
            }
        )
    }

    /// Whether values have an order that people ask for: from one to another.
    #[must_use]
    pub const fn is_ordered(self) -> bool {
        self.is_date() || matches!(self, Self::Integer { .. } | Self::Number { .. })
    }

    /// Whether a date is one.
    pub(crate) fn is_valid_date(self, value: &Value<'_>) -> bool {
        !self.is_date() || matches!(value, Value::Text(text) if is_date(text))
    }

    /// What a value must be, for people.
    pub(super) fn requirement(self) -> String {
        match self {
            Self::Id => "a positive integer".to_owned(),
            Self::Text {
                format: Format::Date,
                ..
            } => "a date, such as 2020-05-31".to_owned(),
            Self::Text { .. } => "a string".to_owned(),
            Self::Choice(choices) => format!("one of: {}", choices.join(", ")),
            Self::Integer { minimum, maximum } => {
                format!("an integer from {minimum} to {maximum}")
            }
            Self::Number { .. } => "a number".to_owned(),
            Self::Boolean => "true or false".to_owned(),
        }
    }

    /// The limits of values, for help texts.
    pub(super) fn limits(self) -> String {
        match self {
            Self::Text { max_length, format } => {
                let text = match format {
                    Format::Date => return self.requirement(),
                    Format::Uri => "a URI, ".to_owned(),
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
            Self::Number { minimum, maximum } => match (minimum > f64::MIN, maximum < f64::MAX) {
                (true, true) => format!("a number from {minimum} to {maximum}"),
                (true, false) => format!("a number, {minimum} or greater"),
                (false, true) => format!("a number, {maximum} or less"),
                (false, false) => self.requirement(),
            },
            Self::Id | Self::Integer { .. } | Self::Boolean => self.requirement(),
        }
    }

    /// The value of a text; `None` if it is of another kind.
    pub(super) fn parse(self, text: &str) -> Option<Value<'_>> {
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
        }
    }

    /// Whether a value is of this kind, whatever its limits are.
    pub(super) const fn has(self, value: &Value<'_>) -> bool {
        match value {
            Value::Id(_) => matches!(self, Self::Id),
            Value::Text(_) => self.is_text(),
            Value::Integer(_) => matches!(self, Self::Integer { .. } | Self::Number { .. }),
            Value::Number(number) => number.is_finite() && matches!(self, Self::Number { .. }),
            Value::Boolean(_) => matches!(self, Self::Boolean),
        }
    }
}

/// Whether a text is a date of the Gregorian calendar: `YYYY-MM-DD`.
pub(crate) fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let mut number = |length| {
        let part = parts.next().filter(|part| part.len() == length)?;
        let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse().ok().filter(|_: &u32| is_number)
    };
    let (Some(year), Some(month), Some(day)) = (number(4), number(2), number(2)) else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Whether a text has a scheme, and only characters of a URI.
pub(super) fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let in_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let in_rest =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(in_scheme)
        && !rest.is_empty()
        && rest.bytes().all(in_rest)
}

/// Names in a sentence: `a, b or c`.
pub(crate) fn listed(names: &[&str], conjunction: &str) -> String {
    match names.split_last() {
        Some((last, before)) if !before.is_empty() => {
            format!("{} {conjunction} {last}", before.join(", "))
        }
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for date in ["2020-02-29", "2000-02-29", "0001-01-01", "9999-12-31"] {
            assert!(is_date(date), "{date}");
        }
        for text in [
            "2021-02-29",
            "1900-02-29",
            "2020-13-01",
            "2020-00-10",
            "2020-04-31",
            "2020-4-1",
            "+020-04-01",
            "2020-04-010",
            "2020/04/01",
            "",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }

    #[test]
    fn uris_have_a_scheme() {
        for uri in [
            "https://example.org/a?b=c#d",
            "urn:isbn:0451450523",
            "mailto:a@b.c",
        ] {
            assert!(is_uri(uri), "{uri}");
        }
        for text in [
            "example.org",
            "https:",
            ":x",
            "1a:b",
            "https://example.org/a b",
            "https://é",
        ] {
            assert!(!is_uri(text), "{text}");
        }
    }
}
