//! `list`: all robots.

use robot_core::Pages;

use crate::{context::Context, failure::Failure, output};

const EMPTY: &str = "No robots yet. Add one with: robot-cli add R2-D2 --type droid --year 1977";

/// Prints all robots.
pub(crate) fn run(context: &mut Context<'_>) -> Result<(), Failure> {
    let pages = Pages::new(context.open()?, "");
    output::print_pages(pages, context.print_format(), EMPTY, context.output)
}
