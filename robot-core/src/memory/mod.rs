//! Store in memory: for tests and for embedding, and the reference model of the other stores.

mod history;

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    ops::Bound,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use compact_str::CompactString;

use history::History;

use crate::{
    catalogue::{
        Action, Catalogue, Change, Changes, Commit, Error, Event, Extent, Page, PageRequest,
        Pending, Position, Receipt, Redefinition, Restoration, Result, Retention,
    },
    model::{
        Audit, Definition, Field, Member, Revision, Robot, RobotId, Timestamp, ValidDraft,
        Violation, Violations,
    },
};

/// A catalogue in memory, which is lost when it is dropped.
///
/// ```
/// use robot_core::{CatalogueExt, Draft, MemoryCatalogue};
///
/// let catalogue = MemoryCatalogue::new();
/// catalogue.add(Draft::new("C-3PO", "droid", 1977))?;
/// assert_eq!(catalogue.list()?.len(), 1);
/// # Ok::<(), robot_core::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryCatalogue {
    robots: RwLock<Robots>,
}

#[derive(Debug, Default)]
struct Robots {
    definition: Arc<Definition>,
    by_id: HashMap<RobotId, Arc<Robot>>,
    by_name: BTreeMap<(String, RobotId), Arc<Robot>>,
    /// The holders of the values of unique own fields.
    by_value: HashMap<(CompactString, String), RobotId>,
    /// The number of the greatest id that was ever assigned or restored.
    last_id: i64,
    history: History,
}

impl Robots {
    /// The unique fields whose values other robots have.
    fn taken(&self, robot: &Robot) -> Vec<Field> {
        let is_taken = |field: &&Field| {
            if field.member() == Member::Name {
                let mut holders = self.named(robot.name());
                return holders.any(|other| other.id() != robot.id());
            }
            let value = robot.value_of(field).map(|value| value.to_string());
            let holder = value.and_then(|value| self.by_value.get(&(field.name().into(), value)));
            holder.is_some_and(|holder| *holder != robot.id())
        };
        self.definition.unique().filter(is_taken).cloned().collect()
    }

    /// Adds a robot by the next change, unless its id or another unique value is taken.
    fn add(&mut self, robot: Robot) -> Result<Receipt> {
        if self.by_id.contains_key(&robot.id()) {
            return Err(Violation::ID_TAKEN.into());
        }
        self.store(Action::Added, robot)
    }

    /// Stores a robot by the next change, unless a unique value is taken.
    fn store(&mut self, action: Action, robot: Robot) -> Result<Receipt> {
        let taken = self.taken(&robot);
        if !taken.is_empty() {
            return Err(Violations::taken(&taken).into());
        }
        let (id, revision) = (robot.id(), self.history.next_revision()?);
        self.remove(id);
        let robot = Arc::new(robot.with_revision(revision));
        self.history.stored(action, &robot);
        self.put(robot);
        let revision = Some(revision);
        Ok(Receipt { id, revision })
    }

    fn put(&mut self, robot: Arc<Robot>) {
        let id = robot.id();
        self.by_value
            .extend(values(&self.definition, &robot).map(|value| (value, id)));
        let name = robot.name().to_owned();
        self.by_name.insert((name, id), Arc::clone(&robot));
        self.by_id.insert(id, robot);
    }

    /// The robots with a name.
    fn named(&self, name: &str) -> impl Iterator<Item = &Arc<Robot>> {
        let ids = [RobotId::LEAST, RobotId::GREATEST].map(|id| (name.to_owned(), id));
        let [first, last] = ids;
        self.by_name.range(first..=last).map(|(_, robot)| robot)
    }

    /// The robot, unless it has another revision than the expected one.
    fn expected(&self, id: RobotId, revision: Option<Revision>) -> Result<&Robot> {
        let robot = self.by_id.get(&id).ok_or(Error::NotFound(id))?;
        match revision {
            Some(revision) if robot.revision() != revision => Err(Error::Stale(id)),
            _ => Ok(robot),
        }
    }

    fn insert(&mut self, draft: ValidDraft, by: Option<&str>) -> Result<Receipt> {
        let id = self
            .last_id
            .checked_add(1)
            .and_then(RobotId::new)
            .ok_or_else(|| Error::store("all ids are assigned"))?;
        let robot = draft.with_id(id).with_audit(audit(None, by));
        let receipt = self.add(robot)?;
        self.last_id = id.get();
        Ok(receipt)
    }

