//! Tests of the executable: exact standard output and standard error, and the exit status.
//!
//! Each test runs in a temporary directory of its own. Some use devices and programs of Linux.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test whose setup fails has to fail")]

mod backup;
mod changes;
mod check;
mod color;
mod command_line;
mod completions;
mod confirmation;
mod copy;
mod databases;
mod export;
mod fields;
mod formats;
mod history;
mod import;
mod interrupts;
mod manual;
mod names;
mod nightly_backup;
mod output_failures;
mod own_files;
mod processes;
mod read_only;
mod readme;
mod restore;
mod restore_faults;
mod sandbox;
mod selection;
#[cfg(all(feature = "postgres", feature = "mysql"))]
mod servers;
mod terminal;
mod token;
