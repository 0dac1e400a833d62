//! Ledger of all calls that clients made, with their outcomes.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt,
    time::Instant,
};

use super::{
    outcome::Outcome,
    robot::{Robot, Row},
};

/// The time from sending a request to receiving its answer.
#[derive(Clone, Copy)]
pub(crate) struct Interval {
    pub(crate) start: Instant,
    pub(crate) end: Instant,
}

impl fmt::Debug for Interval {
    /// Shows both as time before now, which is enough to see the order of events.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end) = (self.start.elapsed(), self.end.elapsed());
        write!(formatter, "{start:.4?} to {end:.4?} ago")
    }
}

/// A write that was acknowledged or is uncertain; `None` is a deletion.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    pub(crate) robot: Option<Robot>,
    pub(crate) interval: Interval,
    pub(crate) outcome: Outcome,
}

/// A read that was answered.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) interval: Interval,
    pub(crate) selection: Selection,
    pub(crate) rows: Vec<Row>,
}

/// Which robots a read asks for.
#[derive(Debug)]
pub(crate) enum Selection {
    Id(u64),
    NameContains(String),
}

impl Selection {
    /// All robots.
    pub(crate) fn all() -> Self {
        Self::NameContains(String::new())
    }
}

/// A write that was rejected because another robot had the name.
#[derive(Debug)]
pub(crate) struct Conflict {
    pub(crate) name: String,
    /// The robot to be changed, unless the write was an addition.
    pub(crate) id: Option<u64>,
    pub(crate) interval: Interval,
}

/// All calls of a workload, with their outcomes.
///
/// Only one client at a time changes a robot, and it stops changing it after an uncertain write: a
/// database that was frozen may apply such a write much later. So the writes to a robot are
/// ordered, and an uncertain one is the last.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// The writes to each robot whose id is known, in order.
    pub(crate) history: BTreeMap<u64, Vec<Write>>,
    /// Uncertain additions, whose ids are unknown.
    pub(crate) uncertain_additions: Vec<Write>,
    pub(crate) reads: Vec<Read>,
    pub(crate) conflicts: Vec<Conflict>,
    /// When a database was killed that shows commits before they are on disk: additions that were
    /// never acknowledged may have been read before and lost, and their ids used again.
    pub(crate) unsynced_lost: Option<Instant>,
    /// Every id that was ever assigned, and those that were assigned twice.
    ids: HashSet<u64>,
    pub(crate) ids_assigned_twice: Vec<u64>,
    /// The outcome of each write, by its year.
    outcomes: HashMap<u64, Outcome>,
    writes: BTreeMap<Outcome, usize>,
    read_outcomes: BTreeMap<Outcome, usize>,
    years: u64,
}

impl Ledger {
    /// A year that no other write has.
    pub(crate) fn unused_year(&mut self) -> u64 {
        self.years += 1;
        self.years
    }

    /// Records an addition, with the id of the new robot if it is known.
    pub(crate) fn record_addition(&mut self, id: Option<u64>, write: Write) {
        self.count_write(&write);
        match (id, &write.robot) {
            (Some(id), _) => {
                if !self.ids.insert(id) {
                    self.ids_assigned_twice.push(id);
                }
                self.history.entry(id).or_default().push(write);
            }
            (None, Some(robot)) if write.outcome == Outcome::NameTaken => {
                self.conflicts.push(Conflict {
                    name: robot.name.clone(),
                    id: None,
                    interval: write.interval,
                });
            }
            _ if write.outcome.is_uncertain() => self.uncertain_additions.push(write),
            _ => {}
        }
    }

    /// Records a change or a deletion of a robot.
    pub(crate) fn record_change(&mut self, id: u64, write: Write) {
        self.count_write(&write);
        match (write.outcome, &write.robot) {
            (Outcome::Done | Outcome::Unknown | Outcome::ConnectionLost, _) => {
                self.history.entry(id).or_default().push(write);
            }
            (Outcome::NameTaken, Some(robot)) => self.conflicts.push(Conflict {
                name: robot.name.clone(),
                id: Some(id),
                interval: write.interval,
            }),
            // Equivalent to a read that does not find the robot.
            (Outcome::NotFound, _) => self.reads.push(Read {
                interval: write.interval,
                selection: Selection::Id(id),
                rows: Vec::new(),
            }),
            _ => {}
        }
    }

    fn count_write(&mut self, write: &Write) {
        *self.writes.entry(write.outcome).or_default() += 1;
        if let Some(robot) = &write.robot {
            self.outcomes.insert(robot.year, write.outcome);
        }
    }

    pub(crate) fn count_read(&mut self, outcome: Outcome) {
        *self.read_outcomes.entry(outcome).or_default() += 1;
    }

    /// The number of writes with this outcome.
    pub(crate) fn writes(&self, outcome: Outcome) -> usize {
        self.writes.get(&outcome).copied().unwrap_or_default()
    }

    /// The outcome of the write that stored this robot.
    pub(crate) fn outcome_of(&self, robot: &Robot) -> Option<Outcome> {
        self.outcomes.get(&robot.year).copied()
    }

    /// Continues from a state that has been checked: nothing is uncertain any more.
    pub(crate) fn continue_from(&mut self, rows: Vec<Row>, interval: Interval) {
        self.uncertain_additions.clear();
        self.reads.clear();
        self.conflicts.clear();
        self.history.clear();
        for (id, robot) in rows {
            self.ids.insert(id);
            let write = Write {
                robot: Some(robot),
                interval,
                outcome: Outcome::Done,
            };
            self.history.insert(id, vec![write]);
        }
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (writes, reads) = (&self.writes, &self.read_outcomes);
        write!(formatter, "writes {writes:?}, reads {reads:?}")
    }
}
