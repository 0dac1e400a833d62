//! `update`: some fields of one robot.

use std::io;

use clap::Args;
use robot_core::{CatalogueExt, Error, Field, Revision};

use crate::{
    context::Context,
    failure::Failure,
    fields::{Changes, IdArgument, parse_id, update_usage},
};

/// Arguments of `update`.
#[derive(Debug, Args)]
#[command(
    override_usage = update_usage(),
    after_help = "Example:\n  robot-cli update 1 --name R2-D2 --year 1977"
)]
pub(crate) struct UpdateArgs {
    /// The id of the robot
    #[arg(allow_negative_numbers = true, value_parser = parse_id)]
    id: IdArgument,

    #[command(flatten)]
    changes: Changes,

    /// Change the robot only if it still has this revision, which 'get --fields revision' prints
    #[arg(long, value_name = "REVISION")]
    if_revision: Option<Revision>,
}

/// Changes the robot and prints it.
pub(crate) fn run(args: UpdateArgs, context: &mut Context<'_>) -> Result<(), Failure> {
    let catalogue = context.open_existing()?;
    let id = args.id.map_err(Failure::no_robot)?;
    match args.if_revision {
        Some(revision) => catalogue.patch_if(id, revision, args.changes.0)?,
        None => catalogue.patch(id, args.changes.0)?,
    }
    // From here on the change is stored, so every failure has to say so.
    let not_shown = |error| Failure::change_not_shown(io::Error::other(error));
    let robot = catalogue
        .get(id)
        .and_then(|robot| robot.ok_or(Error::NotFound(id)))
        .map_err(not_shown)?;
    let printed = context.print_robot(&robot, Field::DEFAULT);
    printed.map_err(Failure::change_not_shown)
}
