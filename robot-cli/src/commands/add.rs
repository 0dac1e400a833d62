//! `add`: one new robot.

use robot_core::CatalogueExt;

use crate::{
    context::Context,
    failure::Failure,
    fields::{Columns, NewRobot},
};

/// Adds the robot and prints it.
pub(crate) fn run(robot: &NewRobot, context: &mut Context<'_>) -> Result<(), Failure> {
    let (catalogue, (draft, _)) = context.open_for(|definition| robot.parse(definition))?;
    let robot = catalogue.add(draft)?;
    let printed = context.print_robot(&robot, &Columns::of(&catalogue.definition()));
    printed.map_err(Failure::change_not_shown)
}
