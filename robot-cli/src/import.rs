//! `import`: the robots of a file into the catalogue.

use std::{
    ffi::OsString,
    fmt::Write as _,
    fs::File,
    io::{self, Read, Write},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use clap::{Args, ValueEnum};
use indicatif::HumanCount;
use robot_core::{
    Catalogue, Error, OpenError, OpenOptions,
    transfer::{
        self, AfterFailure, DryRun, ImportError, ImportOptions, Outcome, ReadError, Records,
        Summary,
    },
};

use crate::{
    failure::Failure,
    format::Format,
    interrupt::Interrupt,
    place::{Place, wrong_format},
    printable::printable,
    progress::{Progress, robots},
};

/// How many outcomes there are between two looks at the progress.
const BETWEEN_LOOKS: u64 = 256;

/// What can be typed behind `import`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ImportArguments {
    /// The file, whose name ends in csv, json or ndjson; - for standard input, with --format
    #[arg(value_name = "FILE|-")]
    file: OsString,

    /// What is done about a name that a robot has already
    #[arg(long, value_enum, value_name = "ACTION", default_value_t)]
    on_conflict: OnConflict,

    /// Store nothing, and tell what there would be to tell (this takes 20 bytes of memory a robot)
    #[arg(long)]
    dry_run: bool,

    /// Leave out what fails and go on, instead of ending there
    #[arg(long)]
    keep_going: bool,
}

const EXAMPLES: &str = "\
Examples:
  robot-cli import robots.csv                             Add all robots of a file, or those before the first that fails
  robot-cli import robots.csv --dry-run --keep-going      Tell what would fail
  robot-cli import robots.csv --on-conflict skip          Go on with an import that was stopped
  robot-cli import new.json --on-conflict replace         Set type and year of those that are there
  curl -s http://robots.example/x | robot-cli import - --format ndjson

Formats:
  csv     The first line names the columns name, type and year, in any order, among others
  json    An array of objects with name, type and year
  ndjson  An object a line
Each line that fails is named on standard error as FILE:LINE: message, and the exit status is 1.
Ctrl-C ends between two robots, and says how far it got; a second one ends at once.";

/// What is done about a name that a robot has already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum OnConflict {
    /// It is a failure, like any other
    #[default]
    Fail,
    /// The robot stays as it is
    Skip,
    /// The robot gets the type and year of the file, and keeps its id
    Replace,
}

impl ImportArguments {
    /// Opens the catalogue. To try an import, none is created.
    pub(crate) fn open(
        &self,
        options: &OpenOptions,
        database: &str,
    ) -> Result<Arc<dyn Catalogue>, OpenError> {
        if !self.dry_run {
            return options.open(database);
        }
        match options.clone().existing().open(database) {
            Err(OpenError::Missing { .. }) => options.open("memory:"),
            opened => opened,
        }
    }

    fn options(&self) -> ImportOptions {
        ImportOptions::default()
            .on_conflict(match self.on_conflict {
                OnConflict::Fail => transfer::OnConflict::Fail,
                OnConflict::Skip => transfer::OnConflict::Skip,
                OnConflict::Replace => transfer::OnConflict::Replace,
            })
            .after_failure(if self.keep_going {
                AfterFailure::Continue
            } else {
                AfterFailure::Stop
            })
            .dry_run(if self.dry_run {
                DryRun::Yes
            } else {
                DryRun::No
            })
    }
}

/// Imports a file. The catalogue is opened only when the file has been.
pub(crate) fn run(
    arguments: &ImportArguments,
    format: Option<Format>,
    open: impl FnOnce() -> Result<Arc<dyn Catalogue>, OpenError>,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let place = Place::parse(&arguments.file);
    let format = place.format(format)?.ok_or_else(|| {
        wrong_format("standard input does not tell its format; name --format csv, json or ndjson")
    })?;
    let (input, length) = input(&place).map_err(|cause| not_read(&place, cause))?;
    let catalogue = open()?;
    let interrupt = Interrupt::listen().map_err(Failure::Signals)?;
    let read = Arc::new(AtomicU64::new(0));
    let counted = Counted {
        input,
        count: Arc::clone(&read),
    };
    let reader = interrupt.reader(counted).map_err(Failure::Signals)?;
    let records = Records::new(reader, format).take_while(|_| !interrupt.is_asked());
    let mut import = Import {
        place: &place,
        progress: Progress::of(length, "importing"),
        summary: Summary::default(),
        line: 0,
        failure: None,
        is_record_error: true,
    };
    for outcome in transfer::import(catalogue, records, arguments.options()) {
        import.take(outcome, read.load(Ordering::Relaxed));
    }
    import.end(arguments, &interrupt, output)
}

/// What is read, and how many bytes it has, where that is known.
fn input(place: &Place) -> io::Result<(Box<dyn Read + Send>, Option<u64>)> {
    let Place::File(path) = place else {
        return Ok((Box::new(io::stdin()), None));
    };
    let file = File::open(path)?;
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let length = about.is_file().then_some(about.len());
    Ok((Box::new(file), length))
}