    fn remove(&mut self, id: RobotId) {
        if let Some(robot) = self.by_id.remove(&id) {
            self.by_name.remove(&(robot.name().to_owned(), id));
            for value in values(&self.definition, &robot) {
                self.by_value.remove(&value);
            }
        }
    }

    fn apply(&mut self, change: Change, by: Option<&str>) -> Result<Receipt> {
        // The definition may have changed since the change was checked.
        let checked = match change.check_again(&self.definition)? {
            Cow::Owned(checked) => Some(checked),
            Cow::Borrowed(_) => None,
        };
        match checked.unwrap_or(change) {
            Change::Insert(draft) => self.insert(draft, by),
            Change::Update(id, revision, changes) => {
                let robot = self.expected(id, revision)?;
                let changed = changes.apply_to(robot, robot.revision());
                let changed = changed.with_audit(audit(Some(robot), by));
                self.store(Action::Changed, changed)
            }
            Change::Undelete(id, draft) => {
                let versions = self.history.history(id, None, 2);
                let last = versions.iter().find_map(|event| event.robot.as_ref());
                let mut audit = audit(None, by);
                let kept = last.ok_or(Error::NotFound(id))?.audit();
                audit.created_at = kept.and_then(|audit| audit.created_at);
                self.add(draft.with_id(id).with_audit(audit))
            }
            Change::Delete(id, revision) => {
                self.expected(id, revision)?;
                self.history.deleted(id, by)?;
                self.remove(id);
                let revision = None;
                Ok(Receipt { id, revision })
            }
        }
    }

    /// Puts a robot back in the state before a change. A robot that was added is removed.
    fn undo(&mut self, id: RobotId, before: Option<Arc<Robot>>) {
        self.remove(id);
        if let Some(robot) = before {
            self.put(robot);
        }
    }

    fn page(&self, request: PageRequest<'_>) -> Page<Robot> {
        let cursor = &request.cursor.resolved(&self.definition);
        let request = PageRequest { cursor, ..request };
        if let Some(ids) = request.filter.ids() {
            let robots = ids.filter_map(|id| self.by_id.get(&id));
            return request.page_of(robots.map(|robot| &**robot));
        }
        let Some((name, id)) = request.cursor.ascending_name() else {
            return request.page_of(self.by_id.values().map(|robot| &**robot));
        };
        let after = (name.to_owned(), id.unwrap_or(RobotId::GREATEST));
        let range = (Bound::Excluded(after), Bound::Unbounded);
        let matcher = request.filter.matcher();
        let robots = self.by_name.range(range).map(|(_, robot)| &**robot);
        let read: fn(&Robot) -> Robot = if request.has_names_only() {
            |robot| Robot::named(robot.id(), robot.name())
        } else {
            Robot::clone
        };
        let robots = robots.filter(|robot| matcher.matches(robot));
        request.room().first(robots, read)
    }
}

/// The times and the author of a change by which a robot is added, or changed.
fn audit(before: Option<&Robot>, by: Option<&str>) -> Audit {
    let now = Some(Timestamp::now());
    let created_at = before.map_or(now, |robot| robot.audit()?.created_at);
    Audit {
        created_at,
        updated_at: now,
        updated_by: by.map(CompactString::from),
    }
}

/// The values of unique own fields that a robot has.
fn values(
    definition: &Arc<Definition>,
    robot: &Robot,
) -> impl Iterator<Item = (CompactString, String)> + use<> {
    let unique = definition.unique().filter(|field| field.is_own());
    let values =
        unique.filter_map(|field| Some((field.name().into(), robot.value_of(field)?.to_string())));
    values.collect::<Vec<_>>().into_iter()
}

impl Robots {
    /// Takes a new definition, unless robots exclude it.
    fn define(&mut self, redefinition: &Redefinition) -> Result<()> {
        let mut robots: Vec<_> = self.by_id.values().map(|robot| &**robot).collect();
        robots.sort_unstable_by_key(|robot| robot.id());
        let (definition, rewritten) = redefinition.apply(&self.definition, robots)?;
        self.definition = Arc::new(definition);
        for robot in rewritten {
            let revision = self.history.next_revision()?;
            let before = self.by_id.get(&robot.id()).map(|robot| &**robot);
            let audit = audit(before, redefinition.by.as_deref());
            let robot = Arc::new(robot.with_revision(revision).with_audit(audit));
            self.history.stored(Action::Changed, &robot);
            self.by_id.insert(robot.id(), robot);
        }
        self.by_value.clear();
        let robots: Vec<_> = self.by_id.values().cloned().collect();
        for robot in robots {
            self.put(robot);
        }
        Ok(())
    }
}

