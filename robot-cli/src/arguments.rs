//! Command-line interface: global options and the list of commands.

use clap::{ColorChoice, Parser, Subcommand};
use robot_core::DEFAULT_URL;

use crate::{
    commands::{
        add::AddArgs,
        backup::BackupArgs,
        check::CheckArgs,
        completions::CompletionsArgs,
        copy::CopyArgs,
        delete::DeleteArgs,
        export::ExportArgs,
        get::GetArgs,
        import_arguments::ImportArgs,
        list::ListArgs,
        manual::ManualArgs,
        migrate::MigrateArgs,
        restore::RestoreArgs,
        search::SearchArgs,
        summary::SummaryArgs,
        token::{self, TokenCommand},
        update::UpdateArgs,
    },
    format::Format,
};

const GLOBAL: &str = "Global options";

/// Manages a catalogue of robots.
///
/// Each robot has a unique name, and an id, which the catalogue assigns and never reuses; "robot-cli
/// help add" describes the other fields. By default the catalogue is the file robots.db, which is
/// created when a robot is added.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, subcommand_value_name = "COMMAND")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// URL of the catalogue
    // The value of the variable is hidden because the URL may contain a password.
    #[arg(
        long,
        global = true,
        help_heading = GLOBAL,
        value_name = "URL",
        env = "DATABASE_URL",
        hide_env_values = true,
        default_value = DEFAULT_URL
    )]
    pub(crate) database: String,

    /// Seconds to wait for a busy or unreachable database
    #[arg(
        long,
        global = true,
        help_heading = GLOBAL,
        value_name = "SECONDS",
        default_value_t = 2,
        value_parser = clap::value_parser!(u64).range(1..=3600)
    )]
    pub(crate) timeout: u64,

    /// Format: table, json, ndjson or csv [default: table, or by the file name]
    #[arg(long, global = true, help_heading = GLOBAL, value_enum, hide_possible_values = true)]
    pub(crate) format: Option<Format>,

    /// Colors: auto, always or never
    #[arg(
        long,
        global = true,
        help_heading = GLOBAL,
        value_name = "WHEN",
        default_value_t = ColorChoice::Auto,
        hide_possible_values = true
    )]
    pub(crate) color: ColorChoice,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add a robot and print it with its id
    ///
    /// If the robot violates rules, all of them are reported on standard error, one per line, and
    /// nothing is added.
    Add(AddArgs),

    /// Print all robots, or those of some types and years, sorted by name
    List(ListArgs),

    /// Print the robots whose names contain a text, sorted by name
    ///
    /// The search is case-sensitive without --ignore-case, and has no wildcards: % and * match only
    /// themselves.
    Search(SearchArgs),

    /// Print one robot
    Get(GetArgs),

    /// Print how many robots there are of each type and decade
    Summary(SummaryArgs),

    /// Change a robot and print it
    ///
    /// At least one of the options for fields is required. The other fields keep their values.
    Update(UpdateArgs),

    /// Delete robots
    ///
    /// If some ids do not exist, the other robots are deleted, the missing ids are reported on
    /// standard error, and the exit status is 1. Deleting several robots needs confirmation: on a
    /// terminal the command shows them and asks, elsewhere it requires --yes.
    Delete(DeleteArgs),

    /// Add robots from a file or standard input
    Import(ImportArgs),

    /// Write robots to a file or standard output
    Export(ExportArgs),

    /// Copy a catalogue to another store, with all ids
    ///
    /// The target must be empty. Afterwards both catalogues are read again and compared by their
    /// number of robots and a checksum: the SHA-256 of the output of "list --format ndjson". Stop
    /// all writers of the source first. New robots in the target get ids that were never used in
    /// the source. The options --from and --to replace --database.
    Copy(CopyArgs),

    /// Back up the catalogue file while it is in use
    ///
    /// The backup is a consistent snapshot that includes all acknowledged writes. It is checked
    /// and synced, and renamed into place when complete. The command supports SQLite only; use
    /// the tools of the database server for other stores.
    Backup(BackupArgs),

    /// Restore the catalogue file from a backup
    ///
    /// The backup is checked as by "check", and copied; the copy is checked and synced, and renamed
    /// into place when complete. The backup is not changed. With --replace, the command fails while
    /// another program uses the catalogue, and keeps the file that it replaces, with its WAL, as
    /// robots.db.replaced-1, or with the next free number.
    Restore(RestoreArgs),

    /// Check the catalogue for damage
    ///
    /// Prints the result of each check: the integrity of an SQLite file and its search index, the
    /// rules of all robots, the order of their names, the last id, and the number of names and robots.
    /// An SQLite file is not changed, and may be in use.
    Check(CheckArgs),

    /// Revert the tables of the catalogue to those of an earlier version
    ///
    /// Run it with the newer version, while no other program uses the catalogue, and after a backup; then
    /// use the earlier version. The newer one migrates the tables again when it opens the catalogue.
    Migrate(MigrateArgs),

    /// Create access tokens for the server
    #[command(subcommand, after_help = token::EXAMPLES, subcommand_value_name = "COMMAND")]
    Token(TokenCommand),

    /// Print a shell completion script
    Completions(CompletionsArgs),

    /// Print the manual, or write one page per command to a directory
    Manual(ManualArgs),
}
