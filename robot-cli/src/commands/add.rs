//! `add`: one new robot.

use robot_core::{CatalogueExt, Field};

use crate::{context::Context, failure::Failure, fields::NewRobot};

/// Adds the robot and prints it.
pub(crate) fn run(robot: NewRobot, context: &mut Context<'_>) -> Result<(), Failure> {
    let robot = context.open()?.add(robot.0)?;
    let printed = context.print_robot(&robot, Field::DEFAULT);
    printed.map_err(Failure::change_not_shown)
}
