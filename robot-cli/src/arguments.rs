//! Command line: the global options, and one of the commands.

use clap::{ArgAction, ColorChoice, Parser};
use robot_core::DEFAULT_URL;

use crate::{commands::Command, context::OutputFormat};

const GLOBAL: &str = "Global options";

/// Manages a catalogue of robots.
///
/// Each robot has a unique name, and an id, which the catalogue assigns and never reuses; "robot-cli
/// help add" describes the other fields. By default the catalogue is the file robots.db, which is
/// created when a robot is added.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 80, subcommand_value_name = "COMMAND")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// URL of the robot catalogue
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

    /// Format of robots: table, json, ndjson or csv [default: table, or by the file name]
    // As text, because "fields add" has an option with the same name and further values.
    #[arg(
        long,
        global = true,
        help_heading = GLOBAL,
        value_name = "FORMAT",
        action = ArgAction::Set,
        value_parser = OutputFormat::parser(&[]),
        hide_possible_values = true
    )]
    pub(crate) format: Vec<String>,

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
