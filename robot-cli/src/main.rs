//! Command line of the robot catalogue.
//!
//! `main` parses the command line ([`arguments`]), runs one of the [`commands`] and turns its
//! [`CliError`] into an exit status. The rules about robots are in `robot-core`.

mod arguments;
mod columns;
mod commands;
mod context;
mod error;
mod events;
mod fields;
mod help;
mod import_args;
mod interrupt;
mod logging;
mod output;
mod path_argument;
mod printable;
mod progress;
mod rows;
mod selection;
mod source;
mod table;
mod targets;
mod terminal;
mod undo;

use std::{
    cell::OnceCell,
    env,
    io::{self, BufWriter, IsTerminal, Write},
    path::Path,
    process::ExitCode,
    time::Duration,
};

use clap::{ArgMatches, FromArgMatches, parser::ValueSource};
use robot_core::OpenOptions;

use crate::{
    arguments::Arguments,
    commands::Command,
    context::{Context, OutputFormat},
    error::CliError,
    printable::Printable,
};

fn main() -> ExitCode {
    logging::start();
    let outcome = parse().map_err(CliError::from).and_then(|matches| {
        run(&matches).map_err(|failure| match failure {
            CliError::CommandLine(error) => help::with_usage(error, &matches).into(),
            reported @ CliError::Reported(_) => reported,
        })
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Parses the command line. `--color` is parsed first because it applies to the parser's own messages, too.
fn parse() -> Result<ArgMatches, clap::Error> {
    let mut command = help::command();
    let lenient = command.clone().ignore_errors(true).disable_help_flag(true);
    let valid = lenient.try_get_matches();
    if let Some(color) = valid.ok().and_then(|valid| valid.get_one("color").copied()) {
        terminal::set_color(color);
    }
    if env::args_os().len() <= 1 {
        // clap prints the help only if no argument has a value, and DATABASE_URL is one.
        command = command.mut_arg("database", |database| database.env(None::<&str>));
    }
    command.try_get_matches()
}

fn run(matches: &ArgMatches) -> Result<(), CliError> {
    let arguments = Arguments::from_arg_matches(matches)?;
    terminal::set_color(arguments.color);
    let format = OutputFormat::among(&arguments.format);
    let is_table = format.unwrap_or_default() == OutputFormat::Table;
    let is_file = !is_table || matches!(arguments.command, Command::Export(_));
    let mut output: Box<dyn Write> = Box::new(BufWriter::new(io::stdout().lock()));
    if is_file && io::stdout().is_terminal() {
        output = Box::new(Printable {
            output,
            line: Vec::new(),
        });
    }
    let is_given = matches.value_source("database") == Some(ValueSource::CommandLine);
    let mut context = Context {
        database_option: is_given.then(|| arguments.database.clone()),
        database: arguments.database,
        options: OpenOptions {
            timeout: Duration::from_secs(arguments.timeout),
            ..OpenOptions::default()
        },
        author: context::user(),
        format,
        output: &mut output,
        definition: OnceCell::new(),
    };
    let context = &mut context;
    // A shell may have redirected the output to the catalogue.
    if cfg!(unix) && context.files().contains(Path::new("/dev/stdout")) {
        return Err(CliError::own_file("standard output"));
    }
    let outcome = match arguments.command {
        Command::Add(args) => commands::add::run(&args, context),
        Command::List(selection) => commands::list::run(&selection, context),
        Command::Search(args) => commands::search::run(&args, context),
        Command::Get(args) => commands::get::run(args, context),
        Command::Summary(args) => commands::summary::run(&args, context),
        Command::Update(args) => commands::update::run(args, context),
        Command::Delete(args) => commands::delete::run(args, context),
        Command::Changes(args) => commands::changes::run(&args, context),
        Command::Prune(args) => commands::prune::run(&args, context),
        Command::History(args) => commands::history::run(args, context),
        Command::Revert(args) => commands::revert::run(args, context),
        Command::Import(args) => commands::import::run(&args, context),
        Command::Export(args) => commands::export::run(&args, context),
        Command::Copy(args) => commands::copy::run(&args, matches, context),
        Command::Backup(args) => commands::backup::run(args, context),
        Command::Restore(args) => commands::restore::run(&args, matches, context),
        Command::Check { repair } => commands::check::run(context, repair),
        Command::Migrate(args) => commands::migrate::run(&args, context),
        Command::Fields(args) => commands::fields::run(args, context),
        Command::Token(command) => commands::token::run(command, context),
        Command::Completions(args) => commands::completions::run(&args, help::command(), context),
        Command::Manual(args) => commands::manual::run(&args, help::manual(), context),
    };
    outcome.map_err(|failure| match context.definition.get() {
        Some(definition) => failure.worded(definition),
        None => failure,
    })
}
