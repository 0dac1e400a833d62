//! The program from outside: what goes to standard output and standard error, byte for byte,
//! and the exit status. Each test runs it in a temporary folder of its own.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its scene is to fail"
)]

mod changes;
mod command_line;
mod databases;
mod formats;
mod names;
mod output_failures;
mod processes;
mod rules;
mod sandbox;
mod tokens;
