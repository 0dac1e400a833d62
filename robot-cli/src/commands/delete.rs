//! `delete`: robots by their ids, names or other values.

use clap::Args;
use robot_core::Change;

use crate::{
    context::{Context, OutputFormat},
    error::CliError,
    fields::{IdArgument, parse_id},
    progress::robot_count,
    selection::TextFilterArgs,
    targets::{Targets, check_choice},
    terminal::ConfirmationArgs,
};

/// Arguments of `delete`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/delete.txt"))]
pub(crate) struct DeleteArgs {
    /// The ids of the robots
    #[arg(value_name = "ID", allow_negative_numbers = true, value_parser = parse_id)]
    ids: Vec<IdArgument>,

    /// The exact name of robots; repeat it for several
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,

    #[command(flatten)]
    filter: TextFilterArgs,

    #[command(flatten)]
    confirmation: ConfirmationArgs,
}

/// Deletes the robots that exist, and prints the results afterwards: a closed pipe must not stop
/// the deletion halfway.
pub(crate) fn run(args: DeleteArgs, context: &mut Context<'_>) -> Result<(), CliError> {
    let is_named = !args.ids.is_empty() || !args.names.is_empty();
    let is_filtered = !args.filter.is_empty();
    check_choice(is_named, is_filtered)?;
    let catalogue = context.open_existing()?;
    let filter = args.filter.filter(&*catalogue)?;
    let filter = is_filtered.then_some(filter);
    let targets = Targets::find(&*catalogue, args.ids, &args.names, filter)?;
    let verb = ["Delete", "deleting"];
    let applied = targets.apply(&args.confirmation, verb, Change::Delete)?;
    let count = applied.ids.len();
    if count == 0 || count == 1 && context.print_format() != OutputFormat::Table {
        return CliError::combine(applied.failures);
    }
    let text = if is_named {
        let lines = applied.ids.iter().map(|id| format!("Deleted robot {id}."));
        lines.collect::<Vec<_>>().join("\n")
    } else {
        format!("Deleted {}.", robot_count(count))
    };
    applied.print(&text, context)
}
