//! Undoing changes: the values of an earlier version become a new change, under the rules of today.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
};

use compact_str::CompactString;
use serde::Deserialize;

use super::{
    change::{Change, Commit},
    error::{Error, REVERT_LIMIT, Result},
    history::{Event, Extent, Position},
    store::Catalogue,
};
use crate::model::{
    Definition, Draft, Field, Rejection, Revision, Robot, RobotId, ValidChanges, ValidDraft,
    Violations,
};

/// The number of changes that are read together.
const PAGE: usize = 200;

/// Which changes are undone.
///
/// ```
/// use robot_core::{Catalogue, CatalogueExt, Draft, MemoryCatalogue, Revert};
///
/// let catalogue = MemoryCatalogue::new();
/// let id = catalogue.add(Draft::new("R2-D2", "droid", 1977))?.id();
/// let before = catalogue.position()?;
/// catalogue.delete(id)?;
/// let reverted = catalogue.revert(&Revert::new(before, catalogue.position()?))?;
/// assert_eq!((reverted.ids, reverted.left), (vec![id], Vec::new()));
/// assert!(catalogue.get(id)?.is_some());
/// # Ok::<(), robot_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revert {
    /// The changes after this position,
    pub after: Position,
    /// up to this one,
    pub until: Position,
    /// by this author.
    pub by: By,
    /// Whether nothing is stored.
    pub is_dry_run: bool,
}

/// The author of changes that are undone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Option<CompactString>")]
pub enum By {
    /// Any, or none.
    #[default]
    Anyone,
    /// This one; `None` for other programs.
    Only(Option<CompactString>),
}

impl From<Option<CompactString>> for By {
    fn from(author: Option<CompactString>) -> Self {
        Self::Only(author)
    }
}

impl Revert {
    /// All changes between two positions.
    #[must_use]
    pub const fn new(after: Position, until: Position) -> Self {
        Self {
            after,
            until,
            by: By::Anyone,
            is_dry_run: false,
        }
    }

    /// Whether it undoes a change.
    fn has(&self, event: &Event) -> bool {
        let is_between =
            self.after.precedes(event.revision) && !self.until.precedes(event.revision);
        is_between && (self.by == By::Anyone || self.by == By::Only(event.by.clone()))
    }
}

/// What was undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reverted {
    /// The robots that have their earlier state again.
    pub ids: Vec<RobotId>,
    /// The robots that were left alone, because other changes have followed, and were not undone.
    pub left: Vec<RobotId>,
    /// The positions before and after the change, by which it is undone itself; `None` if nothing was stored.
    pub positions: Option<(Position, Position)>,
}

/// What an undoing means for a robot.
enum Found {
    /// No change of the robot is undone.
    Nothing,
    /// Other changes have followed.
    Left,
    /// Its present state, and the one that it gets; `None` if it does not exist.
    States(Box<[Option<Robot>; 2]>),
}

/// Reads the changes of a robot after the position, the latest first, as far as they decide.
fn find<C: Catalogue + ?Sized>(catalogue: &C, id: RobotId, revert: &Revert) -> Result<Found> {
    let (mut now, mut last) = (None, None);
    let (mut has_undone, mut has_others) = (false, false);
    let before = 'all: loop {
        let page = catalogue.history(id, last, PAGE)?;
        let is_end = page.len() < PAGE;
        for event in page {
            if !revert.after.precedes(event.revision) {
                break 'all event.robot;
            }
            let is_undone = revert.has(&event);
            // Changes that were undone since are none.
            let is_same =
                is_undone && !has_undone && has_values(event.robot.as_ref(), now.as_ref());
            has_others &= !is_same;
            has_undone |= is_undone;
            has_others |= !is_undone;
            if has_undone && has_others {
                return Ok(Found::Left);
            }
            if last.is_none() {
                now = event.robot;
            }
            last = Some(event.revision);
        }
        if is_end {
            break None;
        }
    };
    Ok(if has_undone {
        Found::States(Box::new([now, before]))
    } else {
        Found::Nothing
    })
}

/// Whether two versions of a robot have the same values, or neither exists.
fn has_values(one: Option<&Robot>, other: Option<&Robot>) -> bool {
    one.map(Robot::values) == other.map(Robot::values)
}

/// Finds all rules that a rejected robot violates.
type Explain<'a> = &'a dyn Fn(Rejection, Option<RobotId>) -> Result<Violations>;

/// Undoes changes.
pub(super) fn revert<C: Catalogue + ?Sized>(
    catalogue: &C,
    revert: &Revert,
    explain: Explain<'_>,
) -> Result<Reverted> {
    // It may be of another catalogue.
    catalogue.changes(&revert.until, Extent::Latest, 1)?;
    let (mut robots, mut next) = (BTreeSet::new(), revert.after.clone());
    loop {
        let changes = catalogue.changes(&next, Extent::Latest, PAGE)?;
        robots.extend(changes.events.iter().map(|event| event.id));
        if changes.is_last {
            break;
        }
        next = changes.next;
    }
    let definition = catalogue.definition();
    let (mut undone, mut ids, mut left) = (Vec::new(), Vec::new(), Vec::new());
    let mut problems = Vec::new();
    for id in robots {
        let [now, before] = match find(catalogue, id, revert)? {
            Found::Nothing => continue,
            Found::Left => {
                left.push(id);
                continue;
            }
            Found::States(states) => *states,
        };
        match state(explain, &definition, id, now.as_ref(), before.as_ref())? {
            Ok(None) => {}
            Ok(Some(change)) => {
                undone.push((change, [now, before]));
                ids.push(id);
            }
            Err(violations) => problems.push((id, violations)),
        }
        if undone.len() + problems.len() > REVERT_LIMIT {
            return Err(Error::TooManyChanges);
        }
    }
    if !problems.is_empty() {
        return Err(Error::NotReverted(problems));
    }
    let changes = in_order(&definition, undone);
    // If the versions at the position were removed meanwhile, robots seem not to have existed.
    catalogue.changes(&revert.after, Extent::Latest, 1)?;
    let positions = if revert.is_dry_run || changes.is_empty() {
        None
    } else {
        let Commit { positions, .. } = catalogue.commit(changes, None)?;
        positions
    };
    Ok(Reverted {
        ids,
        left,
        positions,
    })
}

