//! `delete`: robots by their ids.
//!
//! A deleted robot can't be restored with its id, and it is easy to type or expand (`{1..9}`) an
//! id too many. So deleting several robots needs confirmation, in scripts as well.

use std::{
    collections::HashSet,
    io::{self, IsTerminal, Write},
};

use clap::Args;
use robot_core::{Catalogue, CatalogueExt, Error, Pages, Robot, RobotId};

use crate::{
    context::{Context, Format},
    failure::Failure,
    fields::{Columns, IdArgument, parse_id},
    progress::robot_count,
    selection::WhereArgs,
    table::Table,
    terminal::{self, Screen},
};

/// Arguments of `delete`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  robot-cli delete 1\n  robot-cli delete --yes 1 2 3\n  \
                        robot-cli delete --where condition=poor"
)]
pub(crate) struct DeleteArgs {
    /// The ids of the robots
    #[arg(
        required_unless_present = "where",
        conflicts_with = "where",
        value_name = "ID",
        allow_negative_numbers = true,
        value_parser = parse_id
    )]
    ids: Vec<IdArgument>,

    #[command(flatten)]
    conditions: WhereArgs,

    /// Delete several robots without confirmation
    #[arg(long, short)]
    yes: bool,
}

/// The number of robots that the confirmation shows.
const MAX_SHOWN: usize = 20;

/// Deletes the robots that exist, and prints the results afterwards: a closed pipe must not stop
/// the deletion halfway.
pub(crate) fn run(args: DeleteArgs, context: &mut Context<'_>) -> Result<(), Failure> {
    let is_one = args.conditions.is_empty() && args.ids.iter().all(|id| *id == args.ids[0]);
    let needs_confirmation = !args.yes && !is_one;
    if needs_confirmation && !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(Failure::usage(
            "deleting several robots needs confirmation, and there is no terminal; \
             nothing was deleted. Add --yes to delete them",
        ));
    }
    let catalogue = context.open_existing()?;
    let mut ids = args.ids;
    if !args.conditions.is_empty() {
        let filter = args.conditions.filter(&catalogue.definition())?;
        for page in Pages::new(&catalogue, filter).entries() {
            ids.extend(page?.iter().map(|entry| Ok(entry.id())));
        }
    }
    if needs_confirmation && !is_confirmed(&catalogue, &ids)? {
        return Err(Failure::plain(vec!["Nothing was deleted.".to_owned()]));
    }
    let (deleted, mut failures) = delete_all(ids, |id| catalogue.delete(id));
    if context.print_format() == Format::Table
        && let Err(error) = print_deleted(&deleted, context.output)
    {
        failures.push(Failure::change_not_shown(error));
    }
    Failure::combine(failures)
}

/// Deletes robots until the store fails. Missing robots are skipped.
fn delete_all(
    ids: Vec<IdArgument>,
    mut delete: impl FnMut(RobotId) -> robot_core::Result<()>,
) -> (Vec<RobotId>, Vec<Failure>) {
    let mut deleted = Vec::new();
    let mut failures = Vec::new();
    let is_one = ids.len() == 1;
    for id in ids {
        let id = match id {
            Ok(id) => id,
            Err(digits) => {
                failures.push(Failure::no_robot(digits));
                continue;
            }
        };
        match delete(id) {
            Ok(()) => deleted.push(id),
            Err(error @ Error::NotFound(_)) => failures.push(error.into()),
            Err(error) if is_one => failures.push(error.into()),
            Err(error) => {
                failures.push(Failure::new(format_args!(
                    "{}; deleted {} before robot {id}, and none after it. Check the database and its \
                     disk before you delete the rest",
                    error.with_cause(),
                    robot_count(deleted.len().try_into().unwrap_or(u64::MAX))
                )));
                break;
            }
        }
    }
    (deleted, failures)
}

fn print_deleted(ids: &[RobotId], output: &mut dyn Write) -> io::Result<()> {
    for id in ids {
        writeln!(output, "Deleted robot {id}.")?;
    }
    output.flush()
}

/// Shows the robots on the terminal and asks for confirmation, unless none of them exists.
fn is_confirmed(catalogue: &dyn Catalogue, ids: &[IdArgument]) -> Result<bool, Failure> {
    let mut seen = HashSet::new();
    let mut robots = Vec::new();
    for id in ids {
        if let Ok(id) = *id
            && seen.insert(id)
            && let Some(robot) = catalogue.get(id)?
        {
            robots.push(robot);
        }
    }
    // A terminal that cannot be read counts as a no.
    let columns = Columns::of(&catalogue.definition());
    Ok(robots.is_empty() || ask(&robots, &columns).unwrap_or(false))
}

/// Asks on standard error, because standard output may be redirected.
fn ask(robots: &[Robot], columns: &Columns) -> io::Result<bool> {
    let mut terminal = io::stderr().lock();
    let shown = &robots[..robots.len().min(MAX_SHOWN)];
    Table::new(Screen::of_standard_error(), columns).print(shown, &mut terminal)?;
    if robots.len() > shown.len() {
        writeln!(terminal, "… and {} more", robots.len() - shown.len())?;
    }
    drop(terminal);
    terminal::is_confirmed(&match robots.len() {
        1 => "Delete this robot?".to_owned(),
        many => format!("Delete these {many} robots?"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_after_a_deletion_counts_deleted_robots() {
        let ids = ["1", "2", "3", "4"].map(|id| parse_id(id).unwrap());
        let (deleted, failures) = delete_all(ids.to_vec(), |id| match id.get() {
            1 => Ok(()),
            2 => Err(Error::NotFound(id)),
            3 => Err(Error::store("disk I/O error")),
            _ => panic!("{id} was not to be deleted"),
        });
        assert_eq!(deleted.iter().map(|id| id.get()).collect::<Vec<_>>(), [1]);
        let Err(failure) = Failure::combine(failures) else {
            panic!("there is no failure");
        };
        assert_eq!(
            failure.plain_lines(),
            [
                "error: No robot has the id 2",
                "error: The store failed: disk I/O error; deleted 1 robot before robot 3, and none \
                 after it. Check the database and its disk before you delete the rest",
            ]
        );
    }
}
