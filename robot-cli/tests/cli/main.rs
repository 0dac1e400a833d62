//! The program from outside: what goes to standard output and standard error, byte for byte,
//! and the exit status. Each test runs it in a temporary folder of its own.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its scene is to fail"
)]

mod backup;
mod changes;
#[cfg(target_os = "linux")]
mod color;
mod command_line;
mod copy;
mod databases;
mod deleting;
mod exporting;
mod formats;
mod importing;
#[cfg(unix)]
mod interrupts;
mod manual;
mod names;
mod output_failures;
mod processes;
mod rules;
mod sandbox;
mod shells;
#[cfg(target_os = "linux")]
mod terminal;
mod tokens;
