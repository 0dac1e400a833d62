//! The values of the catalogue: robots, their rules, and their fields.

mod audit;
mod date;
mod definition;
mod document;
mod draft;
#[cfg(feature = "transfer")]
pub(crate) mod draft_json;
mod field;
mod fold;
mod format;
mod id;
mod kind;
mod members;
mod own;
mod reading;
mod revision;
mod robot;
#[cfg(feature = "http")]
mod schema;
pub(crate) mod text;
mod valid;
mod validation;
mod value;
mod view;
mod violation;

pub use audit::{Audit, ParseTimestampError, Timestamp};
pub use date::DateOrder;
pub use definition::Definition;
pub(crate) use document::{CHOICE_LIMIT, TITLE_LIMIT, is_reserved};
pub use document::{DefinitionDraft, DefinitionError};
pub(crate) use draft::Messages;
pub use draft::{Draft, Rejection};
pub(crate) use field::Member;
pub use field::{Field, NAME_LENGTH_LIMIT};
pub use fold::fold;
pub use format::{Format, NamedFormat, Pattern};
pub use id::{ParseIdError, RobotId};
pub use kind::Kind;
pub(crate) use kind::{INDEXED_LENGTH, listed};
pub use own::OwnValues;
#[cfg(feature = "transfer")]
pub(crate) use reading::{NULLS, Reading, whole};
pub use revision::{ParseRevisionError, Revision};
pub use robot::Robot;
pub use text::Message;
pub(crate) use text::excerpt;
#[cfg(not(feature = "http"))]
pub(crate) use text::similar;
#[cfg(feature = "http")]
pub use text::similar;
#[cfg(feature = "transfer")]
pub(crate) use text::{UNKNOWN_LIMIT, unknown};
pub(crate) use valid::OwnChange;
pub use valid::{ValidChanges, ValidDraft};
pub use value::Value;
pub(crate) use value::of_json;
pub(crate) use view::View;
pub use violation::{Rule, Violation, Violations};
