//! The robot catalogue from a shell.
//!
//! This file maps the outcome of a run to an exit status. What can be typed stands in
//! [`arguments`], what it does in [`commands`], how robots are printed in [`output`] and
//! [`table`], tokens for the server are made in [`token`], and what a failure says in [`failure`]. What is true about robots is not here
//! but in `robot-core`.

mod arguments;
mod commands;
mod failure;
mod output;
mod printable;
mod table;
mod token;

use std::{
    io::{self, BufWriter},
    process::ExitCode,
    time::Duration,
};

use clap::Parser;
use robot_core::OpenOptions;

use crate::{
    arguments::{Arguments, Command},
    failure::Failure,
};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run() -> Result<(), Failure> {
    let arguments = Arguments::try_parse()?;
    let mut output = BufWriter::new(io::stdout().lock());
    match arguments.command {
        Command::Token(command) => token::run(command, arguments.format, &mut output),
        Command::OfTheCatalogue(command) => {
            let catalogue = OpenOptions::new()
                .timeout(Duration::from_secs(arguments.timeout))
                .open(&arguments.database)?;
            commands::run(&catalogue, command, arguments.format, &mut output)
        }
    }
}
