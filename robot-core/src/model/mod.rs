//! The values of the catalogue, which cannot be invalid: robots, their rules, and their fields.

mod draft;
pub(crate) mod draft_json;
mod field;
mod id;
mod robot;
mod robot_type;
mod violation;

pub use draft::{Draft, Rejection, ValidChanges, ValidDraft};
pub use field::{Field, ParseFieldsError};
pub(crate) use field::{FieldValue, View, Visible};
pub use id::{ParseIdError, RobotId};
pub use robot::{Entry, Robot};
pub use robot_type::RobotType;
pub use violation::{NAME_LENGTH_LIMIT, Violation, Violations};
