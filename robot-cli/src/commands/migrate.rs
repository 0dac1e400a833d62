//! `migrate`: the tables of a catalogue, as an earlier version of the program has them.

use clap::Args;
use robot_core::{EarlierVersion, OpenOptions, Preparation, redact};

use crate::{context::Context, error::CliError, terminal::ConfirmationArgs};

/// Arguments of `migrate`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  robot-cli migrate --to 0.1.0")]
pub(crate) struct MigrateArgs {
    /// The earlier version
    #[arg(long, value_name = "VERSION")]
    to: EarlierVersion,

    #[command(flatten)]
    confirmation: ConfirmationArgs,
}

/// Reverts the migrations that the earlier version does not have.
pub(crate) fn run(args: &MigrateArgs, context: &mut Context<'_>) -> Result<(), CliError> {
    let database = redact(&context.database);
    let question = format!("Revert the tables of {database}?");
    args.confirmation
        .confirm("migrating", || Ok(()), &question)?;
    let options = OpenOptions {
        must_exist: true,
        preparation: Preparation::Revert(args.to),
        ..context.options
    };
    options.open(&context.database)?;
    let text = format!("Migrated {database}.\n");
    context.print(&text, CliError::change_not_shown)
}
