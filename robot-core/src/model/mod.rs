//! The values of the catalogue, which cannot be invalid: robots, their rules, and their fields.

mod definition;
mod draft;
#[cfg(feature = "transfer")]
pub(crate) mod draft_json;
mod fold;
mod id;
mod kind;
mod own;
mod revision;
mod robot;
#[cfg(feature = "http")]
mod schema;
pub(crate) mod text;
mod value;
mod view;
mod violation;

pub(crate) use definition::Member;
pub use definition::{Field, NAME_LENGTH_LIMIT, ParseFieldsError};
pub(crate) use draft::Messages;
pub use draft::{Draft, Rejection, ValidChanges, ValidDraft};
pub use fold::fold;
pub use id::{ParseIdError, RobotId};
pub use kind::Kind;
pub(crate) use kind::listed;
pub use own::OwnValues;
pub use revision::{ParseRevisionError, Revision};
pub use robot::{Entry, Robot};
pub(crate) use text::excerpt;
pub use value::Value;
pub(crate) use view::{View, Visible};
pub use violation::{Rule, Violation, Violations};
