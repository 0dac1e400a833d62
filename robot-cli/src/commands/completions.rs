//! `completions`: a script for a shell that completes commands, options and values.

use clap::{Args, Command};
use clap_complete::aot;

use crate::{context::Context, error::CliError};

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/completions.txt"))]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: aot::Shell,
}

/// Prints the script.
pub(crate) fn run(
    args: &CompletionsArgs,
    mut command: Command,
    context: &mut Context<'_>,
) -> Result<(), CliError> {
    // `generate` panics on write errors, which a vector does not have.
    let mut script = Vec::new();
    aot::generate(args.shell, &mut command, "robot-cli", &mut script);
    // The Bash script spells the labels of a program with a hyphen in two ways, and so completes
    // nothing after a command (clap issue 6421).
    let script = String::from_utf8_lossy(&script).replace("robot__subcmd__cli", "robot__cli");
    context.print(&script, CliError::output)
}
