//! The values of the catalogue, which cannot be invalid: robots, their rules, and their fields.

mod draft;
#[cfg(feature = "transfer")]
pub(crate) mod draft_json;
mod field;
mod fold;
mod id;
mod revision;
mod robot;
mod robot_type;
pub(crate) mod text;
mod view;
mod violation;

pub(crate) use draft::Source;
pub use draft::{Draft, Rejection, ValidChanges, ValidDraft};
pub(crate) use field::excerpt;
pub use field::{Field, FieldValue, ParseFieldsError};
#[cfg(feature = "postgres")]
pub(crate) use fold::decompose;
pub use fold::fold;
pub use id::{ParseIdError, RobotId};
pub use revision::{ParseRevisionError, Revision};
pub use robot::{Entry, Robot};
pub use robot_type::{LaterType, RobotType};
pub(crate) use view::{View, Visible};
pub use violation::{NAME_LENGTH_LIMIT, Violation, Violations};
