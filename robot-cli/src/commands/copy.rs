//! `copy`: all robots of a catalogue, with their ids, to another store.

use clap::{ArgMatches, Args, parser::ValueSource};
use robot_core::{
    Catalogue, OpenOptions, Preparation, StoreFiles, redact,
    transfer::{self, CopyError, CopyStage},
};

use crate::{
    context::Context,
    error::CliError,
    interrupt::Interrupt,
    progress::{Progress, robot_count},
};

/// Arguments of `copy`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/copy.txt"))]
pub(crate) struct CopyArgs {
    /// The catalogue to read; a file is not changed
    #[arg(long, value_name = "URL", value_parser = parse_persistent)]
    from: String,

    #[arg(
        long,
        help = "The catalogue to write: empty, or a file to create; by default DATABASE_URL",
        value_name = "URL",
        value_parser = parse_persistent
    )]
    to: Option<String>,

    /// Foreign columns to leave out, separated by commas
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    ignore: Vec<String>,
}

/// Parses the URL of a catalogue that outlives the process.
fn parse_persistent(text: &str) -> Result<String, &'static str> {
    if text == "memory:" {
        return Err("a catalogue in memory is discarded at the end; use a file or a server");
    }
    Ok(text.to_owned())
}

/// Copies the catalogue and prints its digest.
pub(crate) fn run(
    args: &CopyArgs,
    matches: &ArgMatches,
    context: &mut Context<'_>,
) -> Result<(), CliError> {
    let CopyArgs { from, to, ignore } = args;
    let to = match (to, matches.value_source("database")) {
        (_, Some(ValueSource::CommandLine)) => {
            Err("copy does not use --database; use --from URL and --to URL")
        }
        (Some(to), _) => Ok(to.clone()),
        (None, Some(ValueSource::EnvVariable)) => parse_persistent(&context.database),
        (None, _) => Err("the target is missing; add --to URL, or set DATABASE_URL"),
    };
    let to = &to.map_err(CliError::usage)?;
    // Other URLs of the same catalogue are rejected later, because a target must be empty.
    if from == to || StoreFiles::of_url(from).intersects(&StoreFiles::of_url(to)) {
        return Err(CliError::new(
            "--from and --to are the same catalogue; choose another one for --to",
        ));
    }
    let interrupt = Interrupt::register()?;
    // A backup of an older version is not migrated.
    let options = |preparation| OpenOptions {
        preparation,
        ..context.options
    };
    let source = options(Preparation::Keep).open(from)?;
    context.definition.get_or_init(|| source.definition());
    let mut foreign = source.foreign_columns()?;
    foreign.retain(|column| !ignore.contains(column));
    if !foreign.is_empty() {
        let columns = foreign.join(",");
        return Err(CliError::new(format_args!(
            "the source has columns that the catalogue does not have: {columns}; store their values in \
             fields (robot-cli fields add), or leave them out with --ignore \"{columns}\""
        )));
    }
    let target = options(Preparation::BeginCopy).open(to)?;
    let mut display = None;
    let copied = transfer::copy(&source, &target, |progress| {
        let total = Some(progress.total);
        let display = display.get_or_insert_with(|| Progress::new(total, "copying"));
        let action = match progress.stage {
            CopyStage::VerifyingSource => "verified in the source",
            CopyStage::VerifyingTarget => "verified in the target",
            _ => "copied",
        };
        display.update(progress.robots, action);
        interrupt.control_flow()
    });
    drop(display);
    drop(target);
    let end_copy = || options(Preparation::EndCopy).open(to);
    if let Err(CopyError::NotEmpty | CopyError::OtherDefinition { .. }) = &copied {
        // Nothing was copied. Another program may have added robots since the mark was made.
        end_copy()?;
    }
    let digest = copied.map_err(|error| match error {
        CopyError::NotEmpty => CliError::new("the target is not empty; choose an empty one"),
        error @ CopyError::OtherDefinition { .. } => CliError::new(error),
        error => {
            let status = match error {
                CopyError::Cancelled { .. } => interrupt.status(),
                _ => 1,
            };
            let (reason, remedy) = (reason(&error), remedy(to));
            CliError::with_status(
                status,
                format_args!(
                    "{reason}; the target is incomplete. To start over, {remedy}, and copy again"
                ),
            )
        }
    })?;
    end_copy()?;
    let text = format!(
        "Copied {}; both have the checksum {}.",
        robot_count(digest.robots),
        digest.checksum
    );
    let members = [
        ("robots", digest.robots.into()),
        ("checksum", digest.checksum.into()),
    ];
    context.print_result(&text, &members, CliError::change_not_shown)
}

/// Why the copy is incomplete.
fn reason(error: &CopyError) -> String {
    match error {
        CopyError::Source(cause) | CopyError::Target(cause) => {
            format!("{error}: {}", cause.with_cause())
        }
        CopyError::Cancelled { copied } => {
            format!("the copy was stopped after {}", robot_count(*copied))
        }
        error => error.to_string(),
    }
}

/// How to remove an incomplete copy.
fn remedy(target: &str) -> String {
    match target.strip_prefix("sqlite://") {
        Some(path) => format!("delete '{path}', '{path}-wal' and '{path}-shm'"),
        None => format!(
            "drop the tables robots, robots_catalogue, robots_versions, robots_definition, \
             robots_rewrite and __diesel_schema_migrations of {}",
            redact(target)
        ),
    }
}
