//! Cases: changes that are applied together, all or none of them.

use std::collections::{BTreeSet, HashSet};

use super::{
    Run, add, assert_found, assert_rejected, draft, get, insert, names, ok, revision, valid, year,
};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Change, Cursor, Error, Filter, PageRequest},
    conformance::{Case, at_once, cases, read_meanwhile},
    model::{Revision, Robot, RobotId, ValidChanges, Violation},
};

pub(super) const CASES: &[Case<Run>] = cases![
    changes_of_all_kinds_are_applied_together,
    no_changes_are_applied,
    failing_change_prevents_all,
    changes_take_names_that_earlier_ones_release,
    many_changes_are_applied_together,
    many_conditional_changes_are_applied_together,
    ids_of_changes_applied_together_are_not_reused,
    concurrent_equal_changes_succeed_once,
    concurrent_changes_of_the_same_robots_are_serial,
    reader_never_sees_a_part_of_the_changes,
];

fn inserts(names: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<Change> {
    let changes = names.into_iter().map(|name| insert(name.as_ref()));
    changes.collect()
}

/// The ids of changes that are applied, whose receipts have the revisions of the stored robots.
fn applied(catalogue: &dyn Catalogue, changes: Vec<Change>) -> Vec<RobotId> {
    let receipts = ok(catalogue.apply_all(changes));
    let stored = receipts.iter().map(|receipt| {
        let revision = get(catalogue, receipt.id).map(|robot| robot.revision());
        assert_eq!(receipt.revision, revision, "{receipt:?}");
        receipt.id
    });
    stored.collect()
}

fn rename(name: &str) -> ValidChanges {
    valid(draft(name)).into()
}

fn changes_of_all_kinds_are_applied_together(catalogue: &dyn Catalogue) {
    let old = ["a", "b", "c", "d", "e"].map(|name| add(catalogue, name).id());
    let [deleted, renamed, changed, deleted_if, last] = old;
    let ids = applied(
        catalogue,
        vec![
            insert("z"),
            Change::Update(renamed, None, rename("B")),
            Change::Delete(deleted, None),
            Change::Update(changed, Some(revision(3)), year(2001)),
            insert("f"),
            Change::Delete(deleted_if, Some(revision(4))),
            Change::Update(last, None, year(1)),
        ],
    );
    assert_eq!(ids.len(), 7);
    assert_eq!(
        [ids[1], ids[2], ids[3], ids[5], ids[6]],
        [renamed, deleted, changed, deleted_if, last]
    );
    let newest = old.into_iter().max();
    assert!(ids[0] != ids[4] && Some(ids[0].min(ids[4])) > newest);
    let robots = ok(catalogue.list());
    assert_eq!(names(&robots), ["B", "c", "e", "f", "z"]);
    let states = robots.iter().map(|robot| (robot.id(), robot.year()));
    let years = [1977, 2001, 1, 1977, 1977].map(Some);
    assert!(
        states.eq([renamed, changed, last, ids[4], ids[0]]
            .into_iter()
            .zip(years))
    );
    let revisions: BTreeSet<_> = robots.iter().map(|robot| robot.revision().get()).collect();
    assert!(revisions.len() == 5 && revisions.iter().all(|number| (6..=12).contains(number)));
    // The released names are free, and each change has taken a number.
    let receipts = ok(catalogue.apply_all(inserts(["a", "b", "d"])));
    let revisions = receipts.iter().map(|receipt| receipt.revision);
    assert!(revisions.eq([13, 14, 15].map(|number| Some(revision(number)))));
}

fn no_changes_are_applied(catalogue: &dyn Catalogue) {
    assert_eq!(ok(catalogue.apply_all(Vec::new())), []);
    assert_found(catalogue, "", &[]);
}

fn failing_change_prevents_all(catalogue: &dyn Catalogue) {
    let [taken, stale, kept, gone] =
        ["taken", "stale", "kept", "gone"].map(|name| add(catalogue, name).id());
    ok(catalogue.delete(gone));
    ok(catalogue.update(stale, year(1980)));
    let before = ok(catalogue.list());
    let good = || {
        vec![
            insert("new one"),
            insert("new two"),
            Change::Update(kept, None, rename("renamed")),
        ]
    };
    for failing in [
        insert("taken"),
        Change::Update(stale, None, rename("taken")),
        Change::Update(gone, None, year(1)),
        Change::Update(stale, Some(Revision::FIRST), year(1)),
        Change::Delete(gone, None),
        Change::Delete(stale, Some(Revision::FIRST)),
    ] {
        for place in 0..=3 {
            let mut changes = good();
            changes.insert(place, failing.clone());
            let result = catalogue.apply_all(changes);
            match &failing {
                Change::Insert(_) | Change::Update(_, None, _) if failing.id() != Some(gone) => {
                    assert_rejected(result, &[Violation::NAME_TAKEN]);
                }
                Change::Update(_, Some(_), _) | Change::Delete(_, Some(_)) => {
                    assert!(matches!(result, Err(Error::Stale(id)) if id == stale));
                }
                _ => assert!(matches!(result, Err(Error::NotFound(id)) if id == gone)),
            }
            assert_eq!(ok(catalogue.list()), before, "{failing:?} at {place}");
            assert_found(catalogue, "new", &[]);
            assert_eq!(ok(catalogue.find("new two")), None);
            assert_eq!(get(catalogue, kept).as_ref(), before.first());
        }
    }
    // Also a conflict between two of the changes.
    let result = catalogue.apply_all(inserts(["x", "y", "x"]));
    assert_rejected(result, &[Violation::NAME_TAKEN]);
    assert_eq!(ok(catalogue.list()), before);
    ok(catalogue.apply_all(good()));
    assert_found(
        catalogue,
        "",
        &["new one", "new two", "renamed", "stale", "taken"],
    );
    assert!(get(catalogue, taken).is_some());
}

fn changes_take_names_that_earlier_ones_release(catalogue: &dyn Catalogue) {
    let [a, b, c] = ["a", "b", "c"].map(|name| add(catalogue, name).id());
    let rename_if = |id, number, name| Change::Update(id, Some(revision(number)), rename(name));
    let changes = [
        rename_if(c, 3, "x"),
        rename_if(a, 1, "c"),
        Change::Delete(b, None),
        insert("b"),
    ];
    let too_early = [[1, 0, 2, 3], [0, 1, 3, 2]];
    for order in too_early {
        let changes = order.map(|index: usize| changes[index].clone());
        let result = catalogue.apply_all(changes.to_vec());
        assert_rejected(result, &[Violation::NAME_TAKEN]);
        assert_found(catalogue, "", &["a", "b", "c"]);
    }
    let ids = applied(catalogue, changes.to_vec());
    assert_eq!(ids[..3], [c, a, b]);
    let robots = ok(catalogue.list());
    let robots = robots.iter().map(|robot| (robot.name(), robot.id()));
    assert!(robots.eq([("b", ids[3]), ("c", a), ("x", c)]));
}

fn many_conditional_changes_are_applied_together(catalogue: &dyn Catalogue) {
    // More than a statement changes.
    let ids = applied(catalogue, inserts((0..1100).map(|n| n.to_string())));
    let present = |id: RobotId| get(catalogue, id).map(|robot| robot.revision());
    let update = |id: &RobotId| Change::Update(*id, present(*id), year(1));
    let updates: Vec<_> = ids.iter().map(update).collect();
    assert_eq!(applied(catalogue, updates.clone()), ids);
    let delete = |id: &RobotId| Change::Delete(*id, present(*id));
    let deletes: Vec<_> = ids.iter().map(delete).collect();
    ok(catalogue.update(ids[1050], year(3)));
    let changed = ok(catalogue.list());
    for changes in [updates, deletes] {
        let result = catalogue.apply_all(changes);
        assert!(matches!(result, Err(Error::Stale(_))), "{result:?}");
        assert!(ok(catalogue.list()) == changed);
    }
    let mut years = changed.iter().map(|robot| (robot.id(), robot.year()));
    let is_expected = |(id, year)| year == Some(if id == ids[1050] { 3 } else { 1 });
    assert!(years.all(is_expected) && changed.len() == ids.len());
    ok(catalogue.apply_all(ids.iter().map(delete).collect()));
    assert_found(catalogue, "", &[]);
}

fn many_changes_are_applied_together(catalogue: &dyn Catalogue) {
    // More than a statement inserts, and not in the order of the names.
    let names: Vec<_> = (0..1100).rev().map(|n| format!("RX-{n:04}")).collect();
    let old = applied(catalogue, inserts((0..50).map(|n| n.to_string())));
    add(catalogue, "RX-0001 b");
    let changes = |failing: Option<&str>| {
        let updates = old.iter().map(|id| Change::Update(*id, None, year(2001)));
        let failing = failing.map(insert);
        let all = updates.chain(inserts(&names)).chain(failing);
        all.collect::<Vec<_>>()
    };
    let result = catalogue.apply_all(changes(Some("RX-0001 b")));
    assert_rejected(result, &[Violation::NAME_TAKEN]);
    assert_found(catalogue, "RX", &["RX-0001 b"]);
    assert_eq!(
        get(catalogue, old[7]).and_then(|robot| robot.year()),
        Some(1977)
    );
    let ids = applied(catalogue, changes(None));
    assert_eq!(ids[..50], old);
    let added: HashSet<_> = ids[50..].iter().collect();
    assert_eq!(added.len(), names.len());
    for index in [0, 999, 1000, 1099] {
        let robot = get(catalogue, ids[50 + index]);
        assert_eq!(robot.as_ref().map(Robot::name), Some(&*names[index]));
    }
    let all = ok(catalogue.list());
    let updated = all.iter().filter(|robot| robot.year() == Some(2001));
    assert_eq!((all.len(), updated.count()), (1151, 50));
    assert_found(catalogue, "X-0001", &["RX-0001", "RX-0001 b"]);
}

fn ids_of_changes_applied_together_are_not_reused(catalogue: &dyn Catalogue) {
    let mut last = None;
    for round in 0..10 {
        let names = ["a", "b"].map(|name| format!("{round} {name}"));
        let ids = applied(catalogue, inserts(&names));
        assert!(
            ids.iter().all(|id| Some(*id) > last),
            "{ids:?} after {last:?}"
        );
        last = ids.iter().copied().max();
        // Deletes the newest robot, and then fails.
        let delete = |id| Change::Delete(id, None);
        ok(catalogue.apply_all(last.map(delete).into_iter().collect()));
        let failing = [inserts(["c"]), last.map(delete).into_iter().collect()];
        assert!(catalogue.apply_all(failing.concat()).is_err());
        assert!(ok(catalogue.last_id()) >= last);
    }
}

fn concurrent_equal_changes_succeed_once(catalogue: &dyn Catalogue) {
    for round in 0..20 {
        let shared = format!("{round} shared");
        let results = at_once(4, |thread| {
            let own = |number| format!("{round} {thread} {number}");
            // In another order in each thread.
            let mut names: Vec<_> = (0..5).map(own).collect();
            names.insert(thread, shared.clone());
            let result = catalogue.apply_all(inserts(&names));
            (names, result)
        });
        let mut stored = Vec::new();
        for (names, result) in results {
            match result {
                Ok(_) => stored.push(names),
                result => assert_rejected(result, &[Violation::NAME_TAKEN]),
            }
        }
        assert_eq!(stored.len(), 1);
        let mut names = stored.concat();
        names.sort();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        assert_found(catalogue, &format!("{round} "), &names);
        clear(catalogue);
    }
}

fn concurrent_changes_of_the_same_robots_are_serial(catalogue: &dyn Catalogue) {
    const ROUNDS: i64 = 10;
    let ids = applied(catalogue, inserts(["a", "b", "c", "d", "e"]));
    at_once(4, |thread| {
        let mut order = ids.clone();
        order.rotate_left(thread);
        for round in 0..ROUNDS {
            let value = 100 * i64::try_from(thread).unwrap_or(0) + round;
            let update = |id: &RobotId| Change::Update(*id, None, year(value));
            ok(catalogue.apply_all(order.iter().map(update).collect()));
            let robots = page(catalogue);
            assert!(
                robots.iter().all(|robot| robot.year() == robots[0].year()),
                "{robots:?}"
            );
        }
    });
    let robots = ok(catalogue.list());
    let revisions: BTreeSet<_> = robots.iter().map(|robot| robot.revision().get()).collect();
    let last = 5 * (1 + 4 * ROUNDS);
    assert!(revisions.into_iter().eq(last - 4..=last));
}

fn reader_never_sees_a_part_of_the_changes(catalogue: &dyn Catalogue) {
    let names: Vec<_> = (0..20).map(|number| number.to_string()).collect();
    let write = || {
        for _ in 0..20 {
            ok(catalogue.apply_all(inserts(&names)));
            clear(catalogue);
        }
    };
    read_meanwhile(write, || {
        let count = page(catalogue).len();
        assert!(count == 0 || count == names.len(), "{count}");
    });
}

/// All robots, read at one moment.
fn page(catalogue: &dyn Catalogue) -> Vec<Robot> {
    ok(catalogue.page(PageRequest::new(&Filter::all(), &Cursor::default()))).items
}

/// Deletes all robots together.
fn clear(catalogue: &dyn Catalogue) {
    let deletes = page(catalogue)
        .into_iter()
        .map(|robot| Change::Delete(robot.id(), None));
    ok(catalogue.apply_all(deletes.collect()));
}
