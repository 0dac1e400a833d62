//! `search`: robots by a part of their name.

use clap::Args;

use super::list;
use crate::{
    context::Context,
    error::CliError,
    printable::printable,
    selection::{ComparisonArgs, SelectionArgs},
};

/// Arguments of `search`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/search.txt"))]
pub(crate) struct SearchArgs {
    /// The text that the names contain
    #[arg(required_unless_present = "words")]
    text: Option<String>,

    #[command(flatten)]
    comparison: ComparisonArgs,

    #[command(flatten)]
    selection: SelectionArgs,
}

/// Prints the robots whose names contain the text.
pub(crate) fn run(args: &SearchArgs, context: &mut Context<'_>) -> Result<(), CliError> {
    let SearchArgs {
        text,
        comparison,
        selection,
    } = args;
    let Some(text) = text.as_deref().filter(|text| !text.is_empty()) else {
        return list::run(selection, context);
    };
    let condition = if selection.filter.is_empty() {
        ""
    } else {
        ", and meets these conditions"
    };
    let advice = if comparison.ignore_case {
        ""
    } else {
        " (the search is case-sensitive without --ignore-case)"
    };
    let hint = format!(
        "No robot has '{}' in its name{condition}{advice}. List all robots with: robot-cli list",
        printable(text)
    );
    selection.print(comparison.names(text), &hint, context)
}
