//! Validation rules of a robot, their exact messages and their order.
//!
//! To add a rule about a member, add a [`Violation`] with its message, and the check to
//! `check_type`, `check_name` or `check_year`. The order of the variants is the order of the
//! messages. A rule that accepts more than before (a new type, longer names) also needs a
//! migration, because the tables have constraints of their own.

use std::fmt;

use super::robot::{Draft, Robot, RobotId, RobotType};

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
    /// The type is missing.
    #[error("type is required")]
    TypeMissing,
    /// The type is not one of [`RobotType::ALL`].
    #[error("Value of field 'type' must be part of list: droid, mechanical, virtual")]
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

/// A draft that satisfies every rule except the one that only a store can check: that its name is
/// free. Stores accept nothing else.
///
/// ```
/// use robot_core::{Draft, RobotId, RobotType, ValidDraft};
///
/// let draft = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?;
/// assert_eq!((draft.name(), draft.robot_type(), draft.year()), ("R2-D2", RobotType::Droid, 1977));
/// let robot = draft.with_id(RobotId::new(7).ok_or("not positive")?);
/// assert_eq!(robot.id().get(), 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidDraft {
    name: String,
    robot_type: RobotType,
    year: i64,
}

/// New values for some members of a robot, which satisfy every rule except the one that only a
/// store can check. Members that are `None` keep their value.
///
/// ```
/// use robot_core::{Draft, RobotId, ValidChanges, ValidDraft};
///
/// let id = RobotId::new(7).ok_or("not positive")?;
/// let robot = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?.with_id(id);
/// let changes = ValidChanges::new(Draft { year: Some(1980), ..Draft::default() })?;
/// assert_eq!((changes.name(), changes.robot_type(), changes.year()), (None, None, Some(1980)));
/// let robot = changes.apply_to(&robot);
/// assert_eq!((robot.name(), robot.year()), ("R2-D2", 1980));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidChanges {
    /// The new name: 1 to 255 characters, none of them NUL.
    name: Option<String>,
    robot_type: Option<RobotType>,
    year: Option<i64>,
}

/// A draft that violates rules: which ones, and its name if that is valid, so that
/// [`CatalogueExt::violations`](crate::CatalogueExt::violations) can look up whether it is free.
///
/// ```
/// use robot_core::{Draft, ValidDraft};
///
/// let rejection = ValidDraft::new(Draft::new("R2-D2", "droid", -1)).unwrap_err();
/// assert_eq!(rejection.violations().to_string(), "The year cannot be less than zero");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{violations}")]
pub struct Rejection {
    pub(crate) violations: Violations,
    pub(crate) name: Option<String>,
}

impl Rejection {
    /// The rules that the draft violates.
    #[must_use]
    pub fn violations(&self) -> &Violations {
        &self.violations
    }
}

impl ValidDraft {
    /// Checks a draft against every rule but uniqueness.
    ///
    /// # Errors
    /// All rules that it violates.
    ///
    /// ```
    /// use robot_core::{Draft, ValidDraft, Violation};
    ///
    /// let rejection = ValidDraft::new(Draft::new("Bender", "bending", -1)).unwrap_err();
    /// assert!(rejection.violations().iter().eq([Violation::TypeUnknown, Violation::YearNegative]));
    /// ```
    pub fn new(draft: Draft) -> Result<Self, Rejection> {
        let missing = missing_members(&draft);
        match ValidChanges::new(draft) {
            Ok(ValidChanges {
                name: Some(name),
                robot_type: Some(robot_type),
                year: Some(year),
            }) => Ok(Self {
                name,
                robot_type,
                year,
            }),
            Ok(changes) => Err(Rejection {
                violations: Violations(missing),
                name: changes.name,
            }),
            Err(rejection) => Err(Rejection {
                violations: missing
                    .into_iter()
                    .fold(rejection.violations, Violations::and),
                ..rejection
            }),
        }
    }

