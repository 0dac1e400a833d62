//! Ids as they are typed.

use std::fmt;

use robot_core::{ParseIdError, RobotId};

use crate::failure::Failure;

/// An id as it was typed. One that no robot can have is an id all the same: asking for it is
/// no mistake on the command line, it only finds nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GivenId {
    /// Some robot may have it.
    Assignable(RobotId),
    /// No robot ever has it; the digits that were typed.
    NeverAssigned(String),
}

impl GivenId {
    /// The id, where it is one that a robot may have.
    pub(crate) fn assignable(self) -> Result<RobotId, Failure> {
        match self {
            Self::Assignable(id) => Ok(id),
            Self::NeverAssigned(digits) => Err(Failure::NeverAssigned(digits)),
        }
    }
}

impl fmt::Display for GivenId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Assignable(id) => id.fmt(formatter),
            Self::NeverAssigned(digits) => formatter.write_str(digits),
        }
    }
}

pub(crate) fn parse_id(text: &str) -> Result<GivenId, ParseIdError> {
    match text.parse() {
        Ok(id) => Ok(GivenId::Assignable(id)),
        Err(ParseIdError::NeverAssigned) => Ok(GivenId::NeverAssigned(text.to_owned())),
        Err(error @ ParseIdError::NotDigits) => Err(error),
    }
}
