//! `prune`: removes past versions.

use std::ops::ControlFlow;

use clap::Args;
use robot_core::{Catalogue, Retention};

use crate::{
    context::Context, error::CliError, interrupt::Interrupt, progress::Progress, terminal::note,
};

/// Arguments of `prune`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  robot-cli prune\n  robot-cli prune --days 30")]
pub(crate) struct PruneArgs {
    /// Keep versions for so many days; 0 keeps none
    #[arg(long, value_name = "DAYS", default_value_t = 90)]
    days: u32,
}

/// Removes the versions, and prints how many.
pub(crate) fn run(args: &PruneArgs, context: &mut Context<'_>) -> Result<(), CliError> {
    let catalogue = context.open_existing()?;
    let keep = Retention::of_days(args.days);
    let interrupt = Interrupt::register()?;
    let progress = Progress::new(None, "pruning");
    let mut removed = 0;
    loop {
        let step = catalogue.prune(keep)?;
        removed += step;
        if step == 0 {
            break;
        }
        if let ControlFlow::Break(()) = interrupt.control_flow() {
            let kept = format!("; {removed} past versions were removed");
            return Err(interrupt.stopped(&kept));
        }
    }
    drop(progress);
    let versions = if removed == 1 { "version" } else { "versions" };
    note(&format!("Removed {removed} past {versions}."));
    Ok(())
}
