//! Warnings and errors of the library, on standard error.

use std::io::Write;

use env_logger::Builder;

use crate::printable::printable;

/// All but what the error of a command says, too, and slow statements, which are usual with large files.
const FILTER: &str = "warn,robot_core::read_only=off,robot_core::database::slow_statements=off";

/// Installs the logger. Each record is one line.
pub(crate) fn start() {
    let mut builder = Builder::new();
    builder.parse_filters(FILTER).format(|output, record| {
        let message = record.args().to_string();
        writeln!(output, "robot-cli: {}", printable(&message))
    });
    // Fails if another logger was installed before, which the program does not do.
    let _ = builder.try_init();
}
