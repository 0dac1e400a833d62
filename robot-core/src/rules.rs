//! The rules that every robot obeys, their exact messages and their order.
//!
//! This is the place to add a rule: a [`Violation`] with its message, and the line in
//! [`ValidDraft::new`] that finds it. The order of the variants is the order of the messages.

use std::fmt;

use crate::robot::{Draft, Robot, RobotId, RobotType};

/// The most characters (Unicode scalar values) that a name may have.
pub const NAME_LENGTH_LIMIT: usize = 255;

/// One broken rule. Its text, by [`Display`](fmt::Display), is part of the contract
/// ("Validation rules") or, where the contract is silent, of the README's decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// No type was submitted.
    #[error("type is required")]
    TypeMissing,
    /// The type is not one of [`RobotType::ALL`].
    #[error("Value of field 'type' must be part of list: droid, mechanical, virtual")]
    TypeUnknown,
    /// No name was submitted, or an empty one.
    #[error("name is required")]
    NameMissing,
    /// The name is longer than [`NAME_LENGTH_LIMIT`].
    #[error("The name must be at most {NAME_LENGTH_LIMIT} characters long")]
    NameTooLong,
    /// The name contains U+0000.
    #[error("The name must not contain the NUL character (U+0000)")]
    NameContainsNul,
    /// Another robot has the name. Only a store can tell.
    #[error("The robot name must be unique")]
    NameTaken,
    /// No year was submitted.
    #[error("year is required")]
    YearMissing,
    /// The year is less than 0.
    #[error("The year cannot be less than zero")]
    YearNegative,
}

/// All the rules that one request broke: at least one, each once, in the contract's order.
///
/// As text: the messages, a line each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violations(Vec<Violation>);

impl Violations {
    /// The broken rules, in the contract's order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Violation> + '_ {
        self.0.iter().copied()
    }

    /// These and one more.
    #[must_use]
    pub(crate) fn and(mut self, violation: Violation) -> Self {
        if let Err(place) = self.0.binary_search(&violation) {
            self.0.insert(place, violation);
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

/// A draft that breaks no rule, but for the one that only a store can check: that its name
/// is free. This is what stores are given to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidDraft {
    name: String,
    robot_type: RobotType,
    year: i64,
}

/// A draft that broke rules: which, and the name where that was not at fault, so that a
/// store can still be asked whether it is free.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{violations}")]
pub struct Rejection {
    pub(crate) violations: Violations,
    pub(crate) name: Option<String>,
}

impl Rejection {
    /// The rules that the draft broke.
    #[must_use]
    pub fn violations(&self) -> &Violations {
        &self.violations
    }
}

impl ValidDraft {
    /// Checks a draft against every rule but uniqueness.
    ///
    /// # Errors
    /// All the rules that it breaks, at once.
    ///
    /// ```
    /// use robot_core::{Draft, ValidDraft, Violation};
    ///
    /// let rejection = ValidDraft::new(Draft::new("Bender", "bending", -1)).unwrap_err();
    /// assert!(rejection.violations().iter().eq([Violation::TypeUnknown, Violation::YearNegative]));
    /// ```
    pub fn new(draft: Draft) -> Result<Self, Rejection> {
        let robot_type = check_type(draft.robot_type.as_deref());
        let name = check_name(draft.name);
        let year = check_year(draft.year);
        match (robot_type, name, year) {
            (Ok(robot_type), Ok(name), Ok(year)) => Ok(Self {
                name,
                robot_type,
                year,
            }),
            (robot_type, name, year) => {
                let (name, name_violations) = match name {
                    Ok(name) => (Some(name), Vec::new()),
                    Err(violations) => (None, violations),
                };
                let violations = robot_type
                    .err()
                    .into_iter()
                    .chain(name_violations)
                    .chain(year.err())
                    .collect();
                Err(Rejection {
                    violations: Violations(violations),
                    name,
                })
            }
        }
    }

    /// The robot that this draft becomes under an id.
    #[must_use]
    pub fn with_id(self, id: RobotId) -> Robot {
        Robot::from_checked(id, self.name, self.robot_type, self.year)
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type.
    #[must_use]
    pub fn robot_type(&self) -> RobotType {
        self.robot_type
    }

    /// The year, 0 or more.
    #[must_use]
    pub fn year(&self) -> i64 {
        self.year
    }
}

fn check_type(robot_type: Option<&str>) -> Result<RobotType, Violation> {
    let name = robot_type.ok_or(Violation::TypeMissing)?;
    RobotType::from_name(name).ok_or(Violation::TypeUnknown)
}

fn check_name(name: Option<String>) -> Result<String, Vec<Violation>> {
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Err(vec![Violation::NameMissing]);
    };
    let mut violations = Vec::new();
    // Bytes bound characters from above, and counting them costs nothing.
    if name.len() > NAME_LENGTH_LIMIT && name.chars().count() > NAME_LENGTH_LIMIT {
        violations.push(Violation::NameTooLong);
    }
    if name.contains('\0') {
        violations.push(Violation::NameContainsNul);
    }
    if violations.is_empty() {
        Ok(name)
    } else {
        Err(violations)
    }
}

fn check_year(year: Option<i64>) -> Result<i64, Violation> {
    let year = year.ok_or(Violation::YearMissing)?;
    if year < 0 {
        return Err(Violation::YearNegative);
    }
    Ok(year)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(draft: Draft) -> Vec<Violation> {
        match ValidDraft::new(draft) {
            Ok(_) => Vec::new(),
            Err(rejection) => rejection.violations.0,
        }
    }

    #[test]
    fn all_broken_rules_are_told_at_once_in_the_contracts_order() {
        let name = format!("{}\0", "a".repeat(NAME_LENGTH_LIMIT));
        assert_eq!(
            violations(Draft::new(name, "robot", -1)),
            [
                Violation::TypeUnknown,
                Violation::NameTooLong,
                Violation::NameContainsNul,
                Violation::YearNegative
            ]
        );
        assert_eq!(
            violations(Draft::default()),
            [
                Violation::TypeMissing,
                Violation::NameMissing,
                Violation::YearMissing
            ]
        );
    }

    #[test]
    fn a_taken_name_stands_between_the_type_and_the_year() {
        let both = Violations(vec![Violation::TypeUnknown, Violation::YearNegative]);
        assert_eq!(
            both.and(Violation::NameTaken).to_string(),
            "Value of field 'type' must be part of list: droid, mechanical, virtual\n\
             The robot name must be unique\n\
             The year cannot be less than zero"
        );
    }

    #[test]
    fn a_name_is_counted_in_characters() {
        assert_eq!(
            violations(Draft::new("é".repeat(NAME_LENGTH_LIMIT), "droid", 0)),
            []
        );
        assert_eq!(
            violations(Draft::new("🤖".repeat(NAME_LENGTH_LIMIT + 1), "droid", 0)),
            [Violation::NameTooLong]
        );
    }

    #[test]
    fn the_message_for_the_type_lists_every_type() {
        let listed = RobotType::ALL.map(RobotType::as_str).join(", ");
        assert!(Violation::TypeUnknown.to_string().ends_with(&listed));
    }
}
