//! Drafts of robots, and their validation.
//!
//! Drafts come from a [`Source`], such as a request body; [`violation`](super::violation) has the
//! rules.

use serde::{Deserialize, Serialize};

use super::{
    field::Field,
    robot_type::RobotType,
    violation::{Violation, Violations, check_name, check_type, check_year, violated},
};

/// What a client submits, not validated yet.
///
/// A member that the client omitted is `None`. [`ValidDraft::new`](crate::ValidDraft::new)
/// validates it.
///
/// ```
/// use robot_core::Draft;
///
/// let whole = Draft::new("R2-D2", "droid", 1977);
/// let part = Draft { year: Some(1980), ..Draft::default() };
/// assert_eq!((whole.year, part.year, part.name), (Some(1977), Some(1980), None));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Draft {
    /// The name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The type, as text; validation decides whether it is one.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub robot_type: Option<String>,
    /// The year.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub year: Option<i64>,
}

impl Draft {
    /// A draft with all three members.
    ///
    /// ```
    /// # use robot_core::Draft;
    /// let draft = Draft::new("R2-D2", "droid", 1977);
    /// assert_eq!(draft.year, Some(1977));
    /// ```
    #[must_use]
    pub fn new(name: impl Into<String>, robot_type: impl Into<String>, year: i64) -> Self {
        Self {
            name: Some(name.into()),
            robot_type: Some(robot_type.into()),
            year: Some(year),
        }
    }

    /// Reads a draft. The order of the members is that of the messages about them.
    pub(crate) fn read(source: &mut impl Source) -> Self {
        Self {
            robot_type: source.text(Field::Type),
            name: source.text(Field::Name),
            year: source.integer(Field::Year),
        }
    }
}

/// What a draft is read from: an object in JSON, or a row of CSV. A value that is missing or invalid
/// is `None`; the source keeps a message about each invalid value.
pub(crate) trait Source {
    /// The text in a field.
    fn text(&mut self, field: Field) -> Option<String>;

    /// The integer in a field.
    fn integer(&mut self, field: Field) -> Option<i64>;
}

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

impl From<ValidDraft> for Draft {
    fn from(draft: ValidDraft) -> Self {
        Self::new(draft.name, draft.robot_type.as_str(), draft.year)
    }
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

    /// As this one, with further violations.
    fn and(self, violations: Vec<Violation>) -> Self {
        Self {
            violations: violations
                .into_iter()
                .fold(self.violations, Violations::and),
            ..self
        }
    }
}

impl ValidDraft {
    /// A draft of values that were valid when they were stored.
    #[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
    pub(crate) fn from_stored(name: String, robot_type: RobotType, year: i64) -> Self {
        Self {
            name,
            robot_type,
            year,
        }
    }

    pub(super) fn into_name(self) -> String {
        self.name
    }

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
                violations: Violations::new(missing),
                name: changes.name,
            }),
            Err(rejection) => Err(rejection.and(missing)),
        }
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
        let Draft {
            name,
            robot_type,
            year,
        } = draft;
        let of_type = robot_type.as_deref().map_or_else(Vec::new, check_type);
        let of_name = name.as_deref().map_or_else(Vec::new, check_name);
        let of_year = year.map_or_else(Vec::new, check_year);
        let name = name.filter(|_| of_name.is_empty());
        let violations = [of_type, of_name, of_year].concat();
        if violations.is_empty() {
            let robot_type = robot_type.as_deref().and_then(RobotType::from_name);
            return Ok(Self {
                name,
                robot_type,
                year,
            });
        }
        Err(Rejection {
            violations: Violations::new(violations),
            name,
        })
    }

    /// As [`new`](Self::new), of a patch that removes members. All are required, so that it violates
    /// the rules about missing members.
    pub(crate) fn of_patch(draft: Draft, removed: &[Field]) -> Result<Self, Rejection> {
        let missing = violated([
            (removed.contains(&Field::Type), Violation::TypeMissing),
            (removed.contains(&Field::Name), Violation::NameMissing),
            (removed.contains(&Field::Year), Violation::YearMissing),
        ]);
        match Self::new(draft) {
            Ok(changes) if missing.is_empty() => Ok(changes),
            Ok(changes) => Err(Rejection {
                violations: Violations::new(missing),
                name: changes.name,
            }),
            Err(rejection) => Err(rejection.and(missing)),
        }
    }

    /// Whether no member is to change.
    pub(crate) fn is_empty(&self) -> bool {
        self.name.is_none() && self.robot_type.is_none() && self.year.is_none()
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

    /// The new values, and those of `current` for the members that do not change.
    pub(super) fn merge(self, current: &ValidDraft) -> ValidDraft {
        ValidDraft {
            name: self.name.unwrap_or_else(|| current.name.clone()),
            robot_type: self.robot_type.unwrap_or(current.robot_type),
            year: self.year.unwrap_or(current.year),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NAME_LENGTH_LIMIT;

    fn violations(draft: Draft) -> Vec<Violation> {
        match ValidDraft::new(draft) {
            Ok(_) => Vec::new(),
            Err(rejection) => rejection.violations.iter().collect(),
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
        let both = Violations::new([Violation::YearNegative, Violation::TypeUnknown]);
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
}
