//! Parser of ids on the command line.

use robot_core::{ParseIdError, RobotId};

/// An id on the command line. Digits that no robot can have as an id are valid: there is no robot
/// with this id, but the command line is correct.
pub(crate) type IdArgument = Result<RobotId, String>;

pub(crate) fn parse_id(text: &str) -> Result<IdArgument, ParseIdError> {
    match text.parse() {
        Err(ParseIdError::NeverAssigned) => Ok(Err(text.to_owned())),
        id => id.map(Ok),
    }
}
