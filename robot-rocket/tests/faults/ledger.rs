//! What clients did and were told, all of it.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt,
    time::Instant,
};

use crate::{
    look::{Look, Row},
    told::Told,
};

/// From the moment when a call was made to the one when its answer was there.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) asked: Instant,
    pub(crate) answered: Instant,
}

impl fmt::Debug for Span {
    /// As long before now as it was, which is enough to tell what was before what.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, answered } = self;
        let (asked, answered) = (asked.elapsed(), answered.elapsed());
        write!(formatter, "{asked:.4?} to {answered:.4?} ago")
    }
}

/// A write that was acknowledged, or of which nobody knows. `None` is a deletion.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    pub(crate) look: Option<Look>,
    pub(crate) span: Span,
    pub(crate) told: Told,
}

/// What was read.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) span: Span,
    pub(crate) of: Extent,
    pub(crate) seen: Vec<Row>,
}

/// Which robots were asked for.
#[derive(Debug)]
pub(crate) enum Extent {
    /// The one of this id.
    One(u64),
    /// All with this in their names.
    Containing(String),
}

/// A write that was refused because another robot had the name.
#[derive(Debug)]
pub(crate) struct Conflict {
    pub(crate) name: String,
    /// The robot that was to get the name, unless it was a new one.
    pub(crate) robot: Option<u64>,
    pub(crate) span: Span,
}

/// What became of the calls of one client.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Progress {
    pub(crate) writes_done: usize,
    pub(crate) writes_undone: usize,
    pub(crate) reads_done: usize,
    pub(crate) reads_undone: usize,
}

/// What some clients did and were told.
///
/// Only one client at a time changes a robot, and it leaves one alone of which it does not know
/// what became of a change: a database that was frozen may make that change much later. So the
/// writes to a robot are in an order, and the doubtful one is the last.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// The writes to each robot whose id is known, in their order.
    pub(crate) robots: BTreeMap<u64, Vec<Write>>,
    /// Additions that may have been made, under whatever id.
    pub(crate) strays: Vec<Write>,
    pub(crate) reads: Vec<Read>,
    pub(crate) conflicts: Vec<Conflict>,
    /// When a database ended that shows what is not on its disk yet: additions that nobody was
    /// told of may have been seen before, and their ids given to others after.
    pub(crate) unsynced_lost: Option<Instant>,
    /// How it goes with each client.
    pub(crate) progress: Vec<Progress>,
    /// Every id that was ever given, and those that were given twice.
    ids: HashSet<u64>,
    pub(crate) ids_given_twice: Vec<u64>,
    /// What was told of each write, by its year.
    told: HashMap<u64, Told>,
    writes: BTreeMap<Told, usize>,
    lookups: BTreeMap<Told, usize>,
    years: u64,
}

impl Ledger {
    /// A year that no other write has.
    pub(crate) fn year(&mut self) -> u64 {
        self.years += 1;
        self.years
    }

    /// Takes down what came of an addition, and of the new robot's id if there is one.
    pub(crate) fn add(&mut self, id: Option<u64>, write: Write) {
        if let Some(look) = &write.look {
            self.told.insert(look.year, write.told);
        }
        match (id, &write.look) {
            (Some(id), _) => {
                if !self.ids.insert(id) {
                    self.ids_given_twice.push(id);
                }
                self.robots.entry(id).or_default().push(write);
            }
            (None, Some(look)) if write.told == Told::Taken => {
                self.conflicts.push(Conflict {
                    name: look.name.clone(),
                    robot: None,
                    span: write.span,
                });
            }
            _ if write.told.is_doubtful() => self.strays.push(write),
            _ => {}
        }
    }

    /// Takes down what came of a change.
    pub(crate) fn change(&mut self, id: u64, write: Write) {
        if let Some(look) = &write.look {
            self.told.insert(look.year, write.told);
        }
        match (write.told, &write.look) {
            (Told::Done | Told::Unknown | Told::Lost, _) => {
                self.robots.entry(id).or_default().push(write);
            }
            (Told::Taken, Some(look)) => self.conflicts.push(Conflict {
                name: look.name.clone(),
                robot: Some(id),
                span: write.span,
            }),
            // Whoever is told that a robot is not there has seen that it is not.
            (Told::Missing, _) => self.reads.push(Read {
                span: write.span,
                of: Extent::One(id),
                seen: Vec::new(),
            }),
            _ => {}
        }
    }

    /// Counts a write of a client.
    pub(crate) fn count_write(&mut self, client: usize, told: Told) {
        *self.writes.entry(told).or_default() += 1;
        let progress = &mut self.progress[client];
        match told {
            Told::Done => progress.writes_done += 1,
            // These are answers of a store that is well.
            Told::Taken | Told::Missing => {}
            _ => progress.writes_undone += 1,
        }
    }

    /// Counts a read of a client.
    pub(crate) fn count_read(&mut self, client: usize, told: Told) {
        *self.lookups.entry(told).or_default() += 1;
        let progress = &mut self.progress[client];
        match told {
            Told::Done => progress.reads_done += 1,
            _ => progress.reads_undone += 1,
        }
    }

    /// How many writes were told this.
    pub(crate) fn writes(&self, told: Told) -> usize {
        self.writes.get(&told).copied().unwrap_or_default()
    }

    /// What was told of the write that made a robot look so.
    pub(crate) fn told_of(&self, look: &Look) -> Option<Told> {
        self.told.get(&look.year).copied()
    }

    /// Goes on from what there is now, which has been judged: doubts are settled.
    pub(crate) fn settle(&mut self, rows: Vec<Row>, span: Span) {
        self.strays.clear();
        self.reads.clear();
        self.conflicts.clear();
        self.robots.clear();
        for (id, look) in rows {
            self.ids.insert(id);
            let write = Write {
                look: Some(look),
                span,
                told: Told::Done,
            };
            self.robots.insert(id, vec![write]);
        }
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            writes, lookups, ..
        } = self;
        write!(formatter, "writes {writes:?}, reads {lookups:?}")
    }
}
