//! Cases: a catalogue that is closed and opened again.

use std::collections::HashSet;

use super::{
    add, add_all, assert_found, assert_rejected, draft, get, id, numbered, ok,
    own_fields::{OWN, add_each, assert_messages, define, parse, with},
    restore, revision, robot, valid,
};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Change},
    conformance::{
        Case, can_define, cases,
        opening::{Open, Retention},
    },
    model::{Draft, Field, Violation},
};

/// Runs a case.
pub(in crate::conformance) type Run = fn(&Open);

/// The cases of a store of this kind.
pub(in crate::conformance) fn cases(retention: Retention) -> &'static [Case<Run>] {
    match retention {
        Retention::Persistent => PERSISTENT,
        Retention::Volatile => VOLATILE,
    }
}

const PERSISTENT: &[Case<Run>] = cases![
    empty_catalogue_is_still_empty_when_reopened,
    robots_are_kept_when_reopened,
    changes_and_deletes_are_kept_when_reopened,
    restored_robots_are_kept_when_reopened,
    changes_applied_together_are_kept_when_reopened,
    ids_are_never_reused_when_reopened,
    names_are_still_unique_when_reopened,
    search_finds_kept_robots_when_reopened,
    refused_changes_are_not_kept_when_reopened,
    definition_and_values_are_kept_when_reopened,
];

const VOLATILE: &[Case<Run>] = cases![volatile_catalogue_is_empty_when_reopened];

/// Closes a catalogue and opens it again.
fn reopened(open: &Open, catalogue: Box<dyn Catalogue>) -> Box<dyn Catalogue> {
    drop(catalogue);
    open()
}

fn empty_catalogue_is_still_empty_when_reopened(open: &Open) {
    let mut catalogue = open();
    for _ in 0..2 {
        assert_found(&catalogue, "", &[]);
        assert_eq!(ok(catalogue.last_id()), None);
        catalogue = reopened(open, catalogue);
    }
    add(&catalogue, "R2-D2");
}

fn robots_are_kept_when_reopened(open: &Open) {
    let mut catalogue = open();
    let mut robots = Vec::new();
    // Not in the order of their names, and some before and some after it is reopened.
    for name in [
        "b", "🤖", "a", "\n", "é", "e\u{301}", "B", "x ", "x", "'; --",
    ] {
        for (robot_type, year) in Field::TYPE.choices().iter().zip([0, 1977, i64::MAX]) {
            let draft = Draft::new(format!("{name}{year}"), &**robot_type, year);
            robots.push(ok(catalogue.add(draft)));
        }
        catalogue = reopened(open, catalogue);
    }
    for robot in &robots {
        assert_eq!(get(&catalogue, robot.id()).as_ref(), Some(robot));
        assert_eq!(ok(catalogue.find(robot.name())).as_ref(), Some(robot));
    }
    robots.sort_by(|one, other| one.name().cmp(other.name()));
    assert_eq!(ok(catalogue.list()), robots);
}

fn changes_and_deletes_are_kept_when_reopened(open: &Open) {
    let catalogue = open();
    let [a, b, c] = ["a", "b", "c"].map(|name| add(&catalogue, name));
    let catalogue = reopened(open, catalogue);
    // One at a time, because saving a change may save the one before it.
    ok(catalogue.replace(a.id(), Draft::new("z", "virtual", 2001)));
    let catalogue = reopened(open, catalogue);
    ok(catalogue.delete(b.id()));
    let catalogue = reopened(open, catalogue);
    let changed = valid(Draft::new("z", "virtual", 2001)).with_id(a.id());
    let changed = changed.with_revision(revision(4));
    assert_eq!(ok(catalogue.list()), [c, changed.clone()]);
    assert_eq!(get(&catalogue, a.id()), Some(changed));
    assert_eq!(get(&catalogue, b.id()), None);
    for name in ["a", "b"] {
        assert_eq!(ok(catalogue.find(name)), None);
    }
    // The deletion has taken a number.
    assert_eq!(add(&catalogue, "d").revision().get(), 6);
}

fn restored_robots_are_kept_when_reopened(open: &Open) {
    let catalogue = open();
    let robots = [robot(70, "a"), robot(3, "b"), robot(1_000_000_007, "c")];
    ok(restore(&catalogue, &robots, None));
    let catalogue = reopened(open, catalogue);
    assert_eq!(ok(catalogue.list()), numbered(&robots, 0));
    assert!(add(&catalogue, "d").id() > id(1_000_000_007));
}

fn changes_applied_together_are_kept_when_reopened(open: &Open) {
    let catalogue = open();
    let insert = |name| Change::Insert(valid(draft(name)));
    ok(catalogue.apply_all(vec![insert("a"), insert("b")]));
    let catalogue = reopened(open, catalogue);
    assert_found(&catalogue, "", &["a", "b"]);
}

