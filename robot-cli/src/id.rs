//! Parser of ids on the command line.

use robot_core::{ParseIdError, RobotId};

use crate::failure::Failure;

/// An id on the command line. Digits that no robot can have as an id are valid: there is no robot
/// with this id, but the command line is correct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum IdArgument {
    Assignable(RobotId),
    /// The digits of an id that is never assigned.
    NeverAssigned(String),
}

impl IdArgument {
    /// The id, if a robot may have it.
    pub(crate) fn assignable(self) -> Result<RobotId, Failure> {
        match self {
            Self::Assignable(id) => Ok(id),
            Self::NeverAssigned(digits) => Err(Failure::NeverAssigned(digits)),
        }
    }
}

pub(crate) fn parse_id(text: &str) -> Result<IdArgument, ParseIdError> {
    match text.parse() {
        Ok(id) => Ok(IdArgument::Assignable(id)),
        Err(ParseIdError::NeverAssigned) => Ok(IdArgument::NeverAssigned(text.to_owned())),
        Err(error) => Err(error),
    }
}
