//! Rules that a robot can violate: their exact messages, and their order.

use std::fmt;

use super::{
    definition::{Field, Member},
    id::RobotId,
    kind::Kind,
};

/// One violated rule. Its message, by [`Display`](fmt::Display), is part of the contract.
///
/// ```
/// use robot_core::{Field, Rule, Violation};
///
/// assert_eq!(Violation::NAME_TAKEN.to_string(), "The robot name must be unique");
/// let negative = Violation::new(Field::YEAR, Rule::TooSmall);
/// assert_eq!(negative.to_string(), "The year cannot be less than zero");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation {
    field: Field,
    rule: Rule,
}

/// A rule about the value of a field. The order is that of messages about a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// A required value is missing, or empty.
    Missing,
    /// The text is not one of the choices.
    NotAChoice,
    /// The text has too many characters.
    TooLong,
    /// The text contains U+0000.
    ContainsNul,
    /// The number is less than the minimum.
    TooSmall,
    /// The number is greater than the maximum. For an id and a revision, only a store checks this,
    /// when it restores a robot.
    TooGreat,
    /// Another robot has the value. Only a store checks this.
    Taken,
}

impl Violation {
    /// Another robot has the id.
    pub const ID_TAKEN: Self = Self::new(Field::ID, Rule::Taken);
    /// The id is greater than [`RobotId::GREATEST_RESTORED`], so the robot cannot be restored.
    pub const ID_TOO_GREAT: Self = Self::new(Field::ID, Rule::TooGreat);
    /// The revision is greater than [`Revision::GREATEST_RESTORED`](crate::Revision), so the robot
    /// cannot be restored.
    pub const REVISION_TOO_GREAT: Self = Self::new(Field::REVISION, Rule::TooGreat);
    /// Another robot has the name.
    pub const NAME_TAKEN: Self = Self::new(Field::NAME, Rule::Taken);

    /// A field violates a rule.
    #[must_use]
    pub const fn new(field: Field, rule: Rule) -> Self {
        Self { field, rule }
    }

    /// The place among other violations.
    fn rank(self) -> ((Member, Option<usize>), Rule) {
        (self.field.rank(), self.rule)
    }

    /// The field whose value violates the rule.
    #[must_use]
    pub const fn field(self) -> Field {
        self.field
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = self.field;
        match (self.rule, field.kind()) {
            (Rule::Missing, _) => write!(formatter, "{field} is required"),
            (Rule::ContainsNul, _) => write!(
                formatter,
                "The {field} must not contain the NUL character (U+0000)"
            ),
            (Rule::Taken, _) => write!(formatter, "The robot {field} must be unique"),
            (Rule::NotAChoice, _) => {
                let choices = field.choices().join(", ");
                write!(
                    formatter,
                    "Value of field '{field}' must be part of list: {choices}"
                )
            }
            (Rule::TooLong, Kind::Text { max_length }) => write!(
                formatter,
                "The {field} must be at most {max_length} characters long"
            ),
            (Rule::TooSmall, Kind::Integer { minimum: 0, .. }) => {
                write!(formatter, "The {field} cannot be less than zero")
            }
            (Rule::TooSmall, Kind::Integer { minimum, .. }) => {
                write!(formatter, "The {field} cannot be less than {minimum}")
            }
            (Rule::TooGreat, Kind::Integer { maximum, .. }) => {
                write!(formatter, "The robot {field} must be at most {maximum}")
            }
            (Rule::TooGreat, Kind::Id) => {
                let maximum = RobotId::GREATEST_RESTORED;
                write!(formatter, "The robot {field} must be at most {maximum}")
            }
            (_, kind) => write!(formatter, "The {field} must be {}", kind.limits()),
        }
    }
}

/// All rules that a draft violates: at least one, each once, in the contract's order.
///
/// As text: one message per line.
///
/// ```
/// use robot_core::{Draft, Field, Rule, ValidDraft, Violation};
///
/// let rejection = ValidDraft::new(Draft::default()).unwrap_err();
/// let violations = rejection.violations();
/// let first = Violation::new(Field::TYPE, Rule::Missing);
/// assert_eq!(violations.iter().next(), Some(first));
/// assert_eq!(violations.to_string(), "type is required\nname is required\nyear is required");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violations(Vec<Violation>);

impl Violations {
    /// Creates the list, from at least one violation, in the contract's order.
    pub(super) fn new(violations: Vec<Violation>) -> Self {
        debug_assert!(!violations.is_empty() && violations.is_sorted_by_key(|one| one.rank()));
        Self(violations)
    }

    /// The violated rules, in the contract's order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Violation> + '_ {
        self.0.iter().copied()
    }

    /// These and one more.
    /// The message of each rule.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        self.iter().map(|violation| violation.to_string()).collect()
    }

    #[must_use]
    pub(crate) fn and(mut self, violation: Violation) -> Self {
        if let Err(index) = self
            .0
            .binary_search_by_key(&violation.rank(), |one| one.rank())
        {
            self.0.insert(index, violation);
        }
        self
    }
}

impl From<Violation> for Violations {
    fn from(violation: Violation) -> Self {
        Self(vec![violation])
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.messages().join("\n"))
    }
}

impl std::error::Error for Violations {}
