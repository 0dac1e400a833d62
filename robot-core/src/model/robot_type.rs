//! Types of robots.

use std::fmt;

/// The types of robots.
///
/// ```
/// use robot_core::RobotType;
///
/// let names: Vec<_> = RobotType::ALL.iter().map(|known| known.as_str()).collect();
/// assert_eq!(names, ["droid", "mechanical", "virtual"]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
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

    /// The names of all types, separated by commas.
    ///
    /// ```
    /// assert_eq!(robot_core::RobotType::names(), "droid, mechanical, virtual");
    /// ```
    #[must_use]
    pub fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
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
