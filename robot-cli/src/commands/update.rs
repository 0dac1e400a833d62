//! `update`: some fields of robots.

use std::io;

use clap::Args;
use robot_core::{Catalogue, CatalogueExt, Change, Error, Filter, Revision, ValidChanges};

use crate::{
    context::Context,
    failure::Failure,
    fields::{Changes, Columns, IdArgument, parse_id},
    progress::robot_count,
    selection::ConditionArgs,
    targets::{Targets, check_choice},
    terminal::ConfirmationArgs,
};

/// Arguments of `update`.
#[derive(Debug, Args)]
#[command(override_usage = "robot-cli update [OPTIONS] [ID]", after_help = EXAMPLES)]
pub(crate) struct UpdateArgs {
    /// The id of the robot
    #[arg(allow_negative_numbers = true, value_parser = parse_id)]
    id: Option<IdArgument>,

    #[command(flatten)]
    changes: Changes,

    /// Change the robot only if it still has this revision, which 'get --fields revision' prints
    #[arg(long, value_name = "REVISION", requires = "id")]
    if_revision: Option<Revision>,

    #[command(flatten)]
    conditions: ConditionArgs,

    #[command(flatten)]
    confirmation: ConfirmationArgs,
}

const EXAMPLES: &str = "\
Examples:
  robot-cli update 1 --name R2-D2 --year 1977
  robot-cli update --name R2-D2 --set maker=ACME --unset notes
  robot-cli update --where condition=poor --set on_display=false";

/// Changes the robots. One robot is printed, of several the number.
pub(crate) fn run(mut args: UpdateArgs, context: &mut Context<'_>) -> Result<(), Failure> {
    let name = match args.id {
        Some(_) => None,
        None => args.changes.take_name(),
    };
    let is_filtered = !args.conditions.is_empty();
    check_choice(args.id.is_some() || name.is_some(), is_filtered)?;
    if args.changes.is_empty() {
        return Err(Failure::usage(
            "the new values are missing; add options such as --year YEAR, --set name=NAME or --unset FIELD",
        ));
    }
    let catalogue = context.open_existing()?;
    let definition = catalogue.definition();
    let targets = if let Some(id) = args.id.take() {
        Targets::one(id.map_err(Failure::no_robot)?, args.if_revision)
    } else {
        let filter = args.conditions.filter(Filter::all(), None, &definition)?;
        let filter = is_filtered.then_some(filter);
        Targets::find(&*catalogue, Vec::new(), name.as_slice(), filter)?
    };
    let changes = changes(&*catalogue, &args.changes, &targets)?;
    let columns = Columns::of(&definition);
    targets.confirm(&args.confirmation, ["Change", "changing"], &columns)?;
    let (_, failure) = targets.apply(&*catalogue, |id, revision| match revision {
        Some(revision) => Change::UpdateIf(id, revision, changes.clone()),
        None => Change::Update(id, changes.clone()),
    });
    let failures = targets.missing.into_iter().chain(failure);
    Failure::combine(failures)?;
    let printed = match *targets.robots.as_slice() {
        [] => Ok(()),
        // From here on the change is stored, so every failure has to say so.
        [(id, _)] => match catalogue
            .get(id)
            .and_then(|robot| robot.ok_or(Error::NotFound(id)))
        {
            Ok(robot) => context.print_robot(&robot, &columns),
            Err(error) => Err(io::Error::other(error)),
        },
        [..] => {
            let count = targets.robots.len();
            let text = format!("Changed {}.", robot_count(count));
            context.print_result(&text, &[("robots", count.into())])
        }
    };
    printed.map_err(Failure::change_not_shown)
}

/// The changes, checked by the definition. The first robot stands for all in the messages.
fn changes(
    catalogue: &dyn Catalogue,
    changes: &Changes,
    targets: &Targets,
) -> Result<ValidChanges, Failure> {
    let definition = catalogue.definition();
    let (draft, removed) = changes.parse(&definition)?;
    definition
        .validate_patch(draft, &removed)
        .or_else(|rejection| {
            let first = targets.robots.first().copied();
            if let Some((id, Some(revision))) = first {
                let robot = catalogue.get(id)?.ok_or(Error::NotFound(id))?;
                if revision != robot.revision() {
                    return Err(Error::Stale(id).into());
                }
            }
            let violations = catalogue.violations(rejection, first.map(|(id, _)| id))?;
            Err(Error::from(violations).into())
        })
}
