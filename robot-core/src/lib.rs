//! docs later
mod catalogue;
#[cfg(feature = "conformance")]
pub mod conformance;
#[cfg(feature = "sqlite")]
mod database;
mod error;
pub mod http;
mod memory;
mod open;
mod robot;
mod rules;

pub use catalogue::{Catalogue, PageRequest, Pages};
#[cfg(feature = "sqlite")]
pub use database::DatabaseCatalogue;
pub use error::{Cause, Error, OpenError, Result};
pub use memory::MemoryCatalogue;
pub use open::{DEFAULT_URL, open};
pub use robot::{Draft, ParseIdError, Robot, RobotId, RobotType};
pub use rules::{NAME_LENGTH_LIMIT, Rejection, ValidDraft, Violation, Violations};
