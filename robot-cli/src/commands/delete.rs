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
    let (deleted, mut failures) = targets.apply(&args.confirmation, verb, Change::Delete)?;
    if context.print_format() == OutputFormat::Table {
        let lines = if is_named || deleted.is_empty() {
            let lines = deleted.iter().map(|id| format!("Deleted robot {id}.\n"));
            lines.collect()
        } else {
            format!("Deleted {}.\n", robot_count(deleted.len()))
        };
        let printed = context.print(&context.worded(&lines), CliError::change_not_shown);
        failures.extend(printed.err());
    }
    CliError::combine(failures)
}