impl MemoryCatalogue {
    /// An empty catalogue.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A catalogue with these robots as they are, the last id and the last revision.
    #[cfg(feature = "conformance")]
    pub(crate) fn of(robots: Vec<Robot>, last_id: i64, revision: i64) -> Self {
        let mut catalogue = Robots {
            last_id,
            ..Robots::default()
        };
        for robot in robots {
            let robot = Arc::new(robot);
            catalogue.history.stored(Action::Added, &robot);
            catalogue.put(robot);
        }
        catalogue.history.forget_after(revision);
        let robots = RwLock::new(catalogue);
        Self { robots }
    }

    // No code panics between two dependent changes, so a poisoned lock still guards consistent data.

    fn read(&self) -> RwLockReadGuard<'_, Robots> {
        self.robots.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Robots> {
        self.robots.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Catalogue for MemoryCatalogue {
    // Memory never blocks for long, so the caller's thread does the work.

    fn start(&self, change: Change, by: Option<&str>) -> Pending<Result<Receipt>> {
        Pending::ready(self.write().apply(change, by))
    }

    fn start_get(&self, id: RobotId) -> Pending<Result<Option<Robot>>> {
        let robot = self.read().by_id.get(&id).map(|robot| Robot::clone(robot));
        Pending::ready(Ok(robot))
    }

    fn find(&self, name: &str) -> Result<Option<Robot>> {
        let robots = self.read();
        let robot = robots.named(name).next().map(|robot| Robot::clone(robot));
        Ok(robot)
    }

    fn page(&self, request: PageRequest<'_>) -> Result<Page<Robot>> {
        Ok(self.read().page(request))
    }

    fn definition(&self) -> Arc<Definition> {
        Arc::clone(&self.read().definition)
    }

    fn define(&self, redefinition: Redefinition) -> Result<Arc<Definition>> {
        let mut robots = self.write();
        robots.define(&redefinition)?;
        Ok(Arc::clone(&robots.definition))
    }

    fn commit(&self, changes: Vec<Change>, by: Option<&str>) -> Result<Commit> {
        let mut robots = self.write();
        let (last_id, position) = (robots.last_id, robots.history.position().clone());
        let (mut receipts, mut before) = (Vec::new(), Vec::new());
        for change in changes {
            let robot = change.id().and_then(|id| robots.by_id.get(&id).cloned());
            match robots.apply(change, by) {
                Ok(receipt) => {
                    receipts.push(receipt);
                    before.push((receipt.id, robot));
                }
                Err(error) => {
                    for (id, robot) in before.into_iter().rev() {
                        robots.undo(id, robot);
                    }
                    robots.last_id = last_id;
                    robots.history.forget_after(position.revision());
                    return Err(error);
                }
            }
        }
        let positions = Some((position, robots.history.position().clone()));
        Ok(Commit {
            receipts,
            positions,
        })
    }

    fn restore(&self, restoration: &Restoration) -> Result<()> {
        let mut robots = self.write();
        let revision = robots.history.position().revision();
        for (index, robot) in restoration.robots().iter().enumerate() {
            let mut audit = audit(None, None);
            if let Some(kept) = robot.audit() {
                audit.created_at = kept.created_at.or(audit.created_at);
                audit.updated_at = kept.updated_at.or(audit.updated_at);
                audit.updated_by.clone_from(&kept.updated_by);
            }
            let restored = robots.add(robot.clone().with_audit(audit));
            if let Err(error) = restored {
                robots.history.forget_after(revision);
                for added in &restoration.robots()[..index] {
                    robots.remove(added.id());
                }
                return Err(match error {
                    Error::Rejected(violations) => Restoration::conflict(robot, violations.first()),
                    error => error,
                });
            }
        }
        let last_id = restoration.last_id().map_or(0, RobotId::get);
        robots.last_id = robots.last_id.max(last_id);
        Ok(())
    }

    fn last_id(&self) -> Result<Option<RobotId>> {
        Ok(RobotId::new(self.read().last_id))
    }

    fn position(&self) -> Result<Position> {
        Ok(self.read().history.position().clone())
    }

    fn changes(&self, after: &Position, extent: Extent, limit: usize) -> Result<Changes> {
        self.read().history.changes(after, extent, limit)
    }

    fn prune(&self, keep: Retention) -> Result<u64> {
        Ok(self.write().history.prune(keep))
    }

    fn history(&self, id: RobotId, before: Option<Revision>, limit: usize) -> Result<Vec<Event>> {
        Ok(self.read().history.history(id, before, limit))
    }
}
