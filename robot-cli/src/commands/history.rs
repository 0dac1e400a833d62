//! `history`: the changes of a robot.

use std::iter;

use clap::Args;
use robot_core::{Action, Catalogue, Definition, Event, Robot, http::EventView};
use serde_json::{Map, Value, json};

use crate::{
    context::{Context, OutputFormat},
    error::CliError,
    events::{EventPrinter, PAGE},
    fields::{IdArgument, parse_id},
    rows::text,
    table::truncate,
    terminal::Screen,
};

/// Arguments of `history`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/history.txt"))]
pub(crate) struct HistoryArgs {
    /// The id of the robot, which may be deleted
    #[arg(allow_negative_numbers = true, value_parser = parse_id)]
    id: IdArgument,
}

/// The maximum width of a value on a terminal.
const VALUE_WIDTH: usize = 40;

/// Prints the changes, the latest first.
pub(crate) fn run(args: HistoryArgs, context: &mut Context<'_>) -> Result<(), CliError> {
    let catalogue = context.open_existing()?;
    let id = args.id.map_err(CliError::no_robot)?;
    let definition = catalogue.definition();
    let format = context.print_format();
    let is_narrow = format == OutputFormat::Table && Screen::of_standard_output().width.is_some();
    let width = if is_narrow { VALUE_WIDTH } else { usize::MAX };
    let mut printer = EventPrinter::new(format, &["revision", "when", "who", "what"]);
    let mut before = None;
    loop {
        // The one after the page has the values before its last change.
        let mut events = catalogue.history(id, before, PAGE + 1)?;
        if events.is_empty() {
            return Err(CliError::no_robot(id));
        }
        let earlier = (events.len() > PAGE).then(|| events.pop()).flatten();
        let next = events.iter().skip(1).chain(&earlier).map(Some);
        let pairs = events.iter().zip(next.chain(iter::once(None)));
        let rows = pairs.map(|(event, earlier)| {
            let row = vec![
                json!(event.revision),
                json!(event.at),
                json!(event.by),
                json!(what(event, earlier, &definition, width)),
            ];
            (EventView::new(event, &definition, true), row)
        });
        let printed = printer.print(rows.collect(), context.output);
        printed.map_err(CliError::output)?;
        before = events.last().map(|event| event.revision);
        if earlier.is_none() {
            break;
        }
    }
    printer.finish(context.output).map_err(CliError::output)
}

/// What a change did, after an earlier one.
fn what(event: &Event, earlier: Option<&Event>, definition: &Definition, width: usize) -> String {
    let Some(robot) = &event.robot else {
        return "deleted".to_owned();
    };
    let now = values(robot);
    let value = |values: &Map<String, Value>, name: &str| match values.get(name) {
        None => "none".to_owned(),
        Some(value) => truncate(&text(value), width).into_owned(),
    };
    let earlier = earlier.and_then(|earlier| earlier.robot.as_ref());
    let Some(before) = earlier.map(values) else {
        let names = names(&now, definition).into_iter();
        let values = names.map(|name| format!("{name}={}", value(&now, name)));
        let values = values.collect::<Vec<_>>().join(", ");
        return match event.action {
            Action::Added => format!("added: {values}"),
            // The version before is not kept.
            _ => format!("changed to: {values}"),
        };
    };
    let all = before.iter().chain(&now);
    let all = all
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let names = names(&all, definition).into_iter();
    let changed = names.filter(|name| before.get(*name) != now.get(*name));
    let changed = changed.map(|name| {
        let (before, now) = (value(&before, name), value(&now, name));
        format!("{name}: {before} → {now}")
    });
    let changed: Vec<_> = changed.collect();
    if changed.is_empty() {
        return "changed nothing".to_owned();
    }
    changed.join(", ")
}

/// The values that clients set, also those of fields that the catalogue does not have any more.
fn values(robot: &Robot) -> Map<String, Value> {
    let mut values = match serde_json::to_value(robot) {
        Ok(Value::Object(values)) => values,
        _ => Map::new(),
    };
    for name in ["id", "revision"] {
        values.remove(name);
    }
    values
}

/// The names of values, in the order of the fields.
fn names<'a>(values: &'a Map<String, Value>, definition: &Definition) -> Vec<&'a str> {
    let mut names: Vec<_> = values.keys().map(String::as_str).collect();
    let fields = definition.settable();
    names.sort_by_key(|name| {
        let mut fields = fields.iter();
        fields
            .position(|field| field.name() == *name)
            .unwrap_or(usize::MAX)
    });
    names
}
