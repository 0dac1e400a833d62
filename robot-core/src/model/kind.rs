//! Kinds of fields: how their values are parsed, checked and described.

use super::{value::Value, violation::Rule};

/// The kind of a field's values, and their limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The id of a robot.
    Id,
    /// A text without NUL.
    Text {
        /// The maximum number of characters (Unicode scalar values).
        max_length: usize,
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
}

impl Kind {
    /// The texts to choose from; none for another kind.
    pub(super) const fn choices(self) -> &'static [&'static str] {
        match self {
            Self::Choice(choices) => choices,
            _ => &[],
        }
    }

    /// Whether values are numbers, which tables align to the right.
    #[must_use]
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Id | Self::Integer { .. })
    }

    /// What a value must be, for people.
    pub(super) fn requirement(self) -> String {
        match self {
            Self::Id => "a positive integer".to_owned(),
            Self::Text { .. } => "a string".to_owned(),
            Self::Choice(choices) => format!("one of: {}", choices.join(", ")),
            Self::Integer { minimum, maximum } => {
                format!("an integer from {minimum} to {maximum}")
            }
        }
    }

    /// The limits of values, for help texts.
    pub(super) fn limits(self) -> String {
        match self {
            Self::Text { max_length } => format!("1 to {max_length} characters"),
            Self::Choice(choices) => listed(choices, "or"),
            Self::Integer {
                minimum,
                maximum: i64::MAX,
            } => format!("an integer, {minimum} or greater"),
            Self::Id | Self::Integer { .. } => self.requirement(),
        }
    }

    /// The value of a text; `None` if it is of another kind.
    pub(super) fn parse(self, text: &str) -> Option<Value<'_>> {
        match self {
            Self::Id => text.parse().ok().map(Value::Id),
            Self::Text { .. } | Self::Choice(_) => Some(text.into()),
            Self::Integer { .. } => text.parse().ok().map(Value::Integer),
        }
    }

    /// The rules that a value violates.
    pub(super) fn check(self, value: &Value<'_>) -> Vec<Rule> {
        match (self, value) {
            (Self::Text { max_length }, Value::Text(text)) => {
                // Bytes bound characters from above, and counting them costs nothing.
                let is_long = text.len() > max_length && text.chars().count() > max_length;
                violated([
                    (is_long, Rule::TooLong),
                    (text.contains('\0'), Rule::ContainsNul),
                ])
            }
            (Self::Choice(choices), Value::Text(text)) => {
                violated([(!choices.contains(&text.as_ref()), Rule::NotAChoice)])
            }
            (Self::Integer { minimum, maximum }, Value::Integer(integer)) => violated([
                (*integer < minimum, Rule::TooSmall),
                (*integer > maximum, Rule::TooGreat),
            ]),
            _ => Vec::new(),
        }
    }
}

fn violated<const N: usize>(rules: [(bool, Rule); N]) -> Vec<Rule> {
    let rules = rules.into_iter();
    rules
        .filter_map(|(is_violated, rule)| is_violated.then_some(rule))
        .collect()
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
