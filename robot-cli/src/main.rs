//! The robot catalogue from a shell.
//!
//! This file maps the outcome of a run to an exit status. What can be typed stands in
//! [`arguments`], what it does in [`commands`] and, for all that is more than a few lines, in
//! files named like the commands. How robots are printed is in [`output`] and [`table`], what
//! the terminal is good for in [`terminal`], and what a failure says in [`failure`]. What is true
//! about robots is not here but in `robot-core`.

mod arguments;
mod backup;
mod commands;
mod completions;
mod copy;
mod delete;
mod export;
mod failure;
mod format;
mod given_id;
mod help;
mod import;
mod interrupt;
mod manual;
mod output;
mod place;
mod printable;
mod progress;
mod table;
mod terminal;
mod token;

use std::{
    env,
    io::{self, BufWriter},
    process::ExitCode,
    time::Duration,
};

use clap::FromArgMatches;
use robot_core::OpenOptions;

use crate::{
    arguments::{Arguments, CatalogueCommand, Command},
    failure::Failure,
};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run() -> Result<(), Failure> {
    let arguments = parse()?;
    let format = arguments.format.unwrap_or_default();
    let options = OpenOptions::new().timeout(Duration::from_secs(arguments.timeout));
    let database = &arguments.database;
    let open = || options.open(database);
    let mut output = BufWriter::new(io::stdout().lock());
    match arguments.command {
        Command::Token(command) => token::run(command, format, &mut output),
        Command::Completions(completions) => completions::run(&completions, &mut output),
        Command::Manual(manual) => manual::run(&manual, &mut output),
        Command::Import(command) => {
            let open = || command.open(&options, database);
            import::run(&command, arguments.format, open, &mut output)
        }
        Command::Export(command) => {
            let open = || options.clone().existing().open(database);
            export::run(&command, arguments.format, open, &mut output)
        }
        Command::Copy(copying) => copy::run(&copying, &options, format, &mut output),
        Command::Backup(backup) => backup::run(&backup, database, &options, format, &mut output),
        Command::OfTheCatalogue(command) => {
            if let CatalogueCommand::Delete(deletion) = &command {
                deletion.check()?;
            }
            commands::run(&open()?, command, format, &mut output)
        }
    }
}

/// What was typed. The colours are chosen twice, because the parser's own messages have some.
fn parse() -> Result<Arguments, clap::Error> {
    if let Some(choice) = terminal::colours_of(env::args_os().skip(1)) {
        terminal::choose_colours(choice);
    }
    let mut command = help::command();
    if env::args_os().len() <= 1 {
        // The help is for who types nothing, and a variable in the environment is not typed.
        command = command.mut_arg("database", |database| database.env(None::<&str>));
    }
    let matches = command.try_get_matches()?;
    let arguments = Arguments::from_arg_matches(&matches)?;
    if let Command::Copy(_) = arguments.command {
        copy::check(&matches)?;
    }
    terminal::choose_colours(arguments.color);
    Ok(arguments)
}
