//! `migrate`: the tables of a catalogue, as an earlier version of the program has them.

use std::io::{self, IsTerminal};

use clap::Args;
use robot_core::{EarlierVersion, redact};

use crate::{context::Context, failure::Failure, terminal::is_confirmed};

/// Arguments of `migrate`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  robot-cli migrate --to 0.1.0")]
pub(crate) struct MigrateArgs {
    /// The earlier version
    #[arg(long, value_name = "VERSION")]
    to: EarlierVersion,

    /// Migrate without confirmation
    #[arg(long, short)]
    yes: bool,
}

/// Reverts the migrations that the earlier version does not have.
pub(crate) fn run(args: &MigrateArgs, context: &mut Context<'_>) -> Result<(), Failure> {
    let database = redact(&context.database);
    if !args.yes {
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return Err(Failure::usage(
                "migrating needs confirmation, and there is no terminal; nothing was changed. Add \
                 --yes to migrate",
            ));
        }
        if !is_confirmed(&format!("Revert the tables of {database}?")).unwrap_or(false) {
            return Err(Failure::plain(vec!["Nothing was changed.".to_owned()]));
        }
    }
    let options = context.options.clone().must_exist().revert_to(args.to);
    options.open(&context.database)?;
    let printed = context.print(&format!("Migrated {database}.\n"));
    printed.map_err(Failure::change_not_shown)
}
