//! `update`: some fields of robots.

use std::io;

use clap::Args;
use robot_core::{Catalogue, CatalogueExt, Change, Error, Filter, Revision};

use crate::{
    context::Context,
    error::CliError,
    fields::{IdArgument, PrintedFields, Values, parse_id},
    progress::robot_count,
    selection::ConditionArgs,
    targets::{Targets, check_choice},
    terminal::ConfirmationArgs,
};

/// Arguments of `update`.
#[derive(Debug, Args)]
#[command(override_usage = "robot-cli update [OPTIONS] [ID]", after_help = include_str!("../help/update.txt"))]
pub(crate) struct UpdateArgs {
    /// The id of the robot
    #[arg(allow_negative_numbers = true, value_parser = parse_id)]
    id: Option<IdArgument>,

    /// With an id, the new name; without, the exact name of the robot
    #[arg(long)]
    name: Option<String>,

    #[command(flatten)]
    values: Values,

    /// Remove the value of a field
    #[arg(long, value_name = "FIELD")]
    unset: Vec<String>,

    /// Change the robot only if it still has this revision, which 'get --fields revision' prints
    #[arg(long, value_name = "REVISION", requires = "id")]
    if_revision: Option<Revision>,

    #[command(flatten)]
    conditions: ConditionArgs,

    #[command(flatten)]
    confirmation: ConfirmationArgs,
}

/// Changes the robots. One robot is printed, of several the number.
pub(crate) fn run(mut args: UpdateArgs, context: &mut Context<'_>) -> Result<(), CliError> {
    // Without an id, `--name` is no new value.
    let chosen = args.name.take_if(|_| args.id.is_none());
    let is_filtered = !args.conditions.is_empty();
    check_choice(args.id.is_some() || chosen.is_some(), is_filtered)?;
    if args.name.is_none() && args.values.is_empty() && args.unset.is_empty() {
        return Err(CliError::usage(
            "the new values are missing; add options such as --year YEAR, --set name=NAME or --unset FIELD",
        ));
    }
    let catalogue = context.open_existing()?;
    let definition = catalogue.definition();
    let (name, conditions) = (args.name.as_deref(), &args.conditions);
    let (draft, removed) = args.values.parse(name, &args.unset, &definition)?;
    let filter = conditions.filter(Filter::all(), &*catalogue)?;
    let filter = is_filtered.then_some(filter);
    let mut targets = Targets::find(&*catalogue, args.id, chosen.as_slice(), filter)?;
    let Some((first, revision)) = targets.robots.first_mut() else {
        return CliError::combine(targets.missing);
    };
    *revision = args.if_revision.or(*revision);
    let first = *first;
    let changes = definition.validate_patch(draft, &removed);
    let is_alone = targets.robots.len() == 1;
    let changes = changes.or_else(|rejection| {
        if is_alone {
            let robot = catalogue.get(first)?.ok_or(Error::NotFound(first))?;
            return catalogue.changes_of(&robot, rejection);
        }
        Err(catalogue.violations(rejection, Some(first))?.into())
    })?;
    let verb = ["Change", "changing"];
    let applied = targets.apply(&args.confirmation, verb, |id, revision| {
        Change::Update(id, revision, changes.clone())
    })?;
    // Each failure has to say that the change is stored.
    let failure = CliError::change_not_shown;
    let [id] = *applied.ids else {
        let text = format!("Changed {}.", robot_count(applied.ids.len()));
        return applied.print(&text, context);
    };
    CliError::combine(applied.failures)?;
    let robot = catalogue
        .get(id)
        .and_then(|robot| robot.ok_or(Error::NotFound(id)));
    let robot = robot.map_err(|error| failure(io::Error::other(error)))?;
    context.print_robot(robot, &PrintedFields::of(&definition), failure)
}
