//! The robots that `update` and `delete` change: chosen by their ids, names or other values.
//!
//! It is easy to type or expand (`{1..9}`) an id too many, and a deleted robot cannot be restored with its
//! id. So changes of several robots need confirmation, in scripts as well.

use std::{
    collections::HashSet,
    io::{self, Write},
};

use robot_core::{Catalogue, CatalogueExt, Change, Filter, Pages, Revision, Robot, RobotId};

use crate::{
    failure::Failure,
    fields::{Columns, IdArgument},
    progress::robot_count,
    selection::NO_MATCH,
    table::Table,
    terminal::{ConfirmationArgs, Screen},
};

/// The number of robots that the confirmation shows.
const MAX_SHOWN: usize = 20;

/// The number of robots that are changed together, all of them or none.
const MAX_TOGETHER: usize = 10_000;

/// Fails unless robots are chosen, either by ids and names or by conditions.
pub(crate) fn check_choice(is_named: bool, is_filtered: bool) -> Result<(), Failure> {
    match (is_named, is_filtered) {
        (true, true) => Err(Failure::usage(
            "ids and names exclude conditions; give either, or the name as --where name=NAME",
        )),
        (false, false) => Err(Failure::usage(
            "no robots are chosen; give an <ID>, --name NAME, or a condition such as --where FIELD=VALUE",
        )),
        _ => Ok(()),
    }
}

/// Robots to change.
#[derive(Default)]
pub(crate) struct Targets {
    /// Each with the revision that it must still have: a robot that was chosen by its values may have others
    /// now.
    pub(crate) robots: Vec<(RobotId, Option<Revision>)>,
    seen: HashSet<RobotId>,
    /// The first ones, for the confirmation.
    shown: Vec<Robot>,
    /// The ids and names that no robot has.
    pub(crate) missing: Vec<Failure>,
}

impl Targets {
    /// The robot with this id, which may not exist.
    pub(crate) fn one(id: RobotId, revision: Option<Revision>) -> Self {
        Self {
            robots: vec![(id, revision)],
            ..Self::default()
        }
    }

    /// The robots with these ids and exact names, and those of a filter.
    pub(crate) fn find(
        catalogue: &dyn Catalogue,
        ids: Vec<IdArgument>,
        names: &[String],
        filter: Option<Filter>,
    ) -> Result<Self, Failure> {
        let mut targets = Self::default();
        for id in ids {
            let robot = match &id {
                Ok(id) if !targets.seen.contains(id) => catalogue.get(*id)?,
                _ => None,
            };
            if let Some(robot) = robot {
                targets.push(robot, None);
            } else {
                let id = id.map_or_else(|digits| digits, |id| id.to_string());
                targets.missing.push(Failure::no_robot(id));
            }
        }
        for name in names {
            if !targets.push_all(catalogue, Filter::all().named(name))? {
                let failure = Failure::no_robot_with(format_args!("the name '{name}'"));
                targets.missing.push(failure);
            }
        }
        if let Some(filter) = filter
            && !targets.push_all(catalogue, filter)?
        {
            let _ = writeln!(io::stderr(), "{NO_MATCH}");
        }
        Ok(targets)
    }

    /// Adds the robots of a filter. Returns whether there are any.
    fn push_all(&mut self, catalogue: &dyn Catalogue, filter: Filter) -> Result<bool, Failure> {
        let mut is_found = false;
        for page in Pages::new(catalogue, filter) {
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

    /// Fails unless the change of several robots is confirmed. The verb is given as in "Delete" and "deleting".
    pub(crate) fn confirm(
        &self,
        args: &ConfirmationArgs,
        [verb, action]: [&str; 2],
        columns: &Columns,
    ) -> Result<(), Failure> {
        if self.robots.len() < 2 {
            return Ok(());
        }
        let count = robot_count(self.robots.len());
        let show = || {
            // Standard output may be redirected.
            let mut terminal = io::stderr().lock();
            Table::new(Screen::of_standard_error(), columns).print(&self.shown, &mut terminal)?;
            match self.robots.len() - self.shown.len() {
                0 => Ok(()),
                more => writeln!(terminal, "… and {more} more"),
            }
        };
        args.confirm(
            &format!("{action} {count}"),
            show,
            &format!("{verb} these {count}?"),
        )
    }

    /// Changes the robots. Returns the ids of those that were changed: all of them if there is no failure.
    pub(crate) fn apply(
        &self,
        catalogue: &dyn Catalogue,
        change: impl Fn(RobotId, Option<Revision>) -> Change,
    ) -> (Vec<RobotId>, Option<Failure>) {
        let mut changed = Vec::new();
        for chunk in self.robots.chunks(MAX_TOGETHER) {
            let changes = chunk.iter().map(|(id, revision)| change(*id, *revision));
            match catalogue.apply_all(changes.collect()) {
                Ok(ids) => changed.extend(ids),
                Err(error) if changed.is_empty() => return (changed, Some(error.into())),
                Err(error) => {
                    let failure = Failure::new(format_args!(
                        "{}; {} were changed before, and no others. Fix the cause, and run the command again",
                        error.with_cause(),
                        robot_count(changed.len())
                    ));
                    return (changed, Some(failure));
                }
            }
        }
        (changed, None)
    }
}
