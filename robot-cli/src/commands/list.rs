//! `list`: all robots, or those of a filter.

use robot_core::Filter;

use crate::{
    context::Context,
    error::CliError,
    selection::{NO_MATCH, SelectionArgs},
};

const EMPTY: &str = "No robots yet. Add one with: robot-cli add R2-D2 --type droid --year 1977";

/// Prints the robots.
pub(crate) fn run(selection: &SelectionArgs, context: &mut Context<'_>) -> Result<(), CliError> {
    let hint = if selection.filter.is_empty() {
        EMPTY
    } else {
        NO_MATCH
    };
    selection.print(Filter::all(), hint, context)
}
