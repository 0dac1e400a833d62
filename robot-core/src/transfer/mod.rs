//! Robots in files and streams: CSV, JSON and NDJSON, read and written in constant memory.
//!
//! [`Records`] reads a file record by record, and tells of each the line that it begins on.
//! [`import()`] brings records into a catalogue, and [`RobotWriter`] writes robots in the same
//! formats, so that what was written is read again as it was, byte for byte.
//!
//! ```
//! use std::sync::Arc;
//! use robot_core::{Catalogue, CatalogueExt, MemoryCatalogue, Pages};
//! use robot_core::transfer::{Format, ImportOptions, Records, RobotWriter, Summary, import};
//!
//! let file = "name,type,year\nR2-D2,droid,1977\nHAL 9000,virtual,1968\n";
//! let catalogue = Arc::new(MemoryCatalogue::new());
//! let mut summary = Summary::default();
//! for outcome in import(Arc::clone(&catalogue), Records::new(file.as_bytes(), Format::Csv), ImportOptions::default()) {
//!     summary.count(&outcome);
//!     if let Err(error) = outcome.result {
//!         eprintln!("line {}: {}", outcome.line, error.messages().join("; "));
//!     }
//! }
//! assert_eq!(summary.added, 2);
//!
//! let mut written = Vec::new();
//! let mut writer = RobotWriter::new(Format::Ndjson);
//! for page in Pages::new(&catalogue, "") {
//!     writer.write(&page?, &mut written)?;
//! }
//! writer.finish(&mut written)?;
//! assert!(written.starts_with(br#"{"id":"2","name":"HAL 9000""#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Formats
//!
//! | Format | A record is | |
//! |---|---|---|
//! | [`Csv`](Format::Csv) | a row | the first row names the columns, in any order; `name`, `type` and `year` must be there, others count for nothing; an empty field counts as missing; a quoted field may have line breaks |
//! | [`Json`](Format::Json) | an element of one array | JSON that is broken ends the reading, since nobody can tell where it goes on |
//! | [`Ndjson`](Format::Ndjson) | a line | blank lines count for nothing |
//!
//! A record has at most [`RECORD_LIMIT`] bytes. One that is longer, or is no robot, is told as
//! such, and the reading goes on behind it. A byte order mark at the start counts for nothing,
//! and lines may end with a carriage return.

mod copy;
mod elements;
mod format;
mod import;
mod lines;
mod outcome;
mod records;
mod rows;
mod source;
mod writer;

pub use copy::{CatalogueDigest, Checksum, CopyError, CopyProgress, CopyStage, copy, digest};
pub use format::{Format, ParseFormatError};
pub use import::{Import, import};
pub use outcome::{
    AfterFailure, DryRun, ImportError, ImportOptions, OnConflict, Outcome, Stored, Summary,
};
pub use records::{ReadError, Record, Records};
pub use source::RECORD_LIMIT;
pub use writer::RobotWriter;
