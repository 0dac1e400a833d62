//! `update`: some fields of one robot.

use std::io;

use clap::Args;
use robot_core::{Catalogue, CatalogueExt, Error, Revision, RobotId};

use crate::{
    context::Context,
    failure::Failure,
    fields::{Changes, Columns, IdArgument, parse_id, update_usage},
};

/// Arguments of `update`.
#[derive(Debug, Args)]
#[command(
    override_usage = update_usage(),
    after_help = "Examples:\n  robot-cli update 1 --name R2-D2 --year 1977\n  \
                  robot-cli update 3 --set maker=ACME --unset notes"
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

fn change(catalogue: &dyn Catalogue, id: RobotId, args: &UpdateArgs) -> Result<(), Failure> {
    let definition = catalogue.definition();
    let (draft, removed) = args.changes.0.parse(&definition)?;
    match (definition.validate_patch(draft, &removed), args.if_revision) {
        (Ok(changes), None) => catalogue.update(id, changes)?,
        (Ok(changes), Some(revision)) => catalogue.update_if(id, revision, changes)?,
        (Err(rejection), revision) => {
            let robot = catalogue.get(id)?.ok_or(Error::NotFound(id))?;
            if revision.is_some_and(|revision| revision != robot.revision()) {
                return Err(Error::Stale(id).into());
            }
            return Err(Error::from(catalogue.violations(rejection, Some(id))?).into());
        }
    }
    Ok(())
}

/// Changes the robot and prints it.
pub(crate) fn run(args: &UpdateArgs, context: &mut Context<'_>) -> Result<(), Failure> {
    let catalogue = context.open_existing()?;
    let id = args.id.clone().map_err(Failure::no_robot)?;
    change(&*catalogue, id, args)?;
    // From here on the change is stored, so every failure has to say so.
    let not_shown = |error| Failure::change_not_shown(io::Error::other(error));
    let robot = catalogue
        .get(id)
        .and_then(|robot| robot.ok_or(Error::NotFound(id)))
        .map_err(not_shown)?;
    let printed = context.print_robot(&robot, &Columns::of(&catalogue.definition()));
    printed.map_err(Failure::change_not_shown)
}
