//! The changes of a catalogue in memory.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

use compact_str::{CompactString, format_compact};

use crate::{
    catalogue::{Action, Changes, Error, Event, Extent, Position, Result, Retention},
    model::{Revision, Robot, RobotId, Timestamp},
};

/// The number of versions that are forgotten together. More, and others wait longer; fewer, and all take longer.
const STEP: u64 = 500;

/// All changes, by their revisions.
#[derive(Debug)]
pub(super) struct History {
    position: Position,
    log: BTreeMap<i64, Entry>,
    of_robots: BTreeSet<(RobotId, i64)>,
    /// What the changes up to this one have replaced is not kept any more.
    complete_from: i64,
    /// The number of changes that have replaced a version which is kept.
    replacing: u64,
    /// The changes up to this one have replaced no version that is kept.
    pruned_to: i64,
}

#[derive(Debug)]
struct Entry {
    action: Action,
    at: Option<Timestamp>,
    by: Option<CompactString>,
    id: RobotId,
    /// The robot after the change, which the catalogue shares.
    robot: Option<Arc<Robot>>,
}

impl Default for History {
    fn default() -> Self {
        // Another one for each catalogue.
        let identity = format_compact!("{:016x}", RandomState::new().hash_one(()));
        Self {
            position: Position::new(identity, 0),
            log: BTreeMap::new(),
            of_robots: BTreeSet::new(),
            complete_from: 0,
            replacing: 0,
            pruned_to: 0,
        }
    }
}

impl History {
    pub(super) fn position(&self) -> &Position {
        &self.position
    }

    /// The revision of the next change.
    pub(super) fn next_revision(&self) -> Result<Revision> {
        let next = self.position.revision().checked_add(1);
        let next = next.and_then(Revision::new);
        next.ok_or_else(|| Error::store("all revisions are assigned"))
    }

    /// Adds the change with the next revision, which has stored a robot.
    pub(super) fn stored(&mut self, action: Action, robot: &Arc<Robot>) {
        let audit = robot.audit().cloned().unwrap_or_default();
        let entry = Entry {
            action,
            at: audit.updated_at,
            by: audit.updated_by,
            id: robot.id(),
            robot: Some(Arc::clone(robot)),
        };
        self.add(robot.revision(), entry);
    }

    /// Adds the next change, a deletion.
    pub(super) fn deleted(&mut self, id: RobotId, by: Option<&str>) -> Result<()> {
        let entry = Entry {
            action: Action::Deleted,
            at: Some(Timestamp::now()),
            by: by.map(CompactString::from),
            id,
            robot: None,
        };
        self.add(self.next_revision()?, entry);
        Ok(())
    }

    fn add(&mut self, revision: Revision, entry: Entry) {
        self.position.revision = revision.get();
        self.replacing += u64::from(self.replaced(entry.id, revision.get()).is_some());
        self.of_robots.insert((entry.id, revision.get()));
        self.log.insert(revision.get(), entry);
    }

    /// The kept version of a robot that a change has replaced.
    fn replaced(&self, id: RobotId, number: i64) -> Option<i64> {
        let mut before = self.of_robots.range((id, 0)..(id, number));
        before.next_back().map(|(_, replaced)| *replaced)
    }

    /// Forgets the changes after a revision, which are undone.
    pub(super) fn forget_after(&mut self, revision: i64) {
        self.position.revision = revision;
        for (number, entry) in self.log.split_off(&(revision + 1)).into_iter().rev() {
            self.of_robots.remove(&(entry.id, number));
            self.replacing -= u64::from(self.replaced(entry.id, number).is_some());
        }
    }

    /// Forgets some of the versions that were replaced too long ago, or are too many, and returns their number.
    pub(super) fn prune(&mut self, keep: Retention) -> u64 {
        let (oldest, mut count) = (keep.oldest(), 0);
        while count < STEP
            && let Some((number, entry)) = self.log.range(self.pruned_to + 1..).next()
        {
            let (number, id, is_deletion) = (*number, entry.id, entry.robot.is_none());
            let is_kept =
                entry.at.is_some_and(|at| at >= oldest) && self.replacing <= keep.versions;
            if let Some(replaced) = self.replaced(id, number) {
                if is_kept {
                    break;
                }
                let deletion = is_deletion.then_some(number);
                for forgotten in [replaced].into_iter().chain(deletion) {
                    self.log.remove(&forgotten);
                    self.of_robots.remove(&(id, forgotten));
                }
                (self.complete_from, count) = (number, count + 1);
                self.replacing -= 1;
            }
            self.pruned_to = number;
        }
        count
    }

    fn event(&self, (number, entry): (&i64, &Entry)) -> Option<Event> {
        let before = self.replaced(entry.id, *number);
        let before = before.and_then(|number| self.log.get(&number)?.robot.as_deref());
        Some(Event {
            revision: Revision::new(*number)?,
            action: entry.action,
            at: entry.at,
            by: entry.by.clone(),
            id: entry.id,
            robot: entry.robot.as_deref().cloned(),
            before: before.cloned(),
        })
    }

    pub(super) fn changes(
        &self,
        after: &Position,
        extent: Extent,
        limit: usize,
    ) -> Result<Changes> {
        let is_wanted = |(number, entry): &(&i64, &Entry)| {
            let mut later = self.of_robots.range((entry.id, **number + 1)..);
            extent == Extent::Every || later.next().is_none_or(|(id, _)| *id != entry.id)
        };
        after.check(&self.position, self.complete_from)?;
        let wanted = self.log.range(after.revision() + 1..).filter(is_wanted);
        let events = wanted.filter_map(|entry| self.event(entry));
        let mut events: Vec<_> = events.take(limit.saturating_add(1)).collect();
        let is_last = events.len() <= limit;
        events.truncate(limit);
        if extent == Extent::Latest {
            let remaining = events.iter_mut().filter(|event| event.robot.is_some());
            remaining.for_each(|event| event.before = None);
        }
        let mut next = self.position.clone();
        if let Some(last) = events.last().filter(|_| !is_last) {
            next.revision = last.revision.get();
        }
        Ok(Changes {
            events,
            next,
            is_last,
        })
    }

    pub(super) fn history(
        &self,
        id: RobotId,
        before: Option<Revision>,
        limit: usize,
    ) -> Vec<Event> {
        let before = before.map_or(i64::MAX, Revision::get);
        let changes = self.of_robots.range((id, 0)..(id, before)).rev();
        let events = changes.filter_map(|(_, number)| {
            let entry = self.log.get_key_value(number)?;
            self.event(entry)
        });
        let mut events: Vec<_> = events.take(limit).collect();
        events.sort_unstable_by_key(|event| Reverse(event.revision));
        events
    }
}
