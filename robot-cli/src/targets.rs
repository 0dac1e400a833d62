//! The robots that `update` and `delete` change: chosen by their ids, names or other values.
//!
//! It is easy to type or expand (`{1..9}`) an id too many. So changes of several robots need confirmation, in scripts as well.

use std::{
    collections::HashSet,
    io::{self, Write},
};

use robot_core::{
    Catalogue, CatalogueExt, Change, Error, Field, Filter, Pages, Revision, Robot, RobotId,
};

use crate::{
    context::{Context, OutputFormat},
    error::CliError,
    fields::{IdArgument, PrintedFields},
    progress::robot_count,
    selection::NO_MATCH,
    table::Table,
    terminal::{ConfirmationArgs, Screen, note},
    undo::{self, Between},
};

/// What became of a change of robots.
#[derive(Default)]
pub(crate) struct Applied {
    /// The robots that were changed.
    pub(crate) ids: Vec<RobotId>,
    /// By which it is undone: for each of its steps the positions before and after it.
    pub(crate) changes: Vec<Between>,
    pub(crate) failures: Vec<CliError>,
}

/// The number of robots that the confirmation shows.
const MAX_SHOWN: usize = 20;

/// The number of robots that are changed together, all of them or none.
const MAX_TOGETHER: usize = 10_000;

/// Fails unless robots are chosen, either by ids and names or by conditions.
pub(crate) fn check_choice(is_named: bool, is_filtered: bool) -> Result<(), CliError> {
    match (is_named, is_filtered) {
        (true, true) => Err(CliError::usage(
            "ids and names exclude conditions; give either, or the name as --where name=NAME",
        )),
        (false, false) => Err(CliError::usage(
            "no robots are chosen; give an <ID>, --name NAME, or a condition such as --where FIELD=VALUE",
        )),
        _ => Ok(()),
    }
}

impl Applied {
    /// Prints a text, or the result for programs, and how several changes are undone.
    pub(crate) fn print(self, text: &str, context: &mut Context<'_>) -> Result<(), CliError> {
        let mut failures = self.failures;
        if self.ids.is_empty() {
            return CliError::combine(failures);
        }
        let members = [
            ("robots", self.ids.len().into()),
            undo::member(&self.changes),
        ];
        let printed = context.print_result(text, &members, CliError::change_not_shown);
        failures.extend(printed.err());
        if self.ids.len() > 1 && context.print_format() == OutputFormat::Table {
            context.note_undo(&self.changes, None);
        }
        CliError::combine(failures)
    }
}

/// A change of robots.
pub(crate) struct Targets<'a> {
    catalogue: &'a dyn Catalogue,
    /// Each with the revision that it must still have: a robot that was chosen by its values may have others
    /// now.
    pub(crate) robots: Vec<(RobotId, Option<Revision>)>,
    seen: HashSet<RobotId>,
    /// The first ones, for the confirmation.
    shown: Vec<Robot>,
    /// About the ids and names that no robot has.
    pub(crate) missing: Vec<CliError>,
}

impl<'a> Targets<'a> {
    /// The robots with these ids and exact names, and those of a filter.
    pub(crate) fn find(
        catalogue: &'a dyn Catalogue,
        ids: impl IntoIterator<Item = IdArgument>,
        names: &[String],
        filter: Option<Filter>,
    ) -> Result<Self, CliError> {
        let mut targets = Self {
            catalogue,
            robots: Vec::new(),
            seen: HashSet::new(),
            shown: Vec::new(),
            missing: Vec::new(),
        };
        for id in ids {
            let robot = id.as_ref().ok().map(|id| catalogue.get(*id));
            if let Some(robot) = robot.transpose()?.flatten() {
                targets.push(robot, None);
            } else {
                let id = id.map_or_else(|digits| digits, |id| id.to_string());
                targets.missing.push(CliError::no_robot(id));
            }
        }
        for name in names {
            if !targets.push_all(Filter::all().with(Field::NAME, name.clone()))? {
                let failure = CliError::no_robot_with(format_args!("the name '{name}'"));
                targets.missing.push(failure);
            }
        }
        if let Some(filter) = filter
            && !targets.push_all(filter)?
        {
            note(NO_MATCH);
        }
        Ok(targets)
    }

    /// Adds the robots of a filter. Returns whether there are any.
    fn push_all(&mut self, filter: Filter) -> Result<bool, CliError> {
        let mut is_found = false;
        for page in Pages::new(self.catalogue, filter) {
            for robot in page? {
                let revision = robot.revision();
                self.push(robot, Some(revision));
                is_found = true;
            }
        }
        Ok(is_found)
    }

    fn push(&mut self, robot: Robot, revision: Option<Revision>) {
        if self.seen.insert(robot.id()) {
            self.robots.push((robot.id(), revision));
            if self.shown.len() < MAX_SHOWN {
                self.shown.push(robot);
            }
        }
    }

    /// Changes the robots; several only if that is confirmed. The verb is given as in "Delete" and "deleting".
    pub(crate) fn apply(
        self,
        confirmation: &ConfirmationArgs,
        [verb, action]: [&str; 2],
        change: impl Fn(RobotId, Option<Revision>) -> Change,
    ) -> Result<Applied, CliError> {
        if self.robots.len() > 1 {
            let definition = self.catalogue.definition();
            let count = definition.worded(&robot_count(self.robots.len()));
            let question = format!("{verb} these {count}?");
            confirmation.confirm(&format!("{action} {count}"), || self.show(), &question)?;
        }
        let mut applied = Applied {
            failures: self.missing,
            ..Applied::default()
        };
        for chunk in self.robots.chunks(MAX_TOGETHER) {
            let changes = chunk.iter().map(|(id, revision)| change(*id, *revision));
            match self.catalogue.commit(changes.collect(), None) {
                Ok(commit) => {
                    let ids = commit.receipts.iter().map(|receipt| receipt.id);
                    applied.ids.extend(ids);
                    applied.changes.extend(commit.positions);
                }
                Err(error) => {
                    let is_late = matches!(error, Error::NotFound(_) | Error::Stale(_));
                    applied.failures.push(error.into());
                    if !applied.ids.is_empty() {
                        applied.failures.push(CliError::new(format_args!(
                            "{} were changed before that; run the command again for the others",
                            robot_count(applied.ids.len())
                        )));
                    } else if is_late && self.robots.len() > 1 {
                        applied.failures.push(CliError::new(
                            "nothing was changed, because another program changed a robot meanwhile; run the command again",
                        ));
                    }
                    break;
                }
            }
        }
        Ok(applied)
    }

    /// Shows robots on standard error, because standard output may be redirected.
    fn show(&self) -> io::Result<()> {
        let columns = PrintedFields::of(&self.catalogue.definition());
        let mut terminal = io::stderr().lock();
        Table::new(Screen::of_standard_error(), &columns).print(&self.shown, &mut terminal)?;
        match self.robots.len() - self.shown.len() {
            0 => Ok(()),
            more => writeln!(terminal, "… and {more} more"),
        }
    }
}
