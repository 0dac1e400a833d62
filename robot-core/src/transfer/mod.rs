//! Import, export and copy of robots: CSV, JSON and NDJSON, read and written piece by piece, and workbooks (XLSX).
//!
//! [`Records`] reads a file record by record, with their positions. [`import()`] stores records in a
//! catalogue, [`import_atomically`] all of them or none, and [`RobotWriter`] writes robots in the same
//! formats: reading them again returns the same robots, byte for byte. [`copy()`] copies a catalogue to
//! another store.
//!
//! ```
//! use std::sync::Arc;
//! use robot_core::{Catalogue, CatalogueExt, Field, MemoryCatalogue, Pages};
//! use robot_core::transfer::{FileFormat, ImportOptions, Records, RobotWriter, ImportCounts, import};
//!
//! let file = "name,type,year\nR2-D2,droid,1977\nHAL 9000,virtual,1968\n";
//! let catalogue = Arc::new(MemoryCatalogue::new());
//! let mut summary = ImportCounts::default();
//! for outcome in import(Arc::clone(&catalogue), Records::new(file.as_bytes(), FileFormat::Csv), ImportOptions::default()) {
//!     summary.count(&outcome);
//!     if let Some(message) = outcome.message() {
//!         eprintln!("{message}");
//!     }
//! }
//! assert_eq!(summary.added, 2);
//!
//! let mut written = Vec::new();
//! let mut writer = RobotWriter::new(FileFormat::Ndjson, Field::DEFAULT.to_vec());
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
//! | [`Csv`](FileFormat::Csv) | a row | the first row has names or titles of fields, in any order and case; the separator is a comma, a semicolon, a tab or a bar; an empty field counts as missing; a quoted field may contain line breaks |
//! | [`Json`](FileFormat::Json) | an element of one array | invalid JSON ends the reading, because the next element cannot be found |
//! | [`Ndjson`](FileFormat::Ndjson) | a line | blank lines are ignored |
//! | [`Xlsx`](FileFormat::Xlsx) | a row of a sheet | the whole workbook is in memory |
//!
//! A record has at most [`RECORD_LIMIT`] bytes. A record that is longer or not a robot is reported,
//! and reading continues after it. A byte order mark at the start is ignored, and lines may end with
//! a carriage return.

mod atomic_import;
mod columns;
mod copy;
mod csv_reader;
mod digest;
mod encoding;
mod evidence;
mod fields;
mod format;
mod heading;
mod import;
mod import_metrics;
mod input;
mod json_reader;
mod names;
mod new_field;
mod outcome;
mod plan;
mod position;
mod record;
mod records;
mod survey;
mod workbook;
mod writer;

pub use atomic_import::import_atomically;
pub use columns::Columns;
pub use copy::{CopyError, CopyProgress, CopyStage, copy};
pub use csv_reader::Header;
pub use digest::{CatalogueDigest, digest};
pub use fields::ProposedChange;
pub use format::FileFormat;
pub use import::{Import, import};
pub use input::RECORD_LIMIT;
pub use new_field::ProposalError;
pub use outcome::{
    ATOMIC_LIMIT, ChangedValue, ImportCounts, ImportError, ImportOptions, OnConflict, Outcome,
    Stored,
};
pub use plan::{Plan, PlanError, PlanOptions};
pub use position::RecordPosition;
pub use record::{ReadError, Record, Values};
pub use records::{ReadOptions, Records};
pub use survey::{ColumnReason, PlannedColumn};
#[cfg(feature = "http")]
pub use writer::RobotWriter;
