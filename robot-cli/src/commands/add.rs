//! `add`: one new robot.

use clap::Args;
use robot_core::{CatalogueExt, Field};

use crate::{context::Context, failure::Failure, fields::NewRobot, output};

/// Arguments of `add`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  robot-cli add R2-D2 --type droid --year 1977")]
pub(crate) struct AddArgs {
    #[command(flatten)]
    robot: NewRobot,
}

/// Adds the robot and prints it.
pub(crate) fn run(args: AddArgs, context: &mut Context<'_>) -> Result<(), Failure> {
    let robot = context.open()?.add(args.robot.0)?;
    let fields = Field::DEFAULT.to_vec();
    output::print_robot(&robot, fields, context.print_format(), context.output)
        .map_err(Failure::change_not_shown)
}
