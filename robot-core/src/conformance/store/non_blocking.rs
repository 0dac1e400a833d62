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

fn insert(name: &str) -> Change {
    Change::Insert(valid(draft(name)))
}

fn update(id: RobotId, draft: Draft) -> Change {
    Change::Update(id, valid(draft).into())
}

fn submitted_changes_take_effect(catalogue: &dyn Catalogue) {
    let a = ok(catalogue.apply(insert("a")));
    let b = ok(catalogue.apply(insert("b")));
    assert!(b > a, "{b} after {a}");
    assert_found(catalogue, "", &["a", "b"]);
    let changed = Draft::new("z", "virtual", 2001);
    assert_eq!(ok(catalogue.apply(update(a, changed.clone()))), a);
    assert_eq!(get(catalogue, a).map(Draft::from), Some(changed));
    assert_eq!(ok(catalogue.apply(Change::Delete(b))), b);
    assert_found(catalogue, "", &["z"]);
    let c = ok(catalogue.apply(insert("b")));
    assert!(c > b, "{c} after {b}");
}

fn submitted_changes_check_the_rules(catalogue: &dyn Catalogue) {
    let (a, b) = (add(catalogue, "a"), add(catalogue, "b"));
    let gone = add(catalogue, "gone").id();
    ok(catalogue.delete(gone));
    assert_rejected(catalogue.apply(insert("a")), &[Violation::NAME_TAKEN]);
    let rename = update(b.id(), Draft::new("a", "virtual", 5));
    assert_rejected(catalogue.apply(rename), &[Violation::NAME_TAKEN]);
    for change in [
        update(gone, draft("c")),
        update(gone, draft("a")),
        Change::Delete(gone),
    ] {
        assert_not_found(catalogue.apply(change), gone);
    }
    assert_eq!(ok(catalogue.list()), [a, b]);
}

fn submitted_get_finds_the_latest_state(catalogue: &dyn Catalogue) {
    add(catalogue, "other");
    let robot = add(catalogue, "a");
    let id = robot.id();
    assert_eq!(get(catalogue, id), Some(robot));
    ok(catalogue.replace(id, Draft::new("b", "virtual", 5)));
    let renamed = get(catalogue, id);
    assert_eq!(renamed.as_ref().map(Robot::name), Some("b"));
    ok(catalogue.delete(id));
    assert_eq!(get(catalogue, id), None);
}

fn submitted_change_is_not_cancelled_by_dropping_its_result(catalogue: &dyn Catalogue) {
    let pending = catalogue.start(insert("a"));
    if pending.is_unstarted() {
        ok(pending.wait());
    } else {
        drop(pending);
    }
    let started = Instant::now();
    while ok(catalogue.find("a")).is_none() {
        assert!(started.elapsed() < TIMEOUT, "the robot is not there");
        thread::sleep(Duration::from_millis(1));
    }
}
