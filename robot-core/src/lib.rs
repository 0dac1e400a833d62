//! A catalogue of robots, to embed.
//!
//! A robot has an id, a unique name, a type and a year. A [`Catalogue`] keeps robots: adds,
//! replaces and deletes them, finds them by id, by name and by any part of the name. Where it
//! keeps them is a matter of one URL. This is all of it in short; the [guide](#a-guide) below goes
//! through it at leisure.
//!
//! ```
//! use robot_core::{Catalogue, Draft, Error, Pages};
//!
//! // `sqlite://robots.db` would keep them in a file.
//! let catalogue = robot_core::open("memory:")?;
//!
//! let robot = catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
//! catalogue.replace(robot.id(), Draft::new("R2-D2", "droid", 1980))?;
//! assert_eq!(catalogue.search("2-D")?.len(), 1);
//!
//! // All the rules that a draft breaks are told at once.
//! match catalogue.add(Draft::new("R2-D2", "toaster", -1)) {
//!     Err(Error::Rejected(violations)) => assert_eq!(violations.iter().len(), 3),
//!     other => panic!("{other:?}"),
//! }
//!
//! // However many robots there are, they are read a page at a time.
//! for page in Pages::new(&catalogue, "") {
//!     for robot in page? {
//!         println!("{} {} {}", robot.id(), robot.name(), robot.year());
//!     }
//! }
//!
//! catalogue.delete(robot.id())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
#![doc = include_str!("guide.md")]
//! # What is where
//!
//! | To | see |
//! |---|---|
//! | open a store by its URL | [`open`] |
//! | work with robots | [`Catalogue`], [`Pages`] |
//! | add many at once | [`load`] |
//! | read robots from CSV, JSON or NDJSON, or write them | [`transfer`] |
//! | move a catalogue to another store | [`copy`], [`Catalogue::restore`] |
//! | copy a file that is in use | [`backup`] |
//! | call it from async code | [`Pending`], [`Catalogue::begin_add`] and its like |
//! | know the rules and their messages | [`Violation`], [`ValidDraft`] |
//! | write a store of one's own | [`Catalogue`], whose text is the contract, and `conformance`, which proves it |
//! | serve the catalogue by another web framework | [`http`] |
//!
//! # Stores
//!
//! [`MemoryCatalogue`] needs nothing. `DatabaseCatalogue` keeps robots in an SQLite file
//! (feature `sqlite`, on by default; SQLite is compiled in), or on a PostgreSQL, MariaDB or
//! MySQL server. All stores answer alike, byte for byte.
//!
//! # Features
//!
//! | Feature | Brings |
//! |---|---|
//! | `sqlite` (default) | `DatabaseCatalogue` over SQLite |
//! | `postgres` | `DatabaseCatalogue` over PostgreSQL; needs libpq |
//! | `mysql` | `DatabaseCatalogue` over MariaDB and MySQL; needs libmariadb or libmysqlclient |
//! | `conformance` | the cases that every store and every frontend must pass, for tests |

mod backup;
mod catalogue;
#[cfg(feature = "conformance")]
pub mod conformance;
mod copy;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
mod database;
mod error;
pub mod http;
mod load;
mod memory;
mod open;
mod pages;
mod pending;
mod restoration;
mod robot;
mod rules;
pub mod transfer;
mod view;

/// The Rust of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

pub use backup::{Backup, BackupError, Existing, backup};
pub use catalogue::{Catalogue, Change};
pub use copy::{CatalogueDigest, Checksum, CopyError, CopyProgress, CopyStage, copy, digest};
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
pub use database::DatabaseCatalogue;
pub use error::{Cause, Error, OpenError, Result};
pub use load::load;
pub use memory::MemoryCatalogue;
pub use open::{DEFAULT_URL, OpenOptions, open, redact};
pub use pages::{PageItem, PageRequest, Pages};
pub use pending::Pending;
pub use robot::{Draft, Entry, ParseIdError, Robot, RobotId, RobotType};
pub use rules::{NAME_LENGTH_LIMIT, Rejection, ValidChanges, ValidDraft, Violation, Violations};
pub use view::{Field, ParseFieldsError};
