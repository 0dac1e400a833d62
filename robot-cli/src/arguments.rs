//! What can be typed: the commands, their options, and the help that teaches them.
//!
//! The parser checks only what makes a text an id or a year. Which names, types and years a
//! robot may have is for the catalogue's rules to say, so that every way to the catalogue
//! says it in the same words.

use clap::{Args, ColorChoice, Parser, Subcommand, ValueEnum};
use robot_core::{DEFAULT_URL, Draft, http};

use crate::{
    backup::{self, BackingUp},
    completions::{self, Completions},
    copy::{self, Copying},
    delete::Deletion,
    export::ExportArguments,
    format::Format,
    given_id::{GivenId, parse_id},
    help,
    import::ImportArguments,
    manual::{self, Manual},
};

/// Keeps a catalogue of robots.
///
/// Each robot has a name that no other robot has, a type (droid, mechanical or virtual), a
/// year (0 or later) and an id, which the catalogue gives it and never gives again. The
/// catalogue is a database file, which is created when it is first used.
#[derive(Debug, Parser)]
#[command(version, after_help = help::EXAMPLES, max_term_width = 100, subcommand_value_name = "COMMAND")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    // The variable's value stays out of the help: URLs of databases may hold passwords.
    #[arg(
        long,
        help = "The catalogue: sqlite://PATH for a file, or memory: for one that is gone at the end",
        long_help = DATABASE_HELP,
        global = true,
        value_name = "URL",
        env = "DATABASE_URL",
        hide_env_values = true,
        default_value = DEFAULT_URL
    )]
    pub(crate) database: String,

    /// How many seconds to wait for a database that is locked, busy or away
    #[arg(
        long,
        global = true,
        value_name = "SECONDS",
        default_value_t = 2,
        value_parser = clap::value_parser!(u64).range(1..=3600)
    )]
    pub(crate) timeout: u64,

    /// How robots are printed [default: table]; for import and export, how they are written in the
    /// file [default: as its name ends]
    #[arg(long, global = true, value_enum)]
    pub(crate) format: Option<Format>,

    /// Whether tables, help and errors are coloured; auto means on a terminal
    #[arg(long, global = true, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    pub(crate) color: ColorChoice,
}

const DATABASE_HELP: &str = "\
The catalogue: sqlite://PATH for a file, or memory: for one that is gone at the end

The path is all that follows sqlite://, so that sqlite://robots.db is a file in the working \
directory and sqlite:///var/lib/robots.db an absolute path. The file is created when it is not \
there; its folder is not. Where the program was built for them, \
postgres://user:password@host/database and mysql://user:password@host/database name a database \
on a server, whose tables are created when they are not there. The option outweighs the environment variable, which is the better \
place for a URL with a password in it.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    OfTheCatalogue(CatalogueCommand),

    /// Add the robots of a file, or of standard input
    Import(ImportArguments),

    /// Write robots to a file, or to standard output
    Export(ExportArguments),

    /// Copy a catalogue into another store, every robot with its id
    ///
    /// The target must be empty. At the end both are read again, and compared by the number of
    /// their robots and a checksum, which is the SHA-256 of what list --format ndjson prints. Let
    /// nobody change the source meanwhile. New robots of the target get ids that no robot of the
    /// source has ever had. It takes no --database.
    #[command(after_help = copy::EXAMPLES)]
    Copy(Copying),

    /// Copy the catalogue's file, while others use it
    ///
    /// The copy is of one moment, holds all that was stored before, is checked, and gets its name
    /// when it is complete and on disk. It is for catalogues in SQLite; a database server has
    /// programs of its own for this.
    #[command(after_help = backup::EXAMPLES)]
    Backup(BackingUp),

    /// Make tokens, by which the server knows who may read and write
    #[command(subcommand, after_help = TOKEN_EXAMPLES, subcommand_value_name = "COMMAND")]
    Token(TokenCommand),

    /// Print a script that lets a shell complete what is typed
    #[command(after_help = completions::PLACES)]
    Completions(Completions),

    /// Print the manual, or write a page for each command into a folder
    #[command(after_help = manual::EXAMPLES)]
    Manual(Manual),
}

const TOKEN_EXAMPLES: &str = "\
Examples:
  robot-cli token new write                  For a client that changes robots
  robot-cli token new read --format json     For one that only reads, as a JSON object";

