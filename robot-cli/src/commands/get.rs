//! `get`: one robot by its id.

use clap::Args;
use robot_core::{CatalogueExt, Error};

use crate::{
    context::Context,
    error::CliError,
    fields::{IdArgument, PrintedFields, fields_help, parse_id},
};

/// Arguments of `get`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  robot-cli get 1\n  robot-cli get 1 --fields id,name,updated_at,updated_by"
)]
pub(crate) struct GetArgs {
    /// The id of the robot
    #[arg(allow_negative_numbers = true, value_parser = parse_id)]
    id: IdArgument,

    #[arg(long, help = fields_help(), value_name = "FIELDS")]
    fields: Option<String>,
}

/// Prints the robot.
pub(crate) fn run(args: GetArgs, context: &mut Context<'_>) -> Result<(), CliError> {
    let catalogue = context.open_existing()?;
    let columns = PrintedFields::parse(args.fields.as_deref(), &catalogue.definition())?;
    let id = args.id.map_err(CliError::no_robot)?;
    let robot = catalogue.get_with(id, &columns.fields)?;
    let robot = robot.ok_or(Error::NotFound(id))?;
    context.print_robot(robot, &columns, CliError::output)
}
