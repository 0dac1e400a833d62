//! `add`: one new robot.

use clap::Args;
use robot_core::{CatalogueExt, Field};

use crate::{
    context::Context,
    error::CliError,
    fields::{PrintedFields, Values, help_of},
};

/// Arguments of `add`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/add.txt"))]
pub(crate) struct AddArgs {
    #[arg(help = help_of(&Field::NAME))]
    name: String,

    #[command(flatten)]
    values: Values,
}

/// Adds the robot and prints it.
pub(crate) fn run(args: &AddArgs, context: &mut Context<'_>) -> Result<(), CliError> {
    let parse = |definition: &_| args.values.parse(Some(&args.name), &[], definition);
    let (catalogue, (draft, _)) = context.open_for(parse)?;
    let robot = catalogue.add(draft)?;
    let columns = PrintedFields::of(&catalogue.definition());
    context.print_robot(robot, &columns, CliError::change_not_shown)
}
