//! Measures the catalogue under load, and prints one table of what it reached.
//!
//! ```sh
//! cargo run --release -p measure                   # everything; takes a while
//! cargo run --release -p measure -- --quick        # whether it runs at all
//! cargo run --release -p measure -- --only search  # some rows
//! ```
//!
//! Every comparison is of runs that alternate, so that whatever else the machine does meets
//! both sides. The table goes to the standard output, and the progress to the standard error.

mod children;
mod data;
mod http;
mod load;
mod plan;
mod requests;
mod rounds;
mod rows;
mod serve;
mod subject;
mod table;

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use clap::{Parser, Subcommand};

use plan::Plan;
use table::Row;

/// Measures the robot catalogue under load and prints a table.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Only the measurements whose name contains this text, whatever its case.
    #[arg(long, default_value = "", hide_default_value = true)]
    only: String,
    /// How many times each comparison is made.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// How long each run under load lasts.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// One round of one second with a tenth of the robots: tells only whether it runs.
    #[arg(long)]
    quick: bool,
    /// Where the data goes, in a folder of its own that is deleted at the end: on the disk that
    /// is to be measured, with some GB of room (by default where temporary files are, which
    /// must not be in memory).
    #[arg(long)]
    folder: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Serves one of the servers that are measured; the program calls itself so.
    #[command(hide = true)]
    Serve(serve::Variant),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match &arguments.command {
        Some(Command::Serve(variant)) => serve::serve(variant).map(|()| true),
        None => measure(&arguments),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("measure: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Measures, and tells whether all of it could be measured. What is not reached is no failure
/// of the program.
fn measure(arguments: &Arguments) -> Result<bool, String> {
    let folder = match &arguments.folder {
        Some(folder) => tempfile::tempdir_in(folder),
        None => tempfile::tempdir(),
    };
    let folder = folder.map_err(|error| {
        format!("cannot make a folder for the data: {error}; name another place with --folder")
    })?;
    children::end_with_this_program(folder.path().to_owned())?;
    let length = Duration::from_secs(arguments.seconds);
    let plan = if arguments.quick {
        Plan::quick(folder.path().to_owned())
    } else {
        Plan::new(folder.path().to_owned(), arguments.rounds, length)
    };
    let (rows, complete) = measure_all(&plan, &arguments.only)?;
    io::stdout()
        .write_all(table::render(&rows).as_bytes())
        .map_err(|error| format!("cannot write the table: {error}"))?;
    Ok(complete)
}

fn measure_all(plan: &Plan, only: &str) -> Result<(Vec<Row>, bool), String> {
    let only = only.to_lowercase();
    let chosen: Vec<_> = rows::ALL
        .iter()
        .filter(|(name, _)| name.to_lowercase().contains(&only))
        .collect();
    if chosen.is_empty() {
        let names: Vec<_> = rows::ALL.iter().map(|(name, _)| *name).collect();
        return Err(format!("--only names nothing of: {}", names.join("; ")));
    }
    let (mut rows, mut complete) = (Vec::new(), true);
    for (name, run) in chosen {
        plan.say(&format!("== {name}"));
        match run(plan) {
            Ok(measured) => rows.extend(measured),
            Err(message) => {
                plan.say(&format!("failed: {message}"));
                rows.push(Row::failed(name, &message));
                complete = false;
            }
        }
    }
    Ok((rows, complete))
}
