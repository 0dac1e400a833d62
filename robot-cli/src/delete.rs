//! Deleting robots, and asking before several are gone.
//!
//! A number too many is quickly typed, and more quickly expanded by a shell, and nothing brings
//! a robot back under its id. So several are deleted only by somebody who has seen them and said
//! yes, or who has said so beforehand. Scripts are held to it, too: what a script does is no
//! more easily undone.

use std::{
    collections::HashSet,
    io::{self, IsTerminal, Write},
};

use clap::{Args, error::ErrorKind};
use robot_core::{Catalogue, Robot, RobotId};

use crate::{
    failure::Failure,
    format::Format,
    given_id::{GivenId, parse_id},
    help,
    table::Table,
    terminal::Screen,
};

/// Which robots are to go.
#[derive(Debug, Args)]
pub(crate) struct Deletion {
    /// The ids of the robots
    #[arg(
        required = true,
        value_name = "ID",
        allow_negative_numbers = true,
        value_parser = parse_id
    )]
    ids: Vec<GivenId>,

    /// Delete several robots without asking
    #[arg(long, short)]
    yes: bool,
}

/// How many robots are shown to who is asked.
const SHOWN: usize = 20;

impl Deletion {
    /// Fails where consent is needed and nobody is there to be asked.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if !self.needs_consent() || (io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return Ok(());
        }
        let mut command = help::command();
        let command = command.find_subcommand_mut("delete");
        let Some(command) = command else {
            return Ok(());
        };
        let error = command.error(
            ErrorKind::MissingRequiredArgument,
            "several robots are deleted only after a yes, and without a terminal nobody can be \
             asked; nothing was deleted, add --yes to delete them",
        );
        Err(Failure::CommandLine(error))
    }

    fn needs_consent(&self) -> bool {
        !self.yes && self.ids.iter().any(|id| *id != self.ids[0])
    }
}

/// Deletes the robots that exist, whatever becomes of the output, and then tells all: a
/// reader who has gone away must not keep half of the robots alive.
pub(crate) fn run(
    catalogue: &dyn Catalogue,
    deletion: Deletion,
    format: Format,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    if deletion.needs_consent() && !is_consented(catalogue, &deletion.ids)? {
        return Err(Failure::NotConsented);
    }
    let mut deleted = Vec::new();
    let mut failures = Vec::new();
    for id in deletion.ids {
        let outcome = id.assignable().and_then(|id| {
            catalogue.delete(id)?;
            Ok(id)
        });
        match outcome {
            Ok(id) => deleted.push(id),
            Err(failure) => {
                let goes_on = failure.is_missing_robot();
                failures.push(failure);
                if !goes_on {
                    break;
                }
            }
        }
    }
    if format == Format::Table
        && let Err(error) = print_deleted(&deleted, output)
    {
        failures.push(Failure::ChangeNotShown(error));
    }
    Failure::all(failures)
}

fn print_deleted(ids: &[RobotId], output: &mut dyn Write) -> io::Result<()> {
    for id in ids {
        writeln!(output, "Deleted robot {id}.")?;
    }
    output.flush()
}

/// Shows the robots that would go, and asks. Where there are none, there is nothing to ask.
fn is_consented(catalogue: &dyn Catalogue, ids: &[GivenId]) -> Result<bool, Failure> {
    let mut seen = HashSet::new();
    let mut robots = Vec::new();
    for id in ids {
        if let GivenId::Assignable(id) = *id
            && seen.insert(id)
            && let Some(robot) = catalogue.get(id)?
        {
            robots.push(robot);
        }
    }
    // Who cannot be asked, because the terminal is gone, has not said yes.
    Ok(robots.is_empty() || ask(&robots).unwrap_or(false))
}

/// Asks on the terminal. The output may go elsewhere, and gets nothing of it.
fn ask(robots: &[Robot]) -> io::Result<bool> {
    let mut terminal = io::stderr().lock();
    let shown = &robots[..robots.len().min(SHOWN)];
    Table::new(Screen::of_standard_error()).print(shown, &mut terminal)?;
    if robots.len() > shown.len() {
        writeln!(terminal, "… and {} more", robots.len() - shown.len())?;
    }
    match robots.len() {
        1 => write!(terminal, "Delete this robot? [y/N] ")?,
        many => write!(terminal, "Delete these {many} robots? [y/N] ")?,
    }
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}