/// What is done about tokens. No catalogue is opened for it.
#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token, and print it with what the server has to know of it
    ///
    /// The server keeps a hash alone, so that nobody can read a token from its configuration.
    /// A token that is lost, or got into wrong hands, is replaced by another: take its hash
    /// out of the configuration, and start the server again.
    #[command(after_help = TOKEN_EXAMPLES)]
    New {
        /// What the token permits
        permission: Permission,
    },
}

/// What a token permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Permission {
    /// To get, list and search robots
    Read,
    /// To change them, too
    Write,
}

impl From<Permission> for http::Permission {
    fn from(permission: Permission) -> Self {
        match permission {
            Permission::Read => Self::Read,
            Permission::Write => Self::Write,
        }
    }
}

/// What is done with the robots of a catalogue.
#[derive(Debug, Subcommand)]
pub(crate) enum CatalogueCommand {
    /// Add a robot and print it with the id that it was given
    ///
    /// All rules that it breaks are told on standard error, a line each, and nothing is added.
    #[command(after_help = "Example:\n  robot-cli add R2-D2 --type droid --year 1977")]
    Add {
        /// The name: 1 to 255 characters, unlike that of any other robot
        name: String,

        /// The type: droid, mechanical or virtual
        #[arg(long = "type", value_name = "TYPE")]
        robot_type: String,

        /// The year: an integer, 0 or more
        #[arg(long, allow_negative_numbers = true, value_parser = parse_year)]
        year: i64,
    },

    /// Print all robots, by name
    #[command(after_help = "Example:\n  robot-cli list --format json")]
    List,

    /// Print the robots that have a text in their name, by name
    ///
    /// Upper and lower case differ, and no character is a wildcard: % and * stand for
    /// themselves.
    #[command(after_help = "Examples:\n  robot-cli search R2\n  robot-cli search -- -D2")]
    Search {
        /// The part that the names must contain, to the letter
        text: String,
    },

    /// Print one robot
    #[command(after_help = "Example:\n  robot-cli get 1")]
    Get {
        /// The id of the robot
        #[arg(allow_negative_numbers = true, value_parser = parse_id)]
        id: GivenId,
    },

    /// Change a robot and print it as it is now
    ///
    /// At least one of --name, --type and --year must be given. What is not given keeps its
    /// value.
    // The usage that clap would derive joins the three options with bars, as if one
    // excluded the others.
    #[command(
        override_usage = "robot-cli update [OPTIONS] [--name <NAME>] [--type <TYPE>] [--year <YEAR>] <ID>",
        after_help = "Example:\n  robot-cli update 1 --name R2-D2 --year 1977"
    )]
    Update {
        /// The id of the robot
        #[arg(allow_negative_numbers = true, value_parser = parse_id)]
        id: GivenId,

        #[command(flatten)]
        changes: Changes,
    },

    /// Delete robots
    ///
    /// Those that exist are deleted even where others do not; the others are named on standard
    /// error, and the exit status is 1. Several robots are shown on the terminal first, and are
    /// deleted after a yes; without a terminal it takes --yes.
    #[command(after_help = "Examples:\n  robot-cli delete 1\n  robot-cli delete --yes 1 2 3")]
    Delete(Deletion),
}

/// The members of a robot that an update is to change: at least one.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct Changes {
    /// The new name; write --name=-NAME where it begins with a hyphen
    #[arg(long)]
    name: Option<String>,

    /// The new type: droid, mechanical or virtual
    #[arg(long = "type", value_name = "TYPE")]
    robot_type: Option<String>,

    /// The new year: an integer, 0 or more
    #[arg(long, allow_negative_numbers = true, value_parser = parse_year)]
    year: Option<i64>,
}

impl From<Changes> for Draft {
    fn from(changes: Changes) -> Self {
        Self {
            name: changes.name,
            robot_type: changes.robot_type,
            year: changes.year,
        }
    }
}

/// Reads a year, a negative one too. The standard library's words for what is wrong with a
/// text do not say what would be right.
fn parse_year(text: &str) -> Result<i64, String> {
    text.parse()
        .map_err(|_| format!("a year is an integer from 0 to {}", i64::MAX))
}
