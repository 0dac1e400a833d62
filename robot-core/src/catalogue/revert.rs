//! Undoing changes: the values of an earlier version become a new change, under the rules of today.

use std::{cmp::Reverse, collections::BTreeSet};

use compact_str::CompactString;
use serde::Deserialize;

use super::{
    change::{Change, Commit, Receipt},
    error::{Error, REVERT_LIMIT, Result},
    history::{Event, Position},
    store::Catalogue,
};
use crate::model::{
    Definition, Draft, Rejection, Revision, Robot, RobotId, ValidChanges, ValidDraft, Violations,
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
    /// The robots that were left alone, because other changes have followed.
    pub left: Vec<RobotId>,
    /// The positions before and after the change, by which it is undone itself; `None` if nothing was stored.
    pub positions: Option<(Position, Position)>,
}

/// The last changes of a robot, and its state before them.
struct Recent {
    /// After a position, the latest first.
    events: Vec<Event>,
    /// At the position; `None` if it did not exist.
    before: Option<Robot>,
}

/// Reads the changes of a robot after a position.
fn recent<C: Catalogue + ?Sized>(catalogue: &C, id: RobotId, after: &Position) -> Result<Recent> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let before = events.last().map(|event| event.revision);
        let page = catalogue.history(id, before, PAGE)?;
        let is_last = page.len() < PAGE;
        for event in page {
            if !after.precedes(event.revision) {
                let before = event.robot;
                return Ok(Recent { events, before });
            }
            events.push(event);
        }
        if is_last {
            let before = None;
            return Ok(Recent { events, before });
        }
    }
}

/// Finds all rules that a rejected robot violates.
pub(super) trait Explain: Fn(Rejection, Option<RobotId>) -> Result<Violations> {}

impl<F: Fn(Rejection, Option<RobotId>) -> Result<Violations>> Explain for F {}

/// Undoes changes.
pub(super) fn revert<C: Catalogue + ?Sized>(
    catalogue: &C,
    revert: &Revert,
    explain: impl Explain,
) -> Result<Reverted> {
    // It may be of another catalogue.
    catalogue.changes(&revert.until, 1)?;
    let (mut robots, mut next) = (BTreeSet::new(), revert.after.clone());
    loop {
        let changes = catalogue.changes(&next, PAGE)?;
        robots.extend(changes.events.iter().map(|event| event.id));
        if changes.is_last {
            break;
        }
        next = changes.next;
    }
    let definition = catalogue.definition();
    let (mut changes, mut ids, mut left) = (Vec::new(), Vec::new(), Vec::new());
    let mut problems = Vec::new();
    for id in robots {
        let Recent { events, before } = recent(catalogue, id, &revert.after)?;
        if !events.iter().any(|event| revert.has(event)) {
            continue;
        }
        if !events.iter().all(|event| revert.has(event)) {
            left.push(id);
            continue;
        }
        let now = events.into_iter().next().and_then(|event| event.robot);
        match state(&explain, &definition, id, now.as_ref(), before.as_ref())? {
            Ok(None) => {}
            Ok(Some(change)) => {
                changes.push(change);
                ids.push(id);
            }
            Err(violations) => problems.push((id, violations)),
        }
        if changes.len() + problems.len() > REVERT_LIMIT {
            return Err(Error::TooManyChanges);
        }
    }
    if !problems.is_empty() {
        return Err(Error::NotReverted(problems));
    }
    // Names that are released can be taken: the last change is undone first.
    changes.sort_by_key(|change| {
        let kind = match change {
            Change::Delete(..) => 0,
            Change::Update(..) => 1,
            _ => 2,
        };
        (kind, Reverse(change.expected()))
    });
    // If the versions at the position were removed meanwhile, robots seem not to have existed.
    catalogue.changes(&revert.after, 1)?;
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

/// Gives a robot the values of one of its versions, and returns the receipt.
pub(super) fn revert_to<C: Catalogue + ?Sized>(
    catalogue: &C,
    id: RobotId,
    revision: Revision,
    explain: impl Explain,
) -> Result<Receipt> {
    let latest = catalogue.history(id, None, 1)?;
    let now = latest.into_iter().next().ok_or(Error::NotFound(id))?.robot;
    let then = catalogue.history(id, Some(revision.next()), 1)?;
    let then = then.into_iter().next();
    let then = then.filter(|event| event.revision == revision);
    let then = then.and_then(|event| event.robot);
    let then = then.ok_or(Error::NoSuchVersion { id, revision })?;
    let definition = catalogue.definition();
    match state(&explain, &definition, id, now.as_ref(), Some(&then))? {
        Ok(Some(change)) => catalogue.start(change, None).wait(),
        Ok(None) => Ok(Receipt {
            id,
            revision: now.map(|robot| robot.revision()),
        }),
        Err(violations) => Err(violations.into()),
    }
}

/// The change by which a robot has an earlier state again; `None` if it has it. The inner error is the rules that it
/// violates.
fn state(
    explain: &impl Explain,
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
