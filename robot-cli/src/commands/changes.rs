//! `changes`: what has changed since a cursor.

use std::{
    fmt,
    io::{self, IsTerminal, Read, Write},
    path::PathBuf,
    sync::Arc,
    thread,
    time::Duration,
};

use clap::Args;
use robot_core::{
    Catalogue, Changes, Definition, Error, Event, Existing, Filter, OutputError, OutputFile,
    Pending, Position, Robot, Watch, http::EventView,
};
use serde_json::{Value, json};

use crate::{
    context::{Context, OutputFormat},
    error::CliError,
    events::{EventPrinter, PAGE},
    interrupt::Interrupt,
    path_argument::PathArgument,
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

    /// The changes after this cursor; without it, those from now on
    #[arg(long, value_name = "CURSOR", value_parser = parse_cursor)]
    after: Option<Position>,

    /// Continue after the cursor in this file, and write the next one to it; a missing file begins now
    #[arg(long, value_name = "FILE", conflicts_with = "after")]
    state: Option<PathBuf>,

    #[command(flatten)]
    filter: TextFilterArgs,
}

/// The time after which a wait looks for Ctrl-C.
const WAIT: Duration = Duration::from_millis(200);

/// The time between attempts to reach a database.
const RETRY: Duration = Duration::from_secs(1);

/// The maximum number of bytes of a state file that are read.
const STATE_LIMIT: u64 = 1000;

const COLUMNS: [&str; 5] = ["when", "who", "what", "id", "name"];

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
    let format = context.format.unwrap_or(default);
    let state = args.state.clone().map(State::new);
    let state = state.as_ref();
    let start = match (&args.after, state) {
        (Some(after), _) => Some(after.clone()),
        (None, Some(state)) => state.read(context)?,
        (None, None) => None,
    };
    let after = if let Some(start) = start {
        start
    } else {
        let now = catalogue.position()?;
        if let Some(state) = state {
            state.save(state.create(context)?, &now)?;
        }
        begin(args.follow, state, &now, context);
        now
    };
    let mut printer = EventPrinter::new(format, &COLUMNS);
    let mut feed = Feed {
        has_rows: matches!(format, OutputFormat::Table | OutputFormat::Csv),
        watch: args.follow.then(|| Watch::new(Arc::clone(&catalogue))),
        catalogue,
        filter,
        state,
        after,
    };
    let is_complete = feed.print(&mut printer, &interrupt, context)?;
    let finished = printer.finish(context.output);
    finished.map_err(CliError::output)?;
    let next = context.call(&format!("changes --after {}", feed.after));
    if !is_complete && !args.follow {
        let again = state.map_or(next, |_| "run the command again".to_owned());
        return Err(interrupt.stopped(&format!(". To continue: {again}")));
    }
    if args.after.is_some() && format == OutputFormat::Table {
        note(&format!("Later changes: {next}"));
    }
    Ok(())
}

/// The changes that are printed.
struct Feed<'a> {
    catalogue: Arc<dyn Catalogue>,
    filter: Filter,
    /// Whether changes are printed as rows, which have the names of deleted robots.
    has_rows: bool,
    /// Waits for more changes.
    watch: Option<Watch>,
    state: Option<&'a State>,
    /// The cursor after what has been printed.
    after: Position,
}

