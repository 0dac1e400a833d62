//! `update`: some fields of one robot.

use std::io;

use clap::Args;
use robot_core::{CatalogueExt, Draft, Error};

use crate::{
    context::Context,
    failure::Failure,
    output,
    values::{IdArgument, parse_id, parse_year},
};

/// Arguments of `update`.
// The usage that clap derives shows the three options as alternatives.
#[derive(Debug, Args)]
#[command(
    override_usage = "robot-cli update [OPTIONS] [--name <NAME>] [--type <TYPE>] [--year <YEAR>] <ID>",
    after_help = "Example:\n  robot-cli update 1 --name R2-D2 --year 1977"
)]
pub(crate) struct UpdateArgs {
    /// The id of the robot
    #[arg(allow_negative_numbers = true, value_parser = parse_id)]
    id: IdArgument,

    #[command(flatten)]
    changes: Changes,
}

/// The new values: at least one.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct Changes {
    /// The new name; write --name=-NAME if it begins with a hyphen
    #[arg(long)]
    name: Option<String>,

    /// The new type: droid, mechanical or virtual
    #[arg(long = "type", value_name = "TYPE")]
    robot_type: Option<String>,

    /// The new year: an integer, 0 or greater
    #[arg(long, allow_negative_numbers = true, value_parser = parse_year)]
    year: Option<i64>,
}

/// Changes the robot and prints it.
pub(crate) fn run(args: UpdateArgs, context: &mut Context<'_>) -> Result<(), Failure> {
    let Changes {
        name,
        robot_type,
        year,
    } = args.changes;
    let catalogue = context.open()?;
    let id = args.id.assignable()?;
    catalogue.amend(
        id,
        Draft {
            name,
            robot_type,
            year,
        },
    )?;
    // From here on the change is stored, so every failure has to say so.
    let not_shown = |error| Failure::ChangeNotShown(io::Error::other(error));
    let robot = catalogue
        .get(id)
        .and_then(|robot| robot.ok_or(Error::NotFound(id)))
        .map_err(not_shown)?;
    output::print_robot(&robot, context.print_format(), context.output)
        .map_err(Failure::ChangeNotShown)
}