fn not_read(place: &Place, cause: io::Error) -> Failure {
    Failure::Input {
        place: place.to_string(),
        cause,
    }
}

/// An import under way.
struct Import<'a> {
    place: &'a Place,
    progress: Progress,
    summary: Summary,
    /// The line of the last record that was dealt with.
    line: u64,
    /// What ended the import, where the input failed.
    failure: Option<Failure>,
    /// Whether all that failed was wrong by itself, so that it can be left out.
    is_record_error: bool,
}

impl Import<'_> {
    /// Takes an outcome down, when so many bytes have been read.
    fn take(&mut self, outcome: Outcome, read: u64) {
        self.summary.count(&outcome);
        self.line = outcome.line;
        let records = self.summary.records();
        if records.is_multiple_of(BETWEEN_LOOKS) {
            self.progress.tell(read, records, "imported");
        }
        match outcome.result {
            Ok(_) => {}
            Err(ImportError::Unreadable(ReadError::Input { cause, .. })) => {
                self.failure = Some(not_read(self.place, cause));
            }
            Err(error) => {
                self.is_record_error &= error.is_record_error();
                self.progress.aside(|| {
                    let mut said = io::stderr().lock();
                    for message in messages(&error) {
                        // Where standard error is gone, there is nobody left to tell.
                        let message = printable(&message).into_owned();
                        let _ = writeln!(said, "{}:{}: {message}", self.place, outcome.line);
                    }
                });
            }
        }
    }

    /// Tells what the import came to.
    fn end(
        self,
        arguments: &ImportArguments,
        interrupt: &Interrupt,
        output: &mut dyn Write,
    ) -> Result<(), Failure> {
        let Self { summary, line, .. } = self;
        drop(self.progress);
        let is_asked = interrupt.is_asked();
        let mut failures: Vec<Failure> = self.failure.into_iter().collect();
        if is_asked {
            let stored = if arguments.dry_run {
                "would be"
            } else {
                "were"
            };
            let added = robots(summary.added);
            let _ = writeln!(
                io::stderr(),
                "Stopped at line {line}: {added} {stored} added; run it again with --on-conflict \
                 skip to go on"
            );
            return Err(Failure::Interrupted(interrupt.status()));
        }
        let told = writeln!(output, "{}", sentence(&summary, arguments.dry_run))
            .and_then(|()| output.flush());
        failures.extend(told.err().map(Failure::ChangeNotShown));
        if summary.failed > 0 {
            failures.push(if arguments.keep_going && failures.is_empty() {
                Failure::Records
            } else {
                let how = how_to_go_on(&summary, self.is_record_error);
                Failure::StoppedAt { line, how }
            });
        }
        Failure::all(failures)
    }
}

/// How the command is run again, where that matters.
fn how_to_go_on(summary: &Summary, is_record_error: bool) -> &'static str {
    match (summary.added > 0, is_record_error) {
        (true, true) => " with --on-conflict skip, or with --keep-going to leave out what fails",
        (true, false) => " with --on-conflict skip",
        (false, true) => ", or with --keep-going to leave out what fails",
        (false, false) => "",
    }
}

/// The messages, and what the store said: who runs this program needs to know that.
fn messages(error: &ImportError) -> Vec<String> {
    match error {
        ImportError::Refused(
            error @ (Error::Unavailable(cause) | Error::Store(cause) | Error::Unknown(cause)),
        ) => vec![format!("{error}: {cause}")],
        error => error.messages(),
    }
}

/// What an import came to: "Added 99,998 robots, skipped 2, failed 1."
fn sentence(summary: &Summary, is_rehearsed: bool) -> String {
    let verbs = if is_rehearsed {
        ["Would add", "replace", "skip", "fail"]
    } else {
        ["Added", "replaced", "skipped", "failed"]
    };
    let mut sentence = format!("{} {}", verbs[0], robots(summary.added));
    let others = [summary.replaced, summary.skipped, summary.failed];
    for (verb, count) in verbs[1..].iter().zip(others) {
        if count > 0 {
            // Writing to a text does not fail.
            let _ = write!(sentence, ", {verb} {}", HumanCount(count));
        }
    }
    if is_rehearsed {
        sentence.push_str("; nothing was stored");
    }
    sentence.push('.');
    sentence
}

/// An input whose bytes are counted.
struct Counted<R> {
    input: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(buffer)?;
        let counted = length.try_into().unwrap_or(u64::MAX);
        self.count.fetch_add(counted, Ordering::Relaxed);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_names_what_there_was() {
        let mut summary = Summary::default();
        summary.added = 1;
        assert_eq!(sentence(&summary, false), "Added 1 robot.");
        summary.added = 99_998;
        summary.skipped = 2;
        assert_eq!(sentence(&summary, false), "Added 99,998 robots, skipped 2.");
        summary.replaced = 3;
        summary.failed = 4;
        assert_eq!(
            sentence(&summary, true),
            "Would add 99,998 robots, replace 3, skip 2, fail 4; nothing was stored."
        );
    }
}
