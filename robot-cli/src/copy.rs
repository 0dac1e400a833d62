//! A catalogue is copied from one store to another.

use std::{
    fs,
    io::{self, Write},
    ops::ControlFlow,
    process::ExitCode,
};

use clap::{ArgMatches, Args, error::ErrorKind, parser::ValueSource};
use robot_core::{
    OpenOptions, redact,
    transfer::{CatalogueDigest, CopyError, CopyProgress, CopyStage},
};
use serde_json::json;

use crate::{
    failure::{Failure, in_full},
    format::Format,
    help,
    interrupt::Interrupt,
    progress::{Progress, robots},
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  robot-cli copy --from sqlite://robots.db --to sqlite:///var/lib/robots.db
  robot-cli copy --from sqlite://robots.db --to postgres://user:password@host/database";

/// From where to where a catalogue is copied.
#[derive(Debug, Args)]
pub(crate) struct Copying {
    /// The catalogue that is copied
    #[arg(long, value_name = "URL", value_parser = parse_lasting)]
    from: String,

    /// Where to: an empty catalogue, or a file that is created
    #[arg(long, value_name = "URL", value_parser = parse_lasting)]
    to: String,
}

/// Fails where a database is named that would not be used. One in the environment is for other
/// commands.
pub(crate) fn check(matches: &ArgMatches) -> Result<(), clap::Error> {
    if matches.value_source("database") != Some(ValueSource::CommandLine) {
        return Ok(());
    }
    Err(help::command().error(
        ErrorKind::ArgumentConflict,
        "copy does not use --database; it takes --from URL and --to URL",
    ))
}

/// Reads the URL of a catalogue that outlasts the program.
fn parse_lasting(text: &str) -> Result<String, &'static str> {
    if text == "memory:" {
        return Err("that is empty now and gone at the end; name a file or a database on a server");
    }
    Ok(text.to_owned())
}

/// A copy that did not come to its end.
#[derive(Debug, thiserror::Error)]
#[error("{reason}; the target is incomplete: to start over, {remedy}, and copy again", reason = reason(.error))]
pub(crate) struct Incomplete {
    error: CopyError,
    /// How the target becomes what it was before.
    remedy: String,
    /// The exit status, where the user has broken it off.
    interrupted: Option<u8>,
}

impl Incomplete {
    /// The status to exit with.
    pub(crate) fn status(&self) -> ExitCode {
        self.interrupted.map_or(ExitCode::FAILURE, ExitCode::from)
    }
}

/// Copies a catalogue, and prints what was copied.
pub(crate) fn run(
    copying: &Copying,
    options: &OpenOptions,
    format: Format,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let Copying { from, to } = copying;
    if is_same(from, to) {
        return Err(Failure::SameCatalogue);
    }
    let interrupt = Interrupt::listen().map_err(Failure::Signals)?;
    let source = options.clone().existing().open(from)?;
    let target = options.open(to)?;
    let mut shown = Shown::default();
    let copied = robot_core::transfer::copy(&source, &target, |progress| {
        shown.tell(progress);
        if interrupt.is_asked() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    drop(shown);
    let digest = copied.map_err(|error| match error {
        CopyError::NotEmpty => Failure::TargetNotEmpty,
        error => Failure::Copy(Incomplete {
            interrupted: matches!(error, CopyError::BrokenOff { .. }).then(|| interrupt.status()),
            remedy: way_back(to),
            error,
        }),
    })?;
    print(&digest, format, output).map_err(Failure::ChangeNotShown)
}

/// Why a copy did not come to its end, in the words of the stores, too.
fn reason(error: &CopyError) -> String {
    match error {
        CopyError::Source(cause) | CopyError::Target(cause) => {
            format!("{error}: {}", in_full(cause))
        }
        CopyError::BrokenOff { copied } => {
            format!(
                "the copy was broken off when {} were copied",
                robots(*copied)
            )
        }
        error => error.to_string(),
    }
}

/// What takes away what was copied.
fn way_back(target: &str) -> String {
    match target.strip_prefix("sqlite://") {
        Some(path) => {
            format!("delete '{path}' and what is beside it, '{path}-wal' and '{path}-shm'")
        }
        None => format!(
            "drop the tables robots and __diesel_schema_migrations of {}",
            redact(target)
        ),
    }
}

/// Whether two URLs are of one catalogue, as far as that can be told before they are opened. A
/// catalogue that is copied onto itself by other ways is refused all the same: it is not empty.
fn is_same(one: &str, other: &str) -> bool {
    let file = |url: &str| url.strip_prefix("sqlite://").and_then(identity);
    one == other || file(one).is_some_and(|one| file(other) == Some(one))
}

/// What tells a file from every other one, by whichever path.
#[cfg(unix)]
fn identity(path: &str) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(path: &str) -> Option<std::path::PathBuf> {
    fs::canonicalize(path).ok()
}

/// The progress of the stage that a copy is at.
#[derive(Default)]
struct Shown(Option<(CopyStage, Progress)>);

impl Shown {
    fn tell(&mut self, now: CopyProgress) {
        if !matches!(&self.0, Some((stage, _)) if *stage == now.stage) {
            // The line of the stage before is taken away before the next one is drawn.
            self.0 = None;
            self.0 = Some((now.stage, Progress::of(now.total, "copying")));
        }
        let what = match now.stage {
            CopyStage::Counting => "counted",
            CopyStage::VerifyingSource => "of the source read again",
            CopyStage::VerifyingTarget => "of the target read",
            _ => "copied",
        };
        if let Some((_, progress)) = &self.0 {
            progress.tell(now.robots, now.robots, what);
        }
    }
}

fn print(digest: &CatalogueDigest, format: Format, output: &mut dyn Write) -> io::Result<()> {
    let CatalogueDigest {
        robots: count,
        checksum,
    } = digest;
    match format {
        Format::Table => writeln!(
            output,
            "Copied {}; both have the checksum {checksum}.",
            robots(*count)
        )?,
        Format::Json | Format::Ndjson => {
            let object = json!({ "robots": count, "checksum": checksum.to_string() });
            writeln!(output, "{object}")?;
        }
        Format::Csv => writeln!(output, "robots,checksum\n{count},{checksum}")?,
    }
    output.flush()
}
