//! `add`: one new robot.

use clap::Args;
use robot_core::{CatalogueExt, Draft};

use crate::{context::Context, failure::Failure, output, values::parse_year};

/// Arguments of `add`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  robot-cli add R2-D2 --type droid --year 1977")]
pub(crate) struct AddArgs {
    /// The name: 1 to 255 characters, unique
    name: String,

    /// The type: droid, mechanical or virtual
    #[arg(long = "type", value_name = "TYPE")]
    robot_type: String,

    /// The year: an integer, 0 or greater
    #[arg(long, allow_negative_numbers = true, value_parser = parse_year)]
    year: i64,
}

/// Adds the robot and prints it.
pub(crate) fn run(args: AddArgs, context: &mut Context<'_>) -> Result<(), Failure> {
    let draft = Draft::new(args.name, args.robot_type, args.year);
    let robot = context.open()?.add(draft)?;
    output::print_robot(&robot, context.print_format(), context.output)
        .map_err(Failure::ChangeNotShown)
}
