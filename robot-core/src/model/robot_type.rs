//! Types of robots.

use std::fmt;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Deserializer, de::Error};

use super::text::serialize_as_text;

/// The types of robots. In JSON, their names.
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
    /// A type that a later version of this program has stored. It is shown as it is, and
    /// rejected in requests.
    Later(LaterType),
}

/// The name of a type that a later version of this program has stored.
///
/// Only a store makes one, from a row of its database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LaterType(&'static str);

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
            Self::Later(LaterType(name)) => name,
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

    /// The type that a row of a database has.
    #[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
    pub(crate) fn from_stored(name: &str) -> Self {
        Self::from_name(name).unwrap_or_else(|| Self::Later(LaterType(kept(name))))
    }
}

/// Interned name. At most 100 names of 255 bytes; further ones become `unknown`.
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
fn kept(name: &str) -> &'static str {
    const LIMIT: usize = 100;
    const LENGTH_LIMIT: usize = 255;
    static KEPT: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    let mut names = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = names.get(name) {
        return kept;
    }
    if names.len() == LIMIT || name.len() > LENGTH_LIMIT {
        return "unknown";
    }
    let kept = Box::leak(Box::from(name));
    names.insert(kept);
    kept
}

impl fmt::Display for RobotType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

serialize_as_text!(RobotType);

impl<'de> Deserialize<'de> for RobotType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::from_name(&name).ok_or_else(|| {
            D::Error::custom(format_args!("the type must be one of {}", Self::names()))
        })
    }
}

#[cfg(all(test, any(feature = "sqlite", feature = "postgres", feature = "mysql")))]
mod tests {
    use super::*;

    #[test]
    fn stored_types_are_known_later_or_too_many() {
        assert_eq!(RobotType::from_stored("virtual"), RobotType::Virtual);
        let android = RobotType::from_stored("android");
        assert_eq!(android.as_str(), "android");
        assert_eq!(android, RobotType::from_stored("android"));
        assert_ne!(android, RobotType::from_stored("Android"));
        assert_eq!(RobotType::from_stored(&"x".repeat(256)).as_str(), "unknown");
        for number in 0..1000 {
            RobotType::from_stored(&number.to_string());
        }
        assert_eq!(RobotType::from_stored("1000").as_str(), "unknown");
        assert_eq!(RobotType::from_stored("android"), android);
    }
}
