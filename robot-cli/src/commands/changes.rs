//! `changes`: what has changed since a cursor.

use std::{
    fs,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use clap::Args;
use robot_core::{
    Catalogue, Changes, Definition, Error, Event, Existing, Extent, Filter, OutputError,
    OutputFile, Pending, Position, Robot, Start, StoreFiles, Watch, http::EventView,
};
use serde_json::{Value, json};

use crate::{
    context::{Context, OutputFormat},
    error::CliError,
    events::{EventPrinter, changed_values},
    interrupt::Interrupt,
    selection::TextFilterArgs,
    terminal::note,
    undo::parse_cursor,
};

/// Arguments of `changes`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/changes.txt"))]
pub(crate) struct ChangesArgs {
    /// Print the changes after this one, and wait for more until Ctrl-C
    #[arg(long, short)]
    follow: bool,

    /// The changes after this cursor, since a time (such as 2026-11-28), or the last ones (such as last-100); without it,
    /// those from now on
    #[arg(long, value_name = "CURSOR", value_parser = parse_start)]
    after: Option<Start>,

    /// Print every change, with the values after it, and not only the last change of each robot
    #[arg(long)]
    every: bool,

    /// Continue after the cursor in this file, and write the next one to it; a missing file begins now
    #[arg(long, value_name = "FILE", conflicts_with = "after")]
    state: Option<PathBuf>,

    #[command(flatten)]
    filter: TextFilterArgs,
}

/// The number of changes that are read and printed together.
const PAGE: usize = 1000;

/// The time after which a wait looks for Ctrl-C.
const WAIT: Duration = Duration::from_millis(200);

/// Prints the changes.
pub(crate) fn run(args: &ChangesArgs, context: &mut Context<'_>) -> Result<(), CliError> {
    // Before a state file is written, so that Ctrl-C leaves no temporary file behind.
    let interrupt = Interrupt::register()?;
    let catalogue = context.open_existing()?;
    let filter = args.filter.filter(&*catalogue)?;
    let default = if io::stdout().is_terminal() {
        OutputFormat::Table
    } else {
        OutputFormat::Ndjson
    };
    let columns = ["revision", "when", "who", "what", "id", "name"];
    let mut printer = EventPrinter::new(context.format.unwrap_or(default), &columns)?;
    let state = args.state.as_ref().map(|path| State {
        path,
        files: context.files(),
    });
    let saved = state.as_ref().map(State::read).transpose()?.flatten();
    let mut after = match args.after.clone().or(saved.map(Start::After)) {
        Some(start) => start.find(&*catalogue)?,
        None => catalogue.position()?,
    };
    if let Some(state) = state.as_ref().filter(|state| !state.path.exists()) {
        state.save(&after)?;
        if !args.follow {
            note("The next run prints what has changed since now.");
        }
    }
    let (extent, option) = if args.every {
        (Extent::Every, " --every")
    } else {
        (Extent::Latest, "")
    };
    let watch = Watch::new(Arc::clone(&catalogue));
    while !interrupt.is_set() {
        let changes = if args.follow {
            Pending::awaited(watch.changes(after.clone(), extent, PAGE, WAIT)).wait()
        } else {
            catalogue.changes(&after, extent, PAGE).map(Arc::new)
        };
        let mut changes = changes.map_err(|error| match (error, &state) {
            (Error::PositionGone, Some(state)) => state.gone(),
            (error, _) => error.into(),
        })?;
        let definition = catalogue.definition();
        EventView::convert_changes(&mut changes, extent, &definition);
        if changes.next != after {
            let (printer, output) = (&mut printer, &mut *context.output);
            print(&changes, extent, &definition, &filter, printer, output)?;
            after.clone_from(&changes.next);
            state.as_ref().map_or(Ok(()), |state| state.save(&after))?;
        }
        if changes.is_last && !args.follow {
            break;
        }
    }
    if state.is_none() {
        if args.after.is_none() && !args.follow {
            let last = context.call(&format!("changes{option} --after last-20"));
            note(&format!("The last changes are printed by: {last}"));
        }
        let next = context.call(&format!("changes{option} --after {after}"));
        note(&format!("Later changes are printed by: {next}"));
    }
    if interrupt.is_set() && !args.follow {
        return Err(interrupt.stopped("; run the command again to continue."));
    }
    Ok(())
}

fn print(
    changes: &Changes,
    extent: Extent,
    definition: &Definition,
    filter: &Filter,
    printer: &mut EventPrinter<'_>,
    output: &mut dyn Write,
) -> Result<(), CliError> {
    let views: Vec<_> = EventView::all(changes, extent, definition, filter).collect();
    let rows = |index: usize| row(&changes.events[index], views[index].action, definition);
    printer.print(&views, rows, output)
}

/// A change in a table, in which a deleted robot has the name that it had.
fn row(event: &Event, action: &str, definition: &Definition) -> Vec<Value> {
    let robot = event.robot.as_ref().or(event.before.as_ref());
    let values = match (&event.robot, &event.before) {
        (Some(_), Some(_)) => changed_values(event, definition),
        _ => String::new(),
    };
    let what = if values.is_empty() { action } else { &values };
    vec![
        json!(event.revision),
        json!(event.at),
        json!(event.by),
        json!(what),
        json!(event.id.get()),
        json!(robot.map(Robot::name)),
    ]
}

fn parse_start(text: &str) -> Result<Start, &'static str> {
    let start = text.parse();
    start.map_err(|_| {
        "give a cursor, which 'robot-cli changes' prints, a time, such as 2026-11-28 or 2026-11-28T09:30:00Z, or 'last-100'"
    })
}

/// A file with a cursor.
struct State<'a> {
    path: &'a Path,
    /// The files of the catalogue.
    files: StoreFiles,
}

impl State<'_> {
    /// The cursor in it; `None` if there is no file. Fails if it cannot be written later.
    fn read(&self) -> Result<Option<Position>, CliError> {
        // Before it is opened: to read a file of the database would drop the locks that SQLite has on it.
        let created = OutputFile::create(self.path, &self.files);
        created.map_err(|error| self.failure(&error))?;
        match fs::read_to_string(self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failure(&error.into())),
            Ok(text) => {
                let cursor = parse_cursor(text.trim());
                cursor.map(Some).map_err(|_| self.rejected("has no cursor"))
            }
        }
    }

    fn save(&self, position: &Position) -> Result<(), CliError> {
        let created = OutputFile::create(self.path, &self.files);
        let saved = created.and_then(|mut file| {
            writeln!(file, "{position}")?;
            file.finish(Existing::Replace)
        });
        saved.map(drop).map_err(|error| self.failure(&error))
    }

    fn failure(&self, error: &OutputError) -> CliError {
        let path = self.path.display();
        CliError::new(format_args!(
            "cannot keep the cursor in '{path}': {error}; choose another file or free disk space, and run the command again"
        ))
    }

    fn gone(&self) -> CliError {
        self.rejected(
            "has a cursor of another catalogue, or changes after it are not kept any more",
        )
    }

    fn rejected(&self, problem: &str) -> CliError {
        let path = self.path.display();
        CliError::new(format_args!(
            "'{path}' {problem}; delete the file, run the command again, and then list all robots with: robot-cli list"
        ))
    }
}
