//! Commands, one module each: the arguments, and a `run` function.

pub(crate) mod add;
pub(crate) mod backup;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod copy;
pub(crate) mod delete;
pub(crate) mod export;
pub(crate) mod fields;
pub(crate) mod get;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod list;
pub(crate) mod manual;
pub(crate) mod migrate;
pub(crate) mod prune;
pub(crate) mod restore;
pub(crate) mod revert;
pub(crate) mod search;
pub(crate) mod summary;
pub(crate) mod token;
pub(crate) mod update;

use clap::Subcommand;

use crate::{import_args::ImportArgs, selection::SelectionArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add a robot and print it with its id
    ///
    /// If the robot violates rules, all of them are reported on standard error, one per line, and
    /// nothing is added. The type and the year are required, unless the definition of the catalogue
    /// says otherwise: see "robot-cli fields".
    Add(add::AddArgs),

    /// Print all robots, or some of them, sorted by name
    #[command(after_help = include_str!("../help/list.txt"))]
    List(SelectionArgs),

    /// Print the robots whose names contain a text, sorted by name
    ///
    /// The search is case-sensitive without --ignore-case, and has no wildcards: % and * match only
    /// themselves.
    Search(search::SearchArgs),

    /// Print one robot
    Get(get::GetArgs),

    /// Count the robots by type and decade, or by the values of a field
    Summary(summary::SummaryArgs),

    /// Change robots
    ///
    /// Robots are chosen by an id, an exact name, or conditions. Fields without an option keep their values.
    /// One robot is printed when it is changed. Changing several robots needs confirmation: on a terminal the
    /// command shows them and asks, elsewhere it requires --yes. Up to 10,000 robots are changed all or
    /// none, and more in steps of 10,000. If names or conditions choose robots, all of them must be unchanged
    /// since.
    Update(update::UpdateArgs),

    /// Delete robots
    ///
    /// Robots are chosen by ids and exact names, or by conditions. Ids and names that no robot has are reported
    /// on standard error, the other robots are deleted, and the exit status is 1. Deleting several robots needs
    /// confirmation: on a terminal the command shows them and asks, elsewhere it requires --yes. Up to 10,000
    /// robots are deleted all or none, and more in steps of 10,000. If names or conditions choose robots, all
    /// of them must be unchanged since.
    Delete(delete::DeleteArgs),

    /// Print what has changed, by whom and when
    ///
    /// Changes are numbered in the order in which they were stored, also those of servers and other programs. A
    /// cursor is a place in this order. Each robot is printed at most once, with its latest change. On a
    /// terminal the output is a table, elsewhere NDJSON.
    Changes(changes::ChangesArgs),

    /// Print all changes of a robot, the latest first
    ///
    /// A deleted robot has a history, too. The author is the name of a server's token, or the user who has called
    /// robot-cli; for other programs it is unknown.
    History(history::HistoryArgs),

    /// Undo changes
    ///
    /// Earlier values become a new change, under the present rules, and a deleted robot comes back under its id.
    /// Between two cursors, up to 10,000 robots are changed all or none; robots that other changes have changed
    /// since are left alone. Undoing the changes of several robots needs confirmation: on a terminal the command
    /// asks, elsewhere it requires --yes.
    Revert(revert::RevertArgs),

    /// Remove old past versions
    ///
    /// Changes that are older can be neither followed nor undone afterwards. Ten million versions are kept at most.
    /// A server removes them by itself.
    Prune(prune::PruneArgs),

    /// Add robots from a file or standard input
    Import(ImportArgs),

    /// Write robots to a file or standard output
    Export(export::ExportArgs),

    /// Copy a catalogue to another store, with all ids
    ///
    /// The target must be empty. Afterwards both catalogues are read again and compared by their number of
    /// robots and a checksum: the SHA-256 of the output of "list --sort id --format ndjson". Stop all writers of the
    /// source first. A definition of fields is copied, too. New robots in the target get ids that were never
    /// used in the source. The options --from and --to replace --database.
    Copy(copy::CopyArgs),

    /// Back up the catalogue file while it is in use
    ///
    /// The backup is a consistent snapshot that includes all acknowledged writes. It is checked
    /// and synced, and renamed into place when complete. The command supports SQLite only; use
    /// the tools of the database server for other stores.
    Backup(backup::BackupArgs),

    /// Restore the catalogue file from a backup
    ///
    /// The backup is checked as by "check", and copied; the copy is checked and synced, and renamed
    /// into place when complete. The backup is not changed. With --replace, the command fails while
    /// another program uses the catalogue, and keeps the file that it replaces, with its WAL, as
    /// robots.db.replaced-1, or with another number.
    Restore(restore::RestoreArgs),

    /// Check the catalogue for damage
    ///
    /// Prints the result of each check: the integrity of an SQLite file and its search index, the
    /// rules of all robots, the order of their names, the last id, and the number of names and robots.
    /// An SQLite file is not changed, and may be in use.
    #[command(after_help = include_str!("../help/check.txt"))]
    Check {
        /// Remove what is harmless: values of fields that the catalogue does not have
        #[arg(long)]
        repair: bool,
    },

    /// Revert the tables of the catalogue to those of an earlier version
    ///
    /// Run it with the newer version, while no other program uses the catalogue, and after a backup; then
    /// use the earlier version. The newer one migrates the tables again when it opens the catalogue.
    Migrate(migrate::MigrateArgs),

    /// Show or change the fields of the robots
    ///
    /// Without a command, it prints the fields that can be set. They are the definition of the catalogue,
    /// which is stored in it, and holds for all programs that use it.
    #[command(after_help = fields::EXAMPLES)]
    Fields(fields::FieldsArgs),

    /// Create access tokens for the server
    #[command(subcommand, after_help = token::EXAMPLES, subcommand_value_name = "COMMAND")]
    Token(token::TokenCommand),

    /// Print a shell completion script
    Completions(completions::CompletionsArgs),

    /// Print the manual, or write one page per command to a directory
    Manual(manual::ManualArgs),
}
