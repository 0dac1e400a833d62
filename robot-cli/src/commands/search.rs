//! `search`: robots by a part of their name.

use clap::Args;

use super::list;
use crate::{context::Context, failure::Failure, printable::printable, selection::SelectionArgs};

/// Arguments of `search`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  robot-cli search R2\n  robot-cli search R2 --type droid --sort=-year\n  robot-cli search -- -D2"
)]
pub(crate) struct SearchArgs {
    /// The text that the names contain
    text: String,

    #[command(flatten)]
    selection: SelectionArgs,
}

/// Prints the robots whose names contain the text.
pub(crate) fn run(args: &SearchArgs, context: &mut Context<'_>) -> Result<(), Failure> {
    let SearchArgs { text, selection } = args;
    if text.is_empty() {
        return list::print(selection, context);
    }
    let condition = if selection.has_filter() {
        ", and is of these types and years"
    } else {
        ""
    };
    let hint = format!(
        "No robot has '{}' in its name{condition} (the search is case-sensitive). \
         List all robots with: robot-cli list",
        printable(text)
    );
    selection.print(text, &hint, context)
}