fn ids_are_never_reused_when_reopened(open: &Open) {
    let mut catalogue = open();
    let mut used = HashSet::new();
    for round in 0..6 {
        add(&catalogue, &format!("kept {round}"));
        let newest = add(&catalogue, "deleted").id();
        ok(catalogue.delete(newest));
        if round == 3 {
            // The only trace of an id is that it must not be used again.
            ok(restore(&catalogue, &[], Some(id(1000))));
        }
        let last_id = ok(catalogue.last_id());
        catalogue = reopened(open, catalogue);
        assert_eq!(ok(catalogue.last_id()), last_id);
        let next = add(&catalogue, "next").id();
        assert!(Some(next) > last_id, "{next} after {last_id:?}");
        assert!(used.insert(next), "{next} was reused");
        // Without any robot, too.
        for robot in ok(catalogue.list()) {
            ok(catalogue.delete(robot.id()));
        }
        catalogue = reopened(open, catalogue);
        assert_eq!(ok(catalogue.last_id()), Some(next));
    }
}

fn names_are_still_unique_when_reopened(open: &Open) {
    let catalogue = open();
    let taken = add(&catalogue, "taken");
    let [renamed, deleted] = ["renamed", "deleted"].map(|name| add(&catalogue, name).id());
    ok(catalogue.replace(renamed, draft("other")));
    ok(catalogue.delete(deleted));
    let catalogue = reopened(open, catalogue);
    let is_taken = [Violation::NAME_TAKEN];
    assert_rejected(catalogue.insert(valid(draft("taken"))), &is_taken);
    assert_rejected(catalogue.replace(renamed, draft("taken")), &is_taken);
    assert!(restore(&catalogue, &[robot(1000, "taken")], None).is_err());
    assert!(restore(&catalogue, &[robot(taken.id().get(), "free")], None).is_err());
    assert_found(&catalogue, "", &["other", "taken"]);
    add_all(&catalogue, ["renamed", "deleted"]);
    assert_found(&catalogue, "", &["deleted", "other", "renamed", "taken"]);
}

fn search_finds_kept_robots_when_reopened(open: &Open) {
    let catalogue = open();
    add_all(&catalogue, ["R2-D2", "x2-D2x", "C-3PO"]);
    let [renamed, deleted] = ["was 2-D2", "gone 2-D2"].map(|name| add(&catalogue, name).id());
    let catalogue = reopened(open, catalogue);
    ok(catalogue.replace(renamed, draft("is 3PO")));
    ok(catalogue.delete(deleted));
    let catalogue = reopened(open, catalogue);
    for (part, found) in [
        ("2-D2", &["R2-D2", "x2-D2x"][..]),
        ("-", &["C-3PO", "R2-D2", "x2-D2x"]),
        ("3PO", &["C-3PO", "is 3PO"]),
        ("was", &[]),
        ("gone", &[]),
    ] {
        assert_found(&catalogue, part, found);
    }
}

fn refused_changes_are_not_kept_when_reopened(open: &Open) {
    let catalogue = open();
    let robots = [add(&catalogue, "a"), add(&catalogue, "b")];
    let virtual_a = || Draft::new("a", "virtual", 5);
    let is_taken = [Violation::NAME_TAKEN];
    assert_rejected(catalogue.insert(valid(virtual_a())), &is_taken);
    assert_rejected(catalogue.replace(robots[1].id(), virtual_a()), &is_taken);
    let refused = [robot(1000, "refused"), robot(2000, "a")];
    assert!(restore(&catalogue, &refused, Some(id(3000))).is_err());
    let catalogue = reopened(open, catalogue);
    assert_eq!(ok(catalogue.list()), robots);
    assert_found(&catalogue, "refused", &[]);
    ok(restore(&catalogue, &refused[..1], None));
}

fn volatile_catalogue_is_empty_when_reopened(open: &Open) {
    let catalogue = open();
    add(&catalogue, "R2-D2");
    let catalogue = reopened(open, catalogue);
    assert_found(&catalogue, "", &[]);
    assert_eq!(ok(catalogue.last_id()), None);
}

fn definition_and_values_are_kept_when_reopened(open: &Open) {
    let catalogue = open();
    if !can_define(&catalogue) {
        return;
    }
    let revision = define(&catalogue, OWN).revision();
    let robots = add_each(
        &catalogue,
        r#"{"serial": "s", "weight": 0.1, "lent": true}"#,
    );
    let catalogue = reopened(open, catalogue);
    let definition = catalogue.definition();
    assert_eq!(
        (&*definition, definition.revision()),
        (&parse(OWN), revision)
    );
    assert_eq!(ok(catalogue.list()), robots);
    let taken = catalogue.add(with("b", r#"{"serial": "s"}"#));
    assert_messages(taken, &["The serial must be unique"]);
}