/// Orders changes so that each unique value is free when a robot takes it. The last change is undone first. If another robot
/// releases the value only later, the robot is deleted first and added again at the end: two robots may have exchanged
/// their names.
fn in_order(definition: &Definition, mut undone: Vec<(Change, [Option<Robot>; 2])>) -> Vec<Change> {
    undone.sort_by_key(|(change, _)| Reverse(change.expected()));
    let (mut holders, mut changes) = (HashMap::new(), Vec::new());
    for (change, [now, _]) in &undone {
        let (Change::Update(..), Some(now)) = (change, now) else {
            continue;
        };
        for field in definition.unique() {
            let value = now.value_of(field).map(|value| value.to_string());
            holders.extend(value.map(|value| ((field.name(), value), now.revision())));
        }
    }
    for (change, [_, then]) in undone {
        let follows = |field: &Field| {
            let value = change.value(field).map(|value| value.to_string());
            let holder = value.and_then(|value| holders.get(&(field.name(), value)));
            holder.is_some_and(|holder| Some(*holder) < change.expected())
        };
        let draft = match (&change, then) {
            (Change::Update(..), Some(then)) if definition.unique().any(follows) => {
                definition.validate(values(definition, &then)).ok()
            }
            _ => None,
        };
        match (draft, change.id()) {
            (Some(draft), Some(id)) => changes.extend([
                Change::Delete(id, change.expected()),
                Change::Undelete(id, draft),
            ]),
            _ => changes.push(change),
        }
    }
    changes.sort_by_key(|change| match change {
        Change::Delete(..) => 0,
        Change::Update(..) => 1,
        _ => 2,
    });
    changes
}

/// Gives a robot the values of one of its versions, and returns it.
pub(super) fn revert_to<C: Catalogue + ?Sized>(
    catalogue: &C,
    id: RobotId,
    revision: Revision,
    expected: Option<Revision>,
    explain: Explain<'_>,
) -> Result<Robot> {
    let latest = catalogue.history(id, None, 1)?;
    let now = latest.into_iter().next().ok_or(Error::NotFound(id))?.robot;
    if expected.is_some() && expected != now.as_ref().map(Robot::revision) {
        return Err(Error::Stale(id));
    }
    let then = catalogue.history(id, Some(revision.next()), 1)?;
    let then = then.into_iter().next();
    let then = then.filter(|event| event.revision == revision);
    let then = then.and_then(|event| event.robot);
    let then = then.ok_or(Error::NoSuchVersion { id, revision })?;
    let definition = catalogue.definition();
    let change = state(explain, &definition, id, now.as_ref(), Some(&then))?;
    let store = |change| catalogue.start(change, None).wait();
    Ok(match (change.map_err(Error::from)?, now) {
        (Some(Change::Update(id, expected, changes)), Some(now)) => {
            let receipt = store(Change::Update(id, expected, changes.clone()))?;
            receipt.changed_robot(changes, &now)
        }
        (Some(change), _) => {
            store(change)?;
            catalogue.start_get(id).wait()?.ok_or(Error::NotFound(id))?
        }
        (None, now) => now.unwrap_or(then),
    })
}

/// The change by which a robot has an earlier state again; `None` if it has it. The inner error is the rules that it
/// violates.
fn state(
    explain: Explain<'_>,
    definition: &Definition,
    id: RobotId,
    now: Option<&Robot>,
    then: Option<&Robot>,
) -> Result<Result<Option<Change>, Violations>> {
    let checked = match (now, then) {
        (None, None) => return Ok(Ok(None)),
        (Some(now), None) => return Ok(Ok(Some(Change::Delete(id, Some(now.revision()))))),
        (None, Some(then)) => {
            let checked = definition.validate(values(definition, then));
            checked.map(|draft: ValidDraft| Some(Change::Undelete(id, draft)))
        }
        (Some(now), Some(then)) => {
            let update = |changes| Change::Update(id, Some(now.revision()), changes);
            differences(definition, now, then).map(|changes| changes.map(update))
        }
    };
    match checked {
        Ok(change) => Ok(Ok(change)),
        Err(rejection) => Ok(Err(explain(rejection, now.map(Robot::id))?)),
    }
}

/// The values of a version for the fields of a definition, converted to their kinds if that is possible.
fn values(definition: &Definition, version: &Robot) -> Draft {
    let mut draft = Draft::default();
    for field in definition.settable() {
        let Some(value) = version.value(field.name()) else {
            continue;
        };
        let converted = version
            .value_of(field)
            .is_none()
            .then(|| field.convert(&value));
        draft.set(
            field,
            converted.flatten().unwrap_or_else(|| value.into_owned()),
        );
    }
    draft
}

/// The changes that give a robot the values of a version; `None` if there are none.
fn differences(
    definition: &Definition,
    now: &Robot,
    then: &Robot,
) -> Result<Option<ValidChanges>, Rejection> {
    let fields = definition.settable().iter();
    let removed = fields.filter(|field| then.value(field.name()).is_none());
    let removed: Vec<_> = removed.cloned().collect();
    let changes = definition.validate_change(now, values(definition, then), &removed)?;
    Ok((!changes.is_empty()).then_some(changes))
}
