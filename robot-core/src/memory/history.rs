//! The changes of a catalogue in memory.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

use compact_str::{CompactString, format_compact};

use crate::{
    catalogue::{Action, Changes, Error, Event, Position, Result, Retention},
    model::{Revision, Robot, RobotId, Timestamp},
};

/// All changes, by their revisions.
#[derive(Debug)]
pub(super) struct History {
    position: Position,
    log: BTreeMap<i64, Entry>,
    of_robots: BTreeSet<(RobotId, i64)>,
    /// What the changes up to this one have replaced is not kept any more.
    complete_from: i64,
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
        self.of_robots.insert((entry.id, revision.get()));
        self.log.insert(revision.get(), entry);
    }

    /// Forgets the changes after a revision, which are undone.
    pub(super) fn forget_after(&mut self, revision: i64) {
        self.position.revision = revision;
        for (number, entry) in self.log.split_off(&(revision + 1)) {
            self.of_robots.remove(&(entry.id, number));
        }
    }

    /// Forgets the versions that were replaced too long ago, or are too many.
    pub(super) fn prune(&mut self, keep: Retention) -> u64 {
        let oldest = keep.oldest();
        let changes = self.log.range(self.complete_from + 1..);
        let replacing = changes.filter_map(|(number, entry)| {
            let mut before = self.of_robots.range((entry.id, 0)..(entry.id, *number));
            let (_, replaced) = before.next_back()?;
            Some((
                *number,
                *replaced,
                entry.id,
                entry.at,
                entry.robot.is_none(),
            ))
        });
        let replacing: Vec<_> = replacing.collect();
        let excess = replacing.len() as u64;
        let excess = excess.saturating_sub(keep.versions);
        let expired = replacing.into_iter().zip(0_u64..);
        let expired = expired.take_while(|((_, _, _, at, _), index)| {
            *index < excess || at.is_none_or(|at| at < oldest)
        });
        let mut count = 0;
        for ((number, replaced, id, _, is_deletion), _) in expired {
            self.log.remove(&replaced);
            self.of_robots.remove(&(id, replaced));
            if is_deletion {
                self.log.remove(&number);
                self.of_robots.remove(&(id, number));
            }
            self.complete_from = number;
            count += 1;
        }
        count
    }

    fn event((number, entry): (&i64, &Entry)) -> Option<Event> {
        Some(Event {
            revision: Revision::new(*number)?,
            action: entry.action,
            at: entry.at,
            by: entry.by.clone(),
            id: entry.id,
            robot: entry.robot.as_deref().cloned(),
        })
    }

    pub(super) fn changes(&self, after: &Position, limit: usize) -> Result<Changes> {
        after.check(&self.position, self.complete_from)?;
        let first = after.revision() + 1;
        let is_latest = |(number, entry): &(&i64, &Entry)| {
            let mut later = self.of_robots.range((entry.id, **number + 1)..);
            later.next().is_none_or(|(id, _)| *id != entry.id)
        };
        let latest = self.log.range(first..).filter(is_latest);
        let events = latest.filter_map(Self::event);
        let mut events: Vec<_> = events.take(limit.saturating_add(1)).collect();
        let is_last = events.len() <= limit;
        events.truncate(limit);
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
            Self::event(entry)
        });
        let mut events: Vec<_> = events.take(limit).collect();
        events.sort_unstable_by_key(|event| Reverse(event.revision));
        events
    }
}
