//! Cases: methods that do not block the caller. A store may decline them.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{Run, add, assert_found, assert_not_found, assert_rejected, draft, get, ok, valid};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Change},
    conformance::{Case, cases},
    model::{Draft, Robot, RobotId, Violation},
};

/// How long a change whose result is not awaited may take.
const TIMEOUT: Duration = Duration::from_secs(30);

pub(super) const CASES: &[Case<Run>] = cases![
    submitted_changes_take_effect,
    submitted_changes_check_the_rules,
    submitted_get_finds_the_latest_state,
    submitted_change_is_not_cancelled_by_dropping_its_result,
];

/// Submits a change, or applies it if the store declines.
fn submit(catalogue: &dyn Catalogue, change: &Change) -> crate::Result<RobotId> {
    match catalogue.submit(change.clone()) {
        Ok(pending) => pending.wait(),
        Err(declined) => {
            assert_eq!(&declined, change);
            catalogue.apply(declined)
        }
    }
}

/// Reads by `get`, and by `submit_get` unless the store declines.
fn get_both_ways(catalogue: &dyn Catalogue, id: RobotId) -> Option<Robot> {
    let robot = get(catalogue, id);
    if let Some(pending) = catalogue.submit_get(id) {
        assert_eq!(ok(pending.wait()), robot);
    }
    robot
}

fn insert(name: &str) -> Change {
    Change::Insert(valid(draft(name)))
}

fn update(id: RobotId, draft: Draft) -> Change {
    Change::Update(id, valid(draft).into())
}

fn submitted_changes_take_effect(catalogue: &dyn Catalogue) {
    let a = ok(submit(catalogue, &insert("a")));
    let b = ok(submit(catalogue, &insert("b")));
    assert!(b > a, "{b} after {a}");
    assert_found(catalogue, "", &["a", "b"]);
    let changed = Draft::new("z", "virtual", 2001);
    assert_eq!(ok(submit(catalogue, &update(a, changed.clone()))), a);
    assert_eq!(get(catalogue, a).map(Draft::from), Some(changed));
    assert_eq!(ok(submit(catalogue, &Change::Delete(b))), b);
    assert_found(catalogue, "", &["z"]);
    let c = ok(submit(catalogue, &insert("b")));
    assert!(c > b, "{c} after {b}");
}

fn submitted_changes_check_the_rules(catalogue: &dyn Catalogue) {
    let (a, b) = (add(catalogue, "a"), add(catalogue, "b"));
    let gone = add(catalogue, "gone").id();
    ok(catalogue.delete(gone));
    assert_rejected(submit(catalogue, &insert("a")), &[Violation::NAME_TAKEN]);
    let rename = update(b.id(), Draft::new("a", "virtual", 5));
    assert_rejected(submit(catalogue, &rename), &[Violation::NAME_TAKEN]);
    for change in [
        update(gone, draft("c")),
        update(gone, draft("a")),
        Change::Delete(gone),
    ] {
        assert_not_found(submit(catalogue, &change), gone);
    }
    assert_eq!(ok(catalogue.list()), [a, b]);
}

fn submitted_get_finds_the_latest_state(catalogue: &dyn Catalogue) {
    add(catalogue, "other");
    let robot = add(catalogue, "a");
    let id = robot.id();
    assert_eq!(get_both_ways(catalogue, id), Some(robot));
    ok(catalogue.replace(id, Draft::new("b", "virtual", 5)));
    let renamed = get_both_ways(catalogue, id);
    assert_eq!(renamed.as_ref().map(Robot::name), Some("b"));
    ok(catalogue.delete(id));
    assert_eq!(get_both_ways(catalogue, id), None);
}

fn submitted_change_is_not_cancelled_by_dropping_its_result(catalogue: &dyn Catalogue) {
    match catalogue.submit(insert("a")) {
        Ok(pending) => drop(pending),
        Err(declined) => drop(ok(catalogue.apply(declined))),
    }
    let started = Instant::now();
    while ok(catalogue.find("a")).is_none() {
        assert!(started.elapsed() < TIMEOUT, "the robot is not there");
        thread::sleep(Duration::from_millis(1));
    }
}
