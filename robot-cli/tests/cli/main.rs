//! Tests of the executable: exact standard output and standard error, and the exit status.
//!
//! Each test runs in a temporary directory of its own.

#![expect(clippy::unwrap_used, reason = "a test whose setup fails has to fail")]

mod backup;
mod changes;
mod check;
#[cfg(target_os = "linux")]
mod color;
mod command_line;
mod completions;
mod confirmation;
mod copy;
mod databases;
mod export;
mod fields;
mod formats;
mod import;
#[cfg(unix)]
mod interrupts;
mod manual;
mod names;
mod nightly_backup;
mod output_failures;
#[cfg(unix)]
mod own_files;
mod processes;
#[cfg(unix)]
mod read_only;
mod readme;
mod restore;
#[cfg(target_os = "linux")]
mod restore_faults;
mod sandbox;
mod selection;
#[cfg(target_os = "linux")]
mod terminal;
mod token;
