//! What each command does: one call to the catalogue, or a few, and the result printed.

use std::io::{self, Write};

use robot_core::{Catalogue, Draft, Error, Pages, RobotId};

use crate::{
    arguments::{CatalogueCommand as Command, Changes, Format, GivenId},
    failure::Failure,
    output,
};

/// Carries out a command on a catalogue. What is printed has been flushed at the end.
pub(crate) fn run(
    catalogue: &dyn Catalogue,
    command: Command,
    format: Format,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    match command {
        Command::Add {
            name,
            robot_type,
            year,
        } => {
            let robot = catalogue.add(Draft::new(name, robot_type, year))?;
            output::print_robot(&robot, format, output).map_err(Failure::ChangeNotShown)
        }
        Command::List => print_containing(catalogue, "", format, output),
        Command::Search { text } => print_containing(catalogue, &text, format, output),
        Command::Get { id } => {
            let id = assignable(id)?;
            let robot = catalogue.get(id)?.ok_or(Error::NotFound(id))?;
            output::print_robot(&robot, format, output).map_err(Failure::Output)
        }
        Command::Update { id, changes } => update(catalogue, id, changes, format, output),
        Command::Delete { ids } => delete(catalogue, ids, format, output),
    }
}

fn print_containing(
    catalogue: &dyn Catalogue,
    text: &str,
    format: Format,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let mut pages = Pages::new(catalogue, text).peekable();
    // A table without rows is nothing but its header. The remark is for a person and no
    // result, so a program that reads the output does not get it.
    if format == Format::Table && pages.peek().is_none() {
        let _ = writeln!(io::stderr(), "No robots.");
        return Ok(());
    }
    output::print_pages(pages, format, output)
}

fn update(
    catalogue: &dyn Catalogue,
    id: GivenId,
    changes: Changes,
    format: Format,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let id = assignable(id)?;
    catalogue.amend(id, changes.into())?;
    // The change is made; from here on nothing may say that it failed.
    let robot = match catalogue.get(id) {
        Ok(Some(robot)) => robot,
        Ok(None) => {
            return Err(Failure::ChangeNotShown(io::Error::other(Error::NotFound(
                id,
            ))));
        }
        Err(error) => return Err(Failure::ChangeNotShown(io::Error::other(error))),
    };
    output::print_robot(&robot, format, output).map_err(Failure::ChangeNotShown)
}

/// Deletes the robots that exist, whatever becomes of the output, and then tells all: a
/// reader who has gone away must not keep half of the robots alive.
fn delete(
    catalogue: &dyn Catalogue,
    ids: Vec<GivenId>,
    format: Format,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let mut deleted = Vec::new();
    let mut failures = Vec::new();
    for id in ids {
        let outcome = assignable(id).and_then(|id| {
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

/// The id, where it is one that a robot may have.
fn assignable(id: GivenId) -> Result<RobotId, Failure> {
    match id {
        GivenId::Assignable(id) => Ok(id),
        GivenId::NeverAssigned(digits) => Err(Failure::NeverAssigned(digits)),
    }
}
