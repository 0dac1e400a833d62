//! Revision of a robot.

use std::{fmt, str::FromStr};

use serde::Serialize;

/// The number of a change of a robot, among all changes of the catalogue in their order. A robot has that of its last
/// change. Definitions are numbered by themselves.
///
/// A caller that has read a robot changes it only if it still has the same revision, by
/// [`CatalogueExt::patch_if`](crate::CatalogueExt::patch_if). So the changes of other callers are not lost.
/// In JSON it is a number.
///
/// ```
/// use robot_core::Revision;
///
/// let revision: Revision = "7".parse()?;
/// assert_eq!((revision.get(), revision.next().to_string()), (7, "8".to_owned()));
/// assert!("0".parse::<Revision>().is_err());
/// # Ok::<(), robot_core::ParseRevisionError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Revision(i64);

impl Revision {
    /// The first revision: 1.
    pub const FIRST: Self = Self(1);

    /// The revision with this number; `None` if it is not positive.
    ///
    /// ```
    /// # use robot_core::Revision;
    /// assert_eq!(Revision::new(1), Some(Revision::FIRST));
    /// assert_eq!(Revision::new(0), None);
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

    /// The revision after one more change.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A text is not a [`Revision`].
///
/// ```
/// let error = "+1".parse::<robot_core::Revision>().unwrap_err();
/// assert_eq!(error.to_string(), "a revision is an integer from 1 to 9223372036854775807");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a revision is an integer from 1 to {}", i64::MAX)]
pub struct ParseRevisionError;

impl FromStr for Revision {
    type Err = ParseRevisionError;

    /// Parses digits without a sign or leading zeros, so that a revision has one text.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_canonical = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
        Some(text)
            .filter(|_| is_canonical)
            .and_then(|text| text.parse().ok())
            .and_then(Self::new)
            .ok_or(ParseRevisionError)
    }
}
