//! Robots: what a client submits, and what a store returns.

use std::{fmt, str::FromStr};

use serde::{Serialize, Serializer, ser::SerializeStruct};

/// The number that a store assigned to a robot: a positive 64-bit integer that is never reused.
///
/// As text it is decimal digits, and in JSON a string of them, as in the contract.
///
/// ```
/// use robot_core::{ParseIdError, RobotId};
///
/// let id: RobotId = "0042".parse()?;
/// assert_eq!((id.get(), id.to_string()), (42, "42".to_owned()));
/// assert_eq!("4x".parse::<RobotId>(), Err(ParseIdError::NotDigits));
/// # Ok::<(), ParseIdError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RobotId(i64);

impl RobotId {
    /// The greatest id that a robot can be restored with (see
    /// [`Restoration`](crate::Restoration)): 9223090561878065151. The 2^48 ids after it are reserved
    /// for new robots, so that a restored robot never makes it impossible to add others.
    pub const GREATEST_RESTORED: Self = Self(i64::MAX - (1 << 48));

    /// The id with this number; `None` if it is not positive.
    ///
    /// ```
    /// # use robot_core::RobotId;
    /// assert_eq!(RobotId::new(7).map(RobotId::get), Some(7));
    /// assert_eq!(RobotId::new(0), None);
    /// ```
    #[must_use]
    pub const fn new(number: i64) -> Option<Self> {
        if number > 0 { Some(Self(number)) } else { None }
    }

    /// The number, 1 or more.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for RobotId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl Serialize for RobotId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(itoa::Buffer::new().format(self.0))
    }
}

/// Why a text is not the id of a robot.
///
/// ```
/// use robot_core::{ParseIdError, RobotId};
///
/// assert_eq!("seven".parse::<RobotId>(), Err(ParseIdError::NotDigits));
/// assert_eq!("0".parse::<RobotId>(), Err(ParseIdError::NeverAssigned));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseIdError {
    /// The text is empty or has a character other than the digits 0 to 9.
    #[error("an id consists of the digits 0 to 9")]
    NotDigits,
    /// The text is an id (`[0-9]+`), but 0 or more than 64 bits: it is never assigned.
    #[error("no robot can have this id: ids are from 1 to {}", i64::MAX)]
    NeverAssigned,
}

impl FromStr for RobotId {
    type Err = ParseIdError;

    /// Parses `[0-9]+`; leading zeros are ignored.
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ParseIdError::NotDigits);
        }
        // Digits only: parsing fails for a number of more than 64 bits alone.
        text.parse()
            .ok()
            .and_then(Self::new)
            .ok_or(ParseIdError::NeverAssigned)
    }
}

/// The types of robots.
///
/// ```
/// use robot_core::RobotType;
///
/// let names: Vec<_> = RobotType::ALL.iter().map(|known| known.as_str()).collect();
/// assert_eq!(names, ["droid", "mechanical", "virtual"]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RobotType {
    /// `droid`
    Droid,
    /// `mechanical`
    Mechanical,
    /// `virtual`
    Virtual,
}

impl RobotType {
    /// Every type, in the contract's order.
    pub const ALL: [Self; 3] = [Self::Droid, Self::Mechanical, Self::Virtual];

    /// The type as the contract spells it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Droid => "droid",
            Self::Mechanical => "mechanical",
            Self::Virtual => "virtual",
        }
    }

    /// The type with exactly this name.
    ///
    /// ```
    /// # use robot_core::RobotType;
    /// assert_eq!(RobotType::from_name("droid"), Some(RobotType::Droid));
    /// assert_eq!(RobotType::from_name("Droid"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }
}

impl fmt::Display for RobotType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draft {
    /// The name.
    pub name: Option<String>,
    /// The type, as text; validation decides whether it is one.
    pub robot_type: Option<String>,
    /// The year.
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
}

impl From<Robot> for Draft {
    /// The draft with the values of this robot: a start for changing some of them.
    fn from(robot: Robot) -> Self {
        Self::new(robot.name, robot.kind.as_str(), robot.year)
    }
}

