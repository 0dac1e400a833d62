//! Cases: revisions, and changes that expect one.

use super::{
    NOT_A_CHOICE, Run, add, assert_not_found, assert_rejected, draft, get, id, ok, restore,
    revision, robot, valid, year,
};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Change, Error},
    conformance::{Case, cases},
    model::{Draft, Revision, RobotId, ValidChanges, Violation},
};

pub(super) const CASES: &[Case<Run>] = cases![
    every_change_gets_the_next_revision,
    rejected_changes_keep_the_revision,
    restored_robots_get_the_next_revisions,
    stale_update_changes_nothing,
    stale_delete_changes_nothing,
    stale_revision_takes_precedence_over_the_rules,
    conditional_change_of_missing_robot_is_not_found,
];

fn update_if(
    catalogue: &dyn Catalogue,
    id: RobotId,
    revision: Revision,
    changes: ValidChanges,
) -> crate::Result<()> {
    let change = Change::Update(id, Some(revision), changes);
    catalogue.apply(change).map(drop)
}

fn delete_if(catalogue: &dyn Catalogue, id: RobotId, revision: Revision) -> crate::Result<()> {
    let change = Change::Delete(id, Some(revision));
    catalogue.apply(change).map(drop)
}

#[track_caller]
fn assert_stale<T: std::fmt::Debug>(result: crate::Result<T>, id: RobotId) {
    match result {
        Err(Error::Stale(stale)) if stale == id => {}
        other => panic!("expected that {id} is stale, got {other:?}"),
    }
}

/// Asserts the revision of a robot, however it is read.
#[track_caller]
fn assert_revision(catalogue: &dyn Catalogue, id: RobotId, expected: i64) {
    let robot = get(catalogue, id).unwrap_or_else(|| panic!("{id} is missing"));
    assert_eq!(robot.revision().get(), expected);
    assert_eq!(ok(catalogue.find(robot.name())), Some(robot.clone()));
    assert!(ok(catalogue.list()).contains(&robot));
}

fn every_change_gets_the_next_revision(catalogue: &dyn Catalogue) {
    let (robot, other) = (add(catalogue, "R2-D2"), add(catalogue, "C-3PO"));
    assert_eq!(robot.revision(), Revision::FIRST);
    assert_revision(catalogue, robot.id(), 1);
    ok(catalogue.replace(robot.id(), draft("HAL")));
    assert_revision(catalogue, robot.id(), 3);
    ok(catalogue.update(robot.id(), year(2001)));
    assert_revision(catalogue, robot.id(), 4);
    // The values are the same.
    ok(update_if(catalogue, robot.id(), revision(4), year(2001)));
    assert_revision(catalogue, robot.id(), 5);
    assert_revision(catalogue, other.id(), 2);
    ok(catalogue.delete(other.id()));
    assert_eq!(add(catalogue, "C-3PO").revision().get(), 7);
}

fn rejected_changes_keep_the_revision(catalogue: &dyn Catalogue) {
    let (robot, _) = (add(catalogue, "R2-D2"), add(catalogue, "C-3PO"));
    let (id, taken) = (robot.id(), valid(draft("C-3PO")));
    let rejected = catalogue.update(id, taken.clone().into());
    assert_rejected(rejected, &[Violation::NAME_TAKEN]);
    let rejected = update_if(catalogue, id, revision(1), taken.into());
    assert_rejected(rejected, &[Violation::NAME_TAKEN]);
    assert_stale(update_if(catalogue, id, revision(2), year(5)), id);
    assert_revision(catalogue, id, 1);
    assert_eq!(add(catalogue, "HAL").revision().get(), 3);
}

fn restored_robots_get_the_next_revisions(catalogue: &dyn Catalogue) {
    let other = add(catalogue, "other");
    let robots = [(8, "b"), (7, "a")].map(|(number, name)| robot(number, name));
    ok(restore(catalogue, &robots, None));
    assert_revision(catalogue, id(7), 2);
    assert_revision(catalogue, id(8), 3);
    assert!(restore(catalogue, &[robot(9, "c"), robot(10, "a")], None).is_err());
    ok(update_if(catalogue, id(7), revision(2), year(5)));
    assert_revision(catalogue, id(7), 4);
    assert_revision(catalogue, other.id(), 1);
}

fn stale_update_changes_nothing(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    let id = robot.id();
    assert_stale(update_if(catalogue, id, revision(2), year(5)), id);
    assert_eq!(get(catalogue, id), Some(robot));
    ok(update_if(catalogue, id, revision(1), year(5)));
    assert_stale(update_if(catalogue, id, revision(1), year(6)), id);
    let found = get(catalogue, id).map(|robot| (robot.year(), robot.revision()));
    assert_eq!(found, Some((Some(5), revision(2))));
}

fn stale_delete_changes_nothing(catalogue: &dyn Catalogue) {
    let id = add(catalogue, "R2-D2").id();
    ok(catalogue.update(id, year(5)));
    for number in [1, 3, i64::MAX] {
        assert_stale(delete_if(catalogue, id, revision(number)), id);
    }
    assert_revision(catalogue, id, 2);
    ok(delete_if(catalogue, id, revision(2)));
    assert_eq!(get(catalogue, id), None);
}

fn stale_revision_takes_precedence_over_the_rules(catalogue: &dyn Catalogue) {
    let (robot, _) = (add(catalogue, "a"), add(catalogue, "b"));
    let id = robot.id();
    let taken = valid(draft("b"));
    assert_stale(update_if(catalogue, id, revision(2), taken.into()), id);
    let wrong = Draft::new("b", "toaster", -1);
    assert_stale(catalogue.patch_if(id, revision(2), wrong.clone()), id);
    assert_rejected(
        catalogue.patch_if(id, revision(1), wrong),
        &[
            Violation::new("type", NOT_A_CHOICE),
            Violation::NAME_TAKEN,
            Violation::new("year", "The year cannot be less than zero"),
        ],
    );
}

fn conditional_change_of_missing_robot_is_not_found(catalogue: &dyn Catalogue) {
    let gone = add(catalogue, "a").id();
    let other = add(catalogue, "b");
    ok(catalogue.delete(gone));
    for number in [1, 2] {
        assert_not_found(delete_if(catalogue, gone, revision(number)), gone);
        for changes in [year(5), valid(draft("b")).into()] {
            let updated = update_if(catalogue, gone, revision(number), changes);
            assert_not_found(updated, gone);
        }
    }
    assert_eq!(ok(catalogue.list()), [other]);
}
