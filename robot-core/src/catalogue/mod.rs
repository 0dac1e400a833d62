//! The catalogue: the trait that stores implement, what callers use on top of it, and the errors,
//! pages and pending results that both share.
//!
//! | Module | Contains |
//! |---|---|
//! | `store` | [`Catalogue`], the contract for store authors |
//! | `ext` | [`CatalogueExt`], the operations for callers |
//! | `change` | [`Change`], one insert, update or delete as a value |
//! | `condition` | [`Condition`], a way to compare a field |
//! | `filter`, `cursor` | [`Filter`], which robots; [`Cursor`], in which order and from where |
//! | `page`, `pages` | one page, and the iterator over all pages |
//! | `summary` | [`Summary`], numbers of robots by type and decade |
//! | `define` | [`Redefinition`], a new definition of a catalogue |
//! | `pending` | [`Pending`], a result that may not be available yet |
//! | `restoration` | [`Restoration`], robots to be stored under the ids that they have |
//! | `backup`, `check` | the types of a backup and of a check |
//! | `error` | [`Error`] and [`OpenError`] |
//! | `options`, `earlier_version`, `scheme`, `url` | options for opening a catalogue, and its URL |

pub(crate) mod backup;
pub(crate) mod change;
pub(crate) mod check;
pub(crate) mod condition;
pub(crate) mod cursor;
pub(crate) mod define;
pub(crate) mod earlier_version;
pub(crate) mod error;
pub(crate) mod ext;
pub(crate) mod filter;
pub(crate) mod history;
pub(crate) mod options;
pub(crate) mod page;
pub(crate) mod pages;
pub(crate) mod pending;
pub(crate) mod pruner;
pub(crate) mod restoration;
pub(crate) mod retention;
pub(crate) mod revert;
pub(crate) mod scheme;
pub(crate) mod start;
pub(crate) mod store;
pub(crate) mod summary;
pub(crate) mod url;
pub(crate) mod watch;

pub use backup::{Backup, BackupError};
pub(crate) use change::Authored;
pub use change::{Change, Commit, Receipt};
pub use check::{Check, CheckError, CheckReport};
pub(crate) use condition::PART_LIMIT;
pub use condition::{Comparison, Condition};
pub use cursor::{Cursor, ParseCursorError, ParseSortError, Place, Sort};
pub use define::Redefinition;
pub use earlier_version::{EarlierVersion, ParseVersionError};
pub use error::{Cause, DefinitionConflict, Error, OpenError, REVERT_LIMIT, Result};
pub use ext::CatalogueExt;
pub use filter::{FieldFilter, Filter};
pub use history::{Action, Changes, Event, Extent, ParsePositionError, Position};
pub use options::{OpenOptions, Preparation};
pub(crate) use page::Room;
pub use page::{Page, PageRequest};
pub use pages::Pages;
pub use pending::{BlockingWork, Pending};
pub use pruner::Pruner;
pub use restoration::Restoration;
pub use retention::Retention;
pub use revert::{By, Revert, Reverted};
pub use scheme::{OpenFn, Scheme};
pub use start::{ParseStartError, Start};
pub use store::{AuthoredCatalogue, Catalogue};
pub use summary::{Count, FrequentValues, Summary, SummaryGroup, ValueCount};
pub use url::redact;
pub use watch::Watch;
