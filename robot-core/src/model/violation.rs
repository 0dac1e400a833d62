//! Rules that a robot can violate: their exact messages, their order, and their checks.
//!
//! A rule that accepts more than before (a new type, longer names) also needs a migration, because
//! the tables have constraints of their own.

use std::fmt;

use super::{id::RobotId, revision::Revision, robot_type::RobotType};

/// The maximum length of a name, in characters (Unicode scalar values).
///
/// ```
/// use robot_core::{Draft, NAME_LENGTH_LIMIT, ValidDraft};
///
/// let draft = |length| Draft::new("é".repeat(length), "droid", 1977);
/// assert!(ValidDraft::new(draft(NAME_LENGTH_LIMIT)).is_ok());
/// assert!(ValidDraft::new(draft(NAME_LENGTH_LIMIT + 1)).is_err());
/// ```
pub const NAME_LENGTH_LIMIT: usize = 255;

/// One violated rule. Its message, by [`Display`](fmt::Display), is part of the contract.
///
/// ```
/// assert_eq!(robot_core::Violation::NameTaken.to_string(), "The robot name must be unique");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// Another robot has the id. Only a store checks this, when it restores a robot.
    #[error("The robot id must be unique")]
    IdTaken,
    /// The id is greater than [`RobotId::GREATEST_RESTORED`], so the robot cannot be restored.
    #[error("The robot id must be at most {}", RobotId::GREATEST_RESTORED)]
    IdTooGreat,
    /// The revision is greater than [`Revision::GREATEST_RESTORED`], so the robot cannot be restored.
    #[error("The robot revision must be at most {}", Revision::GREATEST_RESTORED)]
    RevisionTooGreat,
    /// The type is missing.
    #[error("type is required")]
    TypeMissing,
    /// The type is not one of [`RobotType::ALL`].
    #[error("Value of field 'type' must be part of list: {}", RobotType::names())]
    TypeUnknown,
    /// The name is missing or empty.
    #[error("name is required")]
    NameMissing,
    /// The name is longer than [`NAME_LENGTH_LIMIT`].
    #[error("The name must be at most {NAME_LENGTH_LIMIT} characters long")]
    NameTooLong,
    /// The name contains U+0000.
    #[error("The name must not contain the NUL character (U+0000)")]
    NameContainsNul,
    /// Another robot has the name. Only a store checks this.
    #[error("The robot name must be unique")]
    NameTaken,
    /// The year is missing.
    #[error("year is required")]
    YearMissing,
    /// The year is less than 0.
    #[error("The year cannot be less than zero")]
    YearNegative,
}

/// The rules that a type violates.
pub(super) fn check_type(name: &str) -> Vec<Violation> {
    violated([(RobotType::from_name(name).is_none(), Violation::TypeUnknown)])
}

/// The rules that a name violates, except uniqueness.
pub(super) fn check_name(name: &str) -> Vec<Violation> {
    // Bytes bound characters from above, and counting them costs nothing.
    let is_too_long = name.len() > NAME_LENGTH_LIMIT && name.chars().count() > NAME_LENGTH_LIMIT;
    violated([
        (name.is_empty(), Violation::NameMissing),
        (is_too_long, Violation::NameTooLong),
        (name.contains('\0'), Violation::NameContainsNul),
    ])
}

/// The rules that a year violates.
pub(super) fn check_year(year: i64) -> Vec<Violation> {
    violated([(year < 0, Violation::YearNegative)])
}

/// The violations whose condition is true.
pub(super) fn violated(violations: impl IntoIterator<Item = (bool, Violation)>) -> Vec<Violation> {
    violations
        .into_iter()
        .filter_map(|(is_violated, violation)| is_violated.then_some(violation))
        .collect()
}

/// All rules that a draft violates: at least one, each once, in the contract's order.
///
/// As text: one message per line.
///
/// ```
/// use robot_core::{Draft, ValidDraft, Violation};
///
/// let rejection = ValidDraft::new(Draft::default()).unwrap_err();
/// let violations = rejection.violations();
/// assert_eq!(violations.iter().next(), Some(Violation::TypeMissing));
/// assert_eq!(violations.to_string(), "type is required\nname is required\nyear is required");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violations(Vec<Violation>);

impl Violations {
    /// Creates the list, from at least one violation, in any order.
    pub(super) fn new(violations: impl IntoIterator<Item = Violation>) -> Self {
        let mut violations: Vec<_> = violations.into_iter().collect();
        violations.sort_unstable();
        violations.dedup();
        Self(violations)
    }

    /// The violated rules, in the contract's order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Violation> + '_ {
        self.0.iter().copied()
    }

    /// These and one more.
    #[must_use]
    pub(crate) fn and(mut self, violation: Violation) -> Self {
        if let Err(index) = self.0.binary_search(&violation) {
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
        for (index, violation) in self.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(formatter, "{separator}{violation}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Violations {}
