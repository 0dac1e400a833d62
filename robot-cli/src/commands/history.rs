//! `history`: the changes of a robot.

use clap::Args;
use robot_core::{Catalogue, Definition, Event, http::EventView};
use serde_json::json;

use crate::{
    context::Context,
    error::CliError,
    events::{EventPrinter, changed_values},
    fields::{IdArgument, parse_id},
};

/// Arguments of `history`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/history.txt"))]
pub(crate) struct HistoryArgs {
    /// The id of the robot, which may be deleted
    #[arg(allow_negative_numbers = true, value_parser = parse_id)]
    id: IdArgument,
}

/// The maximum number of changes.
const LIMIT: usize = 1_000_000;

/// Prints the changes, the latest first.
pub(crate) fn run(args: HistoryArgs, context: &mut Context<'_>) -> Result<(), CliError> {
    let catalogue = context.open_existing()?;
    let id = args.id.map_err(CliError::no_robot)?;
    let columns = ["revision", "when", "who", "what"];
    let mut printer = EventPrinter::new(context.print_format(), &columns)?;
    let mut events = catalogue.history(id, None, LIMIT)?;
    if events.is_empty() {
        return Err(CliError::no_robot(id));
    }
    let definition = catalogue.definition();
    EventView::convert(&mut events, &definition);
    let views = events
        .iter()
        .map(|event| EventView::new(event, &definition, true));
    let row = |index: usize| {
        let event = &events[index];
        vec![
            json!(event.revision),
            json!(event.at),
            json!(event.by),
            json!(what(event, &definition)),
        ]
    };
    printer.print(&views.collect::<Vec<_>>(), row, context.output)
}

/// What a change did.
fn what(event: &Event, definition: &Definition) -> String {
    let changes = changed_values(event, definition);
    match (&event.robot, &event.before) {
        (None, _) => "deleted".to_owned(),
        (_, Some(_)) => changes,
        // A change whose version before is not kept has all values, too.
        (_, None) => {
            let view = EventView::new(event, definition, true);
            format!("{}: {changes}", view.action)
        }
    }
}
