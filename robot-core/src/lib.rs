//! An embeddable catalogue of robots.
//!
//! A robot has an id, a unique name, and values such as its type and year. A [`Catalogue`] stores
//! robots: it adds, replaces and deletes them, and finds them by id, by name and by any part of the
//! name. The URL decides where they are stored. This is a summary; the [guide](#a-guide) below has
//! the details.
//!
//! ```
//! use robot_core::{Catalogue, CatalogueExt, Draft, Error, Pages};
//!
//! // `sqlite://robots.db` would store them in a file.
//! let catalogue = robot_core::open("memory:")?;
//!
//! let robot = catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
//! catalogue.replace(robot.id(), Draft::new("R2-D2", "droid", 1980))?;
//! assert_eq!(catalogue.search("2-D")?.len(), 1);
//!
//! // All rules that a draft violates are reported together.
//! match catalogue.add(Draft::new("R2-D2", "toaster", -1)) {
//!     Err(Error::Rejected(violations)) => assert_eq!(violations.iter().len(), 3),
//!     other => panic!("{other:?}"),
//! }
//!
//! // Any number of robots is read page by page, in constant memory.
//! for page in Pages::new(&catalogue, "") {
//!     for robot in page? {
//!         println!("{} {}", robot.id(), robot.name());
//!     }
//! }
//!
//! catalogue.delete(robot.id())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
#![doc = include_str!("guide.md")]
//! # Where to look
//!
//! | To | see |
//! |---|---|
//! | open a store by its URL | [`open()`], [`OpenOptions`] |
//! | work with robots | [`Catalogue`], [`CatalogueExt`], [`Pages`] |
//! | read robots from CSV, JSON or NDJSON, or write them | [`transfer`] |
//! | make several changes, all of them or none | [`CatalogueExt::apply_all`], [`transfer::import_atomically`] |
//! | follow changes, or undo them | [`Catalogue::changes`], [`Catalogue::history`], [`Watch`], [`Revert`] |
//! | copy a catalogue to another store | [`transfer::copy()`], [`Restoration`] |
//! | back up a file that is in use | [`backup`] |
//! | restore a backup | [`OpenOptions::restore_backup`] |
//! | check a catalogue | [`OpenOptions::check`], [`check()`], [`repair()`] |
//! | call a catalogue from async code | [`Pending`], [`CatalogueExt::start_add`] and its siblings |
//! | look up the rules and their messages | [`Violation`], [`ValidDraft`] |
//! | write a store | [`Catalogue`], whose documentation is the contract, `conformance`, which tests it, and [`Schemes`], which gives it a URL |
//! | watch a catalogue while it runs | [`metrics`] |
//! | serve the catalogue with another web framework | [`http`] |
//!
//! # Stores
//!
//! [`MemoryCatalogue`] needs nothing. [`open()`] opens the others by their URLs: an SQLite file (feature `sqlite`,
//! on by default; SQLite is compiled in), or a database server. All stores answer alike, byte for byte.
//!
//! # Features
//!
//! Without features, the library has no store but [`MemoryCatalogue`], and compiles in a few seconds.
//!
//! | Feature | Adds |
//! |---|---|
//! | `sqlite` (default) | stores in SQLite files |
//! | `transfer` | [`transfer`]: import, export and copy |
//! | `http` | [`http`]: the REST contract; includes `transfer` |
//! | `postgres` | stores on PostgreSQL; brings Tokio |
//! | `mysql` | stores on MariaDB and MySQL; brings Tokio |
//! | `conformance` | the test cases that every store and every frontend must pass; includes `http` |
//!
//! A store on a database server has a Tokio runtime of its own, with one thread: it works in programs
//! with and without a runtime. The other stores need no Tokio.

#![cfg_attr(
    not(all(
        feature = "http",
        feature = "sqlite",
        feature = "postgres",
        feature = "mysql"
    )),
    allow(
        dead_code,
        unused_imports,
        rustdoc::broken_intra_doc_links,
        clippy::allow_attributes,
        reason = "some of the code is used only by some features"
    )
)]

mod backup;
mod catalogue;
mod check;
#[cfg(feature = "conformance")]
pub mod conformance;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
mod database;
mod files;
#[cfg(feature = "http")]
pub mod http;
mod memory;
pub mod metrics;
mod model;
mod open;
mod repeater;
#[cfg(feature = "transfer")]
pub mod transfer;

/// The Rust of the READMEs, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
#[doc = include_str!("../README.md")]
struct Readmes;

pub use backup::backup;
pub use catalogue::{
    Action, AuthoredCatalogue, Backup, BackupError, BlockingWork, By, Catalogue, CatalogueExt,
    Cause, Change, Changes, Check, CheckError, CheckReport, Commit, Comparison, Condition, Count,
    Cursor, DefinitionConflict, EarlierVersion, Error, Event, Extent, FieldFilter, Filter,
    FrequentValues, OpenError, OpenFn, OpenOptions, Page, PageRequest, Pages, ParseCursorError,
    ParsePositionError, ParseSortError, ParseStartError, ParseVersionError, Pending, Place,
    Position, Preparation, Pruner, REVERT_LIMIT, Receipt, Redefinition, Restoration, Result,
    Retention, Revert, Reverted, Scheme, Sort, Start, Summary, SummaryGroup, ValueCount, Watch,
    redact,
};
pub use check::{check, repair};
pub use files::{Existing, StoreFiles};
#[cfg(any(feature = "sqlite", feature = "transfer"))]
pub use files::{OutputError, OutputFile};
pub use memory::MemoryCatalogue;
pub use model::{
    Audit, DateOrder, Definition, DefinitionDraft, DefinitionError, Draft, Field, Format, Kind,
    Message, NAME_LENGTH_LIMIT, NamedFormat, OwnValues, ParseIdError, ParseRevisionError,
    ParseTimestampError, Pattern, Rejection, Revision, Robot, RobotId, Rule, Timestamp,
    ValidChanges, ValidDraft, Value, Violation, Violations, fold,
};
pub use open::{DEFAULT_URL, Schemes, open};
