//! The values of the catalogue, which cannot be invalid: robots, their rules, and their fields.

pub(crate) mod draft_json;
pub(crate) mod field;
pub(crate) mod hex;
pub(crate) mod robot;
pub(crate) mod rules;

pub use field::{Field, ParseFieldsError};
pub(crate) use field::{View, Visible, excerpt};
pub use robot::{Draft, Entry, ParseIdError, Robot, RobotId, RobotType};
pub use rules::{NAME_LENGTH_LIMIT, Rejection, ValidChanges, ValidDraft, Violation, Violations};
