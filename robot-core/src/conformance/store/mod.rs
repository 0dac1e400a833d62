//! Cases for stores: the contract of [`Catalogue`]. Each starts with an empty catalogue.

mod changes;
mod changes_together;
mod conditions;
mod definitions;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod faulty_store;
mod folded;
mod history;
mod linearizability;
mod lists;
mod names;
pub(super) mod own_fields;
mod races;
pub(super) mod reopening;
mod restoring;
mod revisions;

use std::collections::HashMap;

use super::Case;
use crate::{
    catalogue::{Catalogue, CatalogueExt, Change, Error, Restoration},
    model::{Draft, Revision, Robot, RobotId, ValidChanges, ValidDraft, Violation},
};

/// Runs a case.
pub(super) type Run = fn(&dyn Catalogue);

/// Every case.
pub(super) fn cases() -> impl Iterator<Item = Case<Run>> {
    [
        changes::CASES,
        changes_together::CASES,
        names::CASES,
        lists::CASES,
        folded::CASES,
        races::CASES,
        restoring::CASES,
        revisions::CASES,
        history::CASES,
        history::OF_DEFINITIONS,
        linearizability::CASES,
        own_fields::CASES,
        conditions::CASES,
        definitions::CASES,
    ]
    .concat()
    .into_iter()
}

/// Whether a case needs a store whose definition can be changed.
pub(super) fn needs_definitions(case: &str) -> bool {
    let cases = own_fields::CASES.iter().chain(definitions::CASES);
    let cases = cases.chain(history::OF_DEFINITIONS);
    let mut cases = cases.chain(conditions::CASES);
    cases.any(|(name, _)| *name == case)
}

fn draft(name: &str) -> Draft {
    Draft::new(name, "droid", 1977)
}

fn valid(draft: Draft) -> ValidDraft {
    ValidDraft::new(draft).unwrap_or_else(|rejection| panic!("{rejection}"))
}

fn insert(name: &str) -> Change {
    Change::Insert(valid(draft(name)))
}

/// A draft without the other members.
fn named(name: &str) -> Draft {
    Draft {
        name: Some(name.into()),
        ..Draft::default()
    }
}

/// Changes of the year.
fn year(year: i64) -> ValidChanges {
    let draft = Draft {
        year: Some(year),
        ..Draft::default()
    };
    ValidChanges::new(draft).unwrap_or_else(|rejection| panic!("{rejection}"))
}

fn add(catalogue: &dyn Catalogue, name: &str) -> Robot {
    catalogue
        .add(draft(name))
        .unwrap_or_else(|error| panic!("{name:?}: {error:?}"))
}

fn add_all(catalogue: &dyn Catalogue, names: impl IntoIterator<Item = impl AsRef<str>>) {
    for name in names {
        add(catalogue, name.as_ref());
    }
}

/// The value of a result that must be `Ok`.
fn ok<T>(result: crate::Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("{error:?}"))
}

fn get(catalogue: &dyn Catalogue, id: RobotId) -> Option<Robot> {
    ok(catalogue.get(id))
}

fn id(number: i64) -> RobotId {
    RobotId::new(number).unwrap_or_else(|| panic!("{number} is positive"))
}

fn revision(number: i64) -> Revision {
    Revision::new(number).unwrap_or_else(|| panic!("{number} is positive"))
}

fn robot(number: i64, name: &str) -> Robot {
    valid(draft(name)).with_id(id(number))
}

fn restore(
    catalogue: &dyn Catalogue,
    robots: &[Robot],
    last_id: Option<RobotId>,
) -> crate::Result<()> {
    catalogue.restore(&Restoration::new(robots.iter().cloned(), last_id)?)
}

/// Restored robots with their revisions: the next ones after this number, in the order of the ids.
fn numbered(robots: &[Robot], last: i64) -> Vec<Robot> {
    let mut ids: Vec<_> = robots.iter().map(Robot::id).collect();
    ids.sort_unstable();
    let revisions: HashMap<_, _> = ids.into_iter().zip(last + 1..).collect();
    let numbered = |robot: &Robot| {
        robot
            .clone()
            .with_revision(revision(revisions[&robot.id()]))
    };
    robots.iter().map(numbered).collect()
}

fn names(robots: &[Robot]) -> Vec<&str> {
    robots.iter().map(Robot::name).collect()
}

/// Asserts that a search finds exactly these names, in this order.
#[track_caller]
fn assert_found(catalogue: &dyn Catalogue, containing: &str, expected: &[&str]) {
    let found = ok(catalogue.search(containing));
    assert_eq!(names(&found), expected, "search for {containing:?}");
}

/// The message for a type that is none.
const NOT_A_CHOICE: &str = "Value of field 'type' must be part of list: droid, mechanical, virtual";

/// Asserts that a result is a rejection with exactly these violations.
#[track_caller]
fn assert_rejected<T: std::fmt::Debug>(result: crate::Result<T>, expected: &[Violation]) {
    match result {
        Err(Error::Rejected(violations)) => {
            assert!(violations.iter().eq(expected), "{violations}");
        }
        other => panic!("expected {expected:?}, got {other:?}"),
    }
}

#[track_caller]
fn assert_not_found<T: std::fmt::Debug>(result: crate::Result<T>, id: RobotId) {
    match result {
        Err(Error::NotFound(missing)) if missing == id => {}
        other => panic!("expected that {id} is not found, got {other:?}"),
    }
}
