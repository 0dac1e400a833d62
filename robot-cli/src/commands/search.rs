//! `search`: robots by a part of their name.

use clap::Args;
use robot_core::Pages;

use super::list;
use crate::{context::Context, failure::Failure, output, printable::printable};

/// Arguments of `search`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  robot-cli search R2\n  robot-cli search -- -D2")]
pub(crate) struct SearchArgs {
    /// The text that the names contain
    text: String,
}

/// Prints the robots whose names contain the text.
pub(crate) fn run(args: &SearchArgs, context: &mut Context<'_>) -> Result<(), Failure> {
    let SearchArgs { text } = args;
    if text.is_empty() {
        return list::run(context);
    }
    let no_match = format!(
        "No robot has '{}' in its name (the search is case-sensitive). \
         List all robots with: robot-cli list",
        printable(text)
    );
    let pages = Pages::new(context.open()?, text.as_str());
    output::print_pages(pages, context.print_format(), &no_match, context.output)
}
