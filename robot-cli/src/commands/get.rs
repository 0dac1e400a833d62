//! `get`: one robot by its id.

use clap::Args;
use robot_core::Error;

use crate::{
    context::Context,
    failure::Failure,
    id::{IdArgument, parse_id},
    output,
};

/// Arguments of `get`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  robot-cli get 1")]
pub(crate) struct GetArgs {
    /// The id of the robot
    #[arg(allow_negative_numbers = true, value_parser = parse_id)]
    id: IdArgument,
}

/// Prints the robot.
pub(crate) fn run(args: GetArgs, context: &mut Context<'_>) -> Result<(), Failure> {
    let catalogue = context.open_existing()?;
    let id = args.id.assignable()?;
    let robot = catalogue.get(id)?.ok_or(Error::NotFound(id))?;
    output::print_robot(&robot, context.print_format(), context.output).map_err(Failure::Output)
}
