//! `history`: the changes of a robot.

use clap::Args;
use robot_core::{Catalogue, Definition, Event, Value, http::EventView};
use serde_json::json;

use crate::{
    context::Context,
    error::CliError,
    events::EventPrinter,
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
        let what = what(event, events.get(index + 1), &definition);
        Ok(vec![
            json!(event.revision),
            json!(event.at),
            json!(event.by),
            json!(what),
        ])
    };
    printer.print(&views.collect::<Vec<_>>(), row, context.output)
}

/// What a change did, after an earlier one, to the fields that the catalogue has now.
fn what(event: &Event, earlier: Option<&Event>, definition: &Definition) -> String {
    let Some(robot) = &event.robot else {
        return "deleted".to_owned();
    };
    let earlier = earlier.and_then(|earlier| earlier.robot.as_ref());
    let text = |value: Option<Value<'_>>| {
        value.map_or_else(|| "none".to_owned(), |value| value.to_string())
    };
    let changes = definition.settable().iter().filter_map(|field| {
        let name = field.name();
        let before = earlier.and_then(|earlier| earlier.value(name));
        let now = robot.value(name);
        let change = match earlier {
            None => format!("{name}={}", text(now.clone())),
            Some(_) => format!("{name}: {} → {}", text(before.clone()), text(now.clone())),
        };
        (before != now).then_some(change)
    });
    let changes = changes.collect::<Vec<_>>().join(", ");
    match earlier {
        Some(_) => changes,
        // A change whose version before is not kept has all values, too.
        None => format!(
            "{}: {changes}",
            EventView::new(event, definition, true).action
        ),
    }
}