    /// The robot with this id and the values of this draft.
    #[must_use]
    pub fn with_id(self, id: RobotId) -> Robot {
        Robot::from_valid(id, self.name, self.robot_type, self.year)
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

impl ValidChanges {
    /// Checks the members that a draft has against every rule but uniqueness. The members that are
    /// missing keep their value.
    ///
    /// # Errors
    /// All rules that they violate.
    ///
    /// ```
    /// use robot_core::{Draft, ValidChanges, Violation};
    ///
    /// let draft = Draft { year: Some(-1), ..Draft::default() };
    /// let rejection = ValidChanges::new(draft).unwrap_err();
    /// assert!(rejection.violations().iter().eq([Violation::YearNegative]));
    /// ```
    pub fn new(draft: Draft) -> Result<Self, Rejection> {
        let name_violations = draft.name.as_deref().map_or_else(Vec::new, check_name);
        let is_name_good = name_violations.is_empty();
        let robot_type = draft.robot_type.as_deref().map(check_type).transpose();
        let year = draft.year.map(check_year).transpose();
        match (robot_type, year) {
            (Ok(robot_type), Ok(year)) if is_name_good => Ok(Self {
                name: draft.name,
                robot_type,
                year,
            }),
            (robot_type, year) => {
                let of_type = robot_type.err().into_iter();
                let violations = of_type.chain(name_violations).chain(year.err());
                Err(Rejection {
                    violations: Violations(violations.collect()),
                    name: draft.name.filter(|_| is_name_good),
                })
            }
        }
    }

    /// The new name, if it is to change.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The new type, if it is to change.
    #[must_use]
    pub fn robot_type(&self) -> Option<RobotType> {
        self.robot_type
    }

    /// The new year, if it is to change.
    #[must_use]
    pub fn year(&self) -> Option<i64> {
        self.year
    }

    /// The robot after the changes.
    #[must_use]
    pub fn apply_to(self, robot: &Robot) -> Robot {
        Robot::from_valid(
            robot.id(),
            self.name.unwrap_or_else(|| robot.name().to_owned()),
            self.robot_type.unwrap_or(robot.robot_type()),
            self.year.unwrap_or(robot.year()),
        )
    }
}

impl From<ValidDraft> for ValidChanges {
    /// All three members.
    fn from(draft: ValidDraft) -> Self {
        Self {
            name: Some(draft.name),
            robot_type: Some(draft.robot_type),
            year: Some(draft.year),
        }
    }
}

/// The violations for members that are missing.
fn missing_members(draft: &Draft) -> Vec<Violation> {
    violated([
        (draft.robot_type.is_none(), Violation::TypeMissing),
        (draft.name.is_none(), Violation::NameMissing),
        (draft.year.is_none(), Violation::YearMissing),
    ])
}

fn check_type(name: &str) -> Result<RobotType, Violation> {
    RobotType::from_name(name).ok_or(Violation::TypeUnknown)
}

fn check_name(name: &str) -> Vec<Violation> {
    // Bytes bound characters from above, and counting them costs nothing.
    let is_too_long = name.len() > NAME_LENGTH_LIMIT && name.chars().count() > NAME_LENGTH_LIMIT;
    violated([
        (name.is_empty(), Violation::NameMissing),
        (is_too_long, Violation::NameTooLong),
        (name.contains('\0'), Violation::NameContainsNul),
    ])
}

fn check_year(year: i64) -> Result<i64, Violation> {
    if year < 0 {
        return Err(Violation::YearNegative);
    }
    Ok(year)
}

/// The violations whose condition is true.
fn violated(violations: impl IntoIterator<Item = (bool, Violation)>) -> Vec<Violation> {
    violations
        .into_iter()
        .filter_map(|(is_violated, violation)| is_violated.then_some(violation))
        .collect()
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
    fn all_violations_are_reported_in_contract_order() {
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
    fn name_taken_is_reported_between_type_and_year() {
        let both = Violations(vec![Violation::TypeUnknown, Violation::YearNegative]);
        assert_eq!(
            both.and(Violation::NameTaken).to_string(),
            "Value of field 'type' must be part of list: droid, mechanical, virtual\n\
             The robot name must be unique\n\
             The year cannot be less than zero"
        );
    }

    #[test]
    fn name_length_is_counted_in_characters() {
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
    fn type_message_lists_every_type() {
        let listed = RobotType::ALL.map(RobotType::as_str).join(", ");
        assert!(Violation::TypeUnknown.to_string().ends_with(&listed));
    }
}
