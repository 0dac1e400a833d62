//! `revert`: a robot as an earlier version has it, or all changes between two cursors undone.

use std::io::{self, Write};

use clap::Args;
use robot_core::{By, Catalogue, CatalogueExt, Revert, Reverted, Revision, RobotId};
use serde_json::json;

use crate::{
    context::{Context, OutputFormat},
    error::CliError,
    fields::{IdArgument, PrintedFields, parse_id},
    progress::robot_count,
    terminal::{ConfirmationArgs, note},
    undo::{self, Mark, parse_mark},
};

/// Arguments of `revert`.
#[derive(Debug, Args)]
#[command(
    override_usage = "robot-cli revert [OPTIONS] <ID> --to <REVISION>\n       \
                      robot-cli revert [OPTIONS] --after <CURSOR> --until <CURSOR>",
    after_help = include_str!("../help/revert.txt")
)]
pub(crate) struct RevertArgs {
    /// The id of the robot
    #[arg(allow_negative_numbers = true, value_parser = parse_id, requires = "to")]
    #[arg(required_unless_present = "after", conflicts_with = "after")]
    id: Option<IdArgument>,

    /// The version whose values the robot gets, which 'robot-cli history' prints
    #[arg(long, value_name = "REVISION", requires = "id")]
    to: Option<Revision>,

    /// Undo the changes after this cursor, or after the change with this revision
    #[arg(long, value_name = "CURSOR", value_parser = parse_mark, requires = "until")]
    after: Option<Mark>,

    /// Undo the changes up to this cursor, or up to the change with this revision
    #[arg(long, value_name = "CURSOR", value_parser = parse_mark, requires = "after")]
    until: Option<Mark>,

    /// Undo only the changes of this author; an empty NAME is that of other programs
    #[arg(long, value_name = "NAME", requires = "after")]
    by: Option<String>,

    /// Print what would be undone, and change nothing
    #[arg(long, requires = "after")]
    dry_run: bool,

    #[command(flatten)]
    confirmation: ConfirmationArgs,
}

/// The number of ids that the confirmation shows.
const MAX_SHOWN: usize = 20;

/// Undoes the changes, and prints the robots that were changed and those that were left alone.
pub(crate) fn run(args: RevertArgs, context: &mut Context<'_>) -> Result<(), CliError> {
    if let (Some(id), Some(revision)) = (args.id, args.to) {
        return to_version(id, revision, context);
    }
    let (Some(after), Some(until)) = (args.after, args.until) else {
        return Err(CliError::usage(
            "give an <ID> and --to, or --after and --until",
        ));
    };
    let catalogue = context.open_existing()?;
    let mut revert = Revert::new(after.position(&*catalogue)?, until.position(&*catalogue)?);
    if let Some(by) = args.by {
        revert.by = By::Only((!by.is_empty()).then(|| by.into()));
    }
    revert.is_dry_run = true;
    let mut reverted = catalogue.revert(&revert)?;
    if !args.dry_run {
        if reverted.ids.len() > 1 {
            let count = context.worded(&robot_count(reverted.ids.len()));
            let action = format!("undoing the changes of {count}");
            let show = || writeln!(io::stderr(), "Ids: {}", listed(&reverted.ids));
            let question = format!("Undo the changes of {count}?");
            args.confirmation.confirm(&action, show, &question)?;
        }
        revert.is_dry_run = false;
        reverted = catalogue.revert(&revert)?;
    }
    let Reverted {
        ids,
        left,
        positions,
    } = reverted;
    let verb = if args.dry_run { "Would undo" } else { "Undid" };
    let mut text = format!("{verb} the changes of {}", robot_count(ids.len()));
    if !ids.is_empty() {
        text = format!("{text}: {}", listed(&ids));
    }
    text.push('.');
    if !left.is_empty() {
        let left = listed(&left);
        text = format!("{text}\nLeft alone, because other changes have followed: {left}.");
    }
    let changes: Vec<_> = positions.into_iter().collect();
    let members = [
        ("count", ids.len().into()),
        ("ids", json!(ids)),
        ("left", json!(left)),
        undo::member(&changes),
    ];
    context.print_result(&text, &members, CliError::change_not_shown)?;
    if context.print_format() == OutputFormat::Table {
        context.note_undo(&changes, None);
    }
    Ok(())
}

/// Gives the robot the values of the version, and prints it.
fn to_version(
    id: IdArgument,
    revision: Revision,
    context: &mut Context<'_>,
) -> Result<(), CliError> {
    let catalogue = context.open_existing()?;
    let id = id.map_err(CliError::no_robot)?;
    let before = catalogue.get(id)?.map(|robot| robot.revision());
    let robot = catalogue.revert_to(id, revision, None)?;
    let is_unchanged = Some(robot.revision()) == before;
    let columns = PrintedFields::of(&catalogue.definition());
    context.print_robot(robot, &columns, CliError::change_not_shown)?;
    let undo = match before {
        Some(before) => format!("revert {id} --to {before}"),
        None => format!("delete {id}"),
    };
    if is_unchanged {
        note("It has these values already.");
    } else if context.print_format() == OutputFormat::Table {
        note(&format!("To undo this: {}", context.call(&undo)));
    }
    Ok(())
}

/// Some ids for people.
fn listed(ids: &[RobotId]) -> String {
    let shown = ids.iter().take(MAX_SHOWN).map(ToString::to_string);
    let shown = shown.collect::<Vec<_>>().join(", ");
    match ids.len().saturating_sub(MAX_SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