/// A stored robot, which satisfies every rule of the contract.
///
/// It is made from a [`ValidDraft`](crate::ValidDraft) and an id, so an invalid one cannot exist.
/// In JSON it is an object with `id`, `name`, `type` and `year`.
///
/// ```
/// use robot_core::{Draft, RobotId, ValidDraft};
///
/// let robot = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?
///     .with_id(RobotId::new(7).ok_or("not positive")?);
/// assert_eq!((robot.id().get(), robot.name()), (7, "R2-D2"));
/// assert_eq!((robot.robot_type().as_str(), robot.year()), ("droid", 1977));
/// assert_eq!(
///     serde_json::to_string(&robot)?,
///     r#"{"id":"7","name":"R2-D2","type":"droid","year":1977}"#,
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Robot {
    id: RobotId,
    name: String,
    kind: RobotType,
    year: i64,
}

impl Robot {
    /// A robot with values that are known to be valid.
    pub(crate) fn from_valid(id: RobotId, name: String, kind: RobotType, year: i64) -> Self {
        Self {
            id,
            name,
            kind,
            year,
        }
    }

    /// The id that the store assigned.
    #[must_use]
    pub fn id(&self) -> RobotId {
        self.id
    }

    /// The name: 1 to 255 characters, none of them NUL; no other robot of the catalogue has it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type.
    #[must_use]
    pub fn robot_type(&self) -> RobotType {
        self.kind
    }

    /// The year, 0 or more.
    #[must_use]
    pub fn year(&self) -> i64 {
        self.year
    }
}

/// Id and name of a robot, as lists show it. A store reads it faster than a whole [`Robot`].
///
/// ```
/// use robot_core::{CatalogueExt, Draft, MemoryCatalogue, Pages};
///
/// let catalogue = MemoryCatalogue::new();
/// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
/// for page in Pages::new(&catalogue, "R2").entries() {
///     for entry in page? {
///         assert_eq!((entry.id().get(), entry.name()), (1, "R2-D2"));
///     }
/// }
/// # Ok::<(), robot_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    id: RobotId,
    name: String,
}

impl Entry {
    /// The entry of a stored robot.
    ///
    /// ```
    /// # use robot_core::{Entry, RobotId};
    /// let entry = Entry::new(RobotId::new(7).ok_or("not positive")?, "R2-D2");
    /// assert_eq!(entry.name(), "R2-D2");
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn new(id: RobotId, name: impl Into<String>) -> Self {
        Self {
            id,
            name: name.into(),
        }
    }

    /// The id of the robot.
    #[must_use]
    pub fn id(&self) -> RobotId {
        self.id
    }

    /// The name of the robot.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl From<Robot> for Entry {
    fn from(robot: Robot) -> Self {
        Self::new(robot.id, robot.name)
    }
}

impl Serialize for Robot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Robot", 4)?;
        object.serialize_field("id", &self.id)?;
        object.serialize_field("name", &self.name)?;
        object.serialize_field("type", self.kind.as_str())?;
        object.serialize_field("year", &self.year)?;
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_is_parsed_from_digits_only() {
        assert_eq!("1".parse(), Ok(RobotId(1)));
        assert_eq!("000000000000000000000000007".parse(), Ok(RobotId(7)));
        assert_eq!("9223372036854775807".parse(), Ok(RobotId(i64::MAX)));
        for text in ["", "+1", "-1", "1.0", " 1", "1 ", "0x1", "١"] {
            assert_eq!(
                text.parse::<RobotId>(),
                Err(ParseIdError::NotDigits),
                "{text:?}"
            );
        }
    }

    #[test]
    fn unassignable_id_is_still_an_id() {
        for text in ["0", "000", "9223372036854775808", "1".repeat(500).as_str()] {
            assert_eq!(
                text.parse::<RobotId>(),
                Err(ParseIdError::NeverAssigned),
                "{text}"
            );
        }
    }
}