impl Feed<'_> {
    /// Prints changes until the last one, or until Ctrl-C. Returns whether they are complete.
    fn print(
        &mut self,
        printer: &mut EventPrinter<'_>,
        interrupt: &Interrupt,
        context: &mut Context<'_>,
    ) -> Result<bool, CliError> {
        let mut is_reachable = true;
        while !interrupt.is_set() {
            let changes = match self.catalogue.changes(&self.after, PAGE) {
                Err(error @ Error::Unavailable(_)) if self.watch.is_some() => {
                    if is_reachable {
                        let error = error.with_cause();
                        note(&format!("{error}. The command waits for the database."));
                    }
                    is_reachable = false;
                    thread::sleep(RETRY);
                    continue;
                }
                Err(Error::PositionGone) => return Err(gone(self.state)),
                changes => changes?,
            };
            is_reachable = true;
            let is_last = changes.is_last;
            if changes.next != self.after {
                self.print_page(changes, printer, context)?;
            }
            match &self.watch {
                _ if !is_last => {}
                None => return Ok(true),
                Some(watch) => Pending::awaited(watch.wait(self.after.clone(), WAIT)).wait(),
            }
        }
        Ok(false)
    }

    /// Prints changes, and then saves the cursor after them.
    fn print_page(
        &mut self,
        changes: Changes,
        printer: &mut EventPrinter<'_>,
        context: &mut Context<'_>,
    ) -> Result<(), CliError> {
        // Before the output, so that a file that cannot be written repeats nothing.
        let file = match self.state {
            Some(state) => Some((state, state.create(context)?)),
            None => None,
        };
        let definition = self.catalogue.definition();
        let events = changes.events.iter();
        let events = events.map(|event| self.shown(event, &definition));
        let events = events.collect::<Result<_, _>>()?;
        let printed = printer.print(events, context.output);
        printed.map_err(CliError::output)?;
        if let Some((state, file)) = file {
            state.save(file, &changes.next)?;
        }
        self.after = changes.next;
        Ok(())
    }

    /// A change as an object and as a row.
    fn shown<'e>(
        &self,
        event: &'e Event,
        definition: &'e Definition,
    ) -> Result<(EventView<'e>, Vec<Value>), CliError> {
        let robot = event.robot.as_ref();
        let is_included = robot.is_none_or(|robot| self.filter.matches(robot));
        let view = EventView::new(event, definition, is_included);
        if !self.has_rows {
            return Ok((view, Vec::new()));
        }
        let deleted = match robot {
            Some(_) => None,
            // The version that was deleted.
            None => self
                .catalogue
                .history(event.id, Some(event.revision), 1)?
                .pop(),
        };
        let robot = robot.or(deleted.as_ref().and_then(|deleted| deleted.robot.as_ref()));
        let row = vec![
            json!(event.at),
            json!(event.by),
            json!(view.action),
            json!(event.id.get()),
            json!(robot.map(Robot::name)),
        ];
        Ok((view, row))
    }
}

/// Says how to continue after the present cursor.
fn begin(is_followed: bool, state: Option<&State>, now: &Position, context: &Context<'_>) {
    note(&match state {
        _ if is_followed => format!("Changes after the cursor {now}; Ctrl-C ends the command."),
        Some(state) => {
            format!(
                "'{state}' has the cursor of now, {now}; the next run prints what has changed since."
            )
        }
        None => format!(
            "The cursor of now is {now}. To print the changes from now on: {}",
            context.call(&format!("changes --after {now}"))
        ),
    });
}

fn gone(state: Option<&State>) -> CliError {
    match state {
        None => Error::PositionGone.into(),
        Some(state) => CliError::new(format_args!(
            "the cursor in '{state}' is of another catalogue, or changes after it are not kept any more; delete the file, \
             run the command again, and then list all robots with: robot-cli list"
        )),
    }
}

/// A file with a cursor.
struct State {
    path: PathBuf,
    /// For messages and reading.
    argument: PathArgument,
}

impl State {
    fn new(path: PathBuf) -> Self {
        let argument = PathArgument::File(path.clone());
        Self { path, argument }
    }

    /// The cursor in it; `None` if there is no file.
    fn read(&self, context: &Context<'_>) -> Result<Option<Position>, CliError> {
        if !self.path.exists() {
            return Ok(None);
        }
        let mut text = String::new();
        let file = self.argument.reader(context)?;
        let read = file.take(STATE_LIMIT).read_to_string(&mut text);
        read.map_err(|cause| self.argument.not_read(&cause))?;
        text.trim().parse().map(Some).map_err(|_| {
            CliError::new(format_args!(
                "'{self}' has no cursor of this command; name another file, or delete it to begin now"
            ))
        })
    }

    /// Begins to replace it.
    fn create(&self, context: &Context<'_>) -> Result<OutputFile, CliError> {
        OutputFile::create(&self.path, &context.files()).map_err(|error| self.not_saved(&error))
    }

    fn save(&self, mut file: OutputFile, position: &Position) -> Result<(), CliError> {
        let written = writeln!(file, "{position}").map_err(OutputError::from);
        let saved = written.and_then(|()| file.finish(Existing::Replace));
        saved.map(drop).map_err(|error| self.not_saved(&error))
    }

    fn not_saved(&self, error: &OutputError) -> CliError {
        match error {
            OutputError::OfCatalogue => CliError::own_file(format_args!("'{self}'")),
            error => CliError::new(format_args!(
                "cannot write the cursor to '{self}': {error}; choose another file or free disk space, and run the \
                 command again"
            )),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.argument.fmt(formatter)
    }
}
