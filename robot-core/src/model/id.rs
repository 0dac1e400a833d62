//! Id of a robot.

use std::{fmt, str::FromStr};

use serde::{Serialize, Serializer};

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

    pub(crate) const LEAST: Self = Self(1);
    pub(crate) const GREATEST: Self = Self(i64::MAX);

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
#[non_exhaustive]
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
