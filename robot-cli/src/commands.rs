//! What each command does: one call to the catalogue, or a few, and the result printed.

use std::io::{self, Write};

use robot_core::{Catalogue, CatalogueExt, Draft, Error, Pages};

use crate::{
    arguments::{CatalogueCommand as Command, Changes},
    delete,
    failure::Failure,
    format::Format,
    given_id::GivenId,
    output,
    printable::printable,
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
            let id = id.assignable()?;
            let robot = catalogue.get(id)?.ok_or(Error::NotFound(id))?;
            output::print_robot(&robot, format, output).map_err(Failure::Output)
        }
        Command::Update { id, changes } => update(catalogue, id, changes, format, output),
        Command::Delete(deletion) => delete::run(catalogue, deletion, format, output),
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
        let _ = writeln!(io::stderr(), "{}", remark_on_none(text));
        return Ok(());
    }
    output::print_pages(pages, format, output)
}

fn remark_on_none(text: &str) -> String {
    if text.is_empty() {
        return "No robots yet. Add one with: robot-cli add R2-D2 --type droid --year 1977"
            .to_owned();
    }
    format!(
        "No robot has '{}' in its name; upper and lower case differ. \
         See all robots with: robot-cli list",
        printable(text)
    )
}

fn update(
    catalogue: &dyn Catalogue,
    id: GivenId,
    changes: Changes,
    format: Format,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let id = id.assignable()?;
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
