//! Cases: restoration of robots with their ids.

use std::collections::HashSet;

use super::{
    Run, add, assert_found, assert_not_found, get, id, names, names::difficult_names, numbered, ok,
    restore, robot, valid,
};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Cursor, Error, Filter, PageRequest, Pages},
    conformance::{Case, at_once, cases},
    model::{Draft, Field, NAME_LENGTH_LIMIT, RobotId, Violation},
};

pub(super) const CASES: &[Case<Run>] = cases![
    restored_robots_keep_their_ids,
    every_valid_robot_can_be_restored,
    new_ids_are_greater_than_restored_ids,
    last_id_is_kept_after_delete,
    ids_are_never_reused,
    conflicting_restoration_leaves_nothing_behind,
    restored_robots_can_be_changed_and_deleted,
    ids_above_the_maximum_are_not_restored,
    large_restoration_is_atomic,
    concurrent_equal_restorations_succeed_once,
    ids_are_unique_during_restorations,
];

/// Asserts that a restoration failed because of this robot and this violation.
#[track_caller]
fn assert_not_restored(result: crate::Result<()>, number: i64, expected: Violation) {
    match result {
        Err(Error::NotRestored { id, violation }) => {
            assert_eq!((id.get(), violation), (number, expected));
        }
        other => panic!("expected {expected:?} of {number}, got {other:?}"),
    }
}

fn restored_robots_keep_their_ids(catalogue: &dyn Catalogue) {
    // Neither the names nor the numbers are in order.
    let robots = [robot(70, "b"), robot(3, "c"), robot(1_000_000_007, "a")];
    ok(restore(catalogue, &robots, None));
    for robot in &numbered(&robots, 0) {
        assert_eq!(get(catalogue, robot.id()).as_ref(), Some(robot));
        assert_eq!(ok(catalogue.find(robot.name())).as_ref(), Some(robot));
    }
    assert_found(catalogue, "", &["a", "b", "c"]);
    ok(restore(catalogue, &[robot(2, "searched for")], None));
    assert_found(catalogue, "arch", &["searched for"]);
    ok(restore(catalogue, &[], None));
    assert_eq!(ok(catalogue.list()).len(), 4);
}

fn every_valid_robot_can_be_restored(catalogue: &dyn Catalogue) {
    let longest = "🤖".repeat(NAME_LENGTH_LIMIT);
    let mut names = difficult_names();
    names.push(&longest);
    names.sort_unstable();
    let kinds = Field::TYPE.choices().iter().cycle();
    let years = [0, 1, 1977, i64::MAX].into_iter().cycle();
    let robots = (1..).zip(names).zip(kinds).zip(years);
    let robots = robots.map(|(((number, name), robot_type), year)| {
        valid(Draft::new(name, &**robot_type, year)).with_id(id(7 * number))
    });
    let robots: Vec<_> = robots.collect();
    ok(restore(catalogue, &robots, None));
    assert_eq!(ok(catalogue.list()), numbered(&robots, 0));
}

fn new_ids_are_greater_than_restored_ids(catalogue: &dyn Catalogue) {
    assert_eq!(ok(catalogue.last_id()), None);
    let greatest = RobotId::GREATEST_RESTORED.get();
    for number in [10, 1000, 4_294_967_296, greatest - 100] {
        let robots = [robot(number, &number.to_string())];
        ok(restore(catalogue, &robots, None));
        assert_eq!(ok(catalogue.last_id()), Some(id(number)));
        assert!(add(catalogue, &format!("after {number}")).id() > id(number));
    }
    // Restoring a lower id does not lower the next one.
    ok(restore(catalogue, &[robot(5, "five")], Some(id(7))));
    assert!(add(catalogue, "after five").id().get() > greatest - 100);
    ok(restore(catalogue, &[robot(greatest, "the greatest")], None));
    assert!(add(catalogue, "after the greatest").id().get() > greatest);
    ok(catalogue.delete(id(greatest)));
    assert!(add(catalogue, "another").id().get() > greatest + 1);
    // A skipped id can still be restored.
    ok(restore(catalogue, &[robot(30, "thirty")], None));
}

fn last_id_is_kept_after_delete(catalogue: &dyn Catalogue) {
    let mut last = None;
    for name in ["a", "b", "c"] {
        let newest = add(catalogue, name).id();
        let reported = ok(catalogue.last_id());
        assert!(reported >= Some(newest) && reported > last, "{reported:?}");
        last = reported;
    }
    for robot in ok(catalogue.list()) {
        ok(catalogue.delete(robot.id()));
    }
    assert_eq!(ok(catalogue.last_id()), last);
}

fn ids_are_never_reused(catalogue: &dyn Catalogue) {
    let mut last = None;
    for round in 1..20 {
        let name = round.to_string();
        match round % 4 {
            0 => ok(restore(catalogue, &[robot(round, &name)], None)),
            1 => ok(restore(catalogue, &[], Some(id(round)))),
            2 => {
                let robots = [robot(100 * round, &name)];
                ok(restore(catalogue, &robots, Some(id(50 * round))));
            }
            _ => ok(restore(catalogue, &[], Some(id(200 * round)))),
        }
        let newest = add(catalogue, &format!("new {round}")).id();
        assert!(Some(newest) > last, "{newest} after {last:?}");
        last = Some(newest);
        ok(catalogue.delete(newest));
    }
}

fn conflicting_restoration_leaves_nothing_behind(catalogue: &dyn Catalogue) {
    ok(restore(catalogue, &[robot(20, "taken")], None));
    // The conflict may be the last robot, so that the others are stored before it is found. The one
    // with the lowest id is reported, and its id, if both are taken.
    for (conflicts, number, violation) in [
        (&[robot(20, "in place")][..], 20, Violation::ID_TAKEN),
        (&[robot(20, "taken")], 20, Violation::ID_TAKEN),
        (&[robot(2000, "taken")], 2000, Violation::NAME_TAKEN),
        (&[robot(2000, "refused 1")], 2000, Violation::NAME_TAKEN),
        (&[robot(12, "other")], 12, Violation::ID_TAKEN),
        (
            &[robot(900, "taken"), robot(800, "refused 1")],
            800,
            Violation::NAME_TAKEN,
        ),
        (
            &[robot(9, "taken"), robot(20, "free")],
            9,
            Violation::NAME_TAKEN,
        ),
    ] {
        let refused = [robot(11, "refused 1"), robot(12, "refused 2")];
        let robots = [&refused[..], conflicts].concat();
        let result = restore(catalogue, &robots, Some(id(3000)));
        assert_not_restored(result, number, violation);
        assert_eq!(ok(catalogue.list()), [robot(20, "taken")]);
        for robot in &refused {
            assert_eq!(get(catalogue, robot.id()), None);
            assert_eq!(ok(catalogue.find(robot.name())), None);
            assert_not_found(catalogue.delete(robot.id()), robot.id());
        }
        for containing in ["refused", "efu", "d", "2", ""] {
            let (filter, cursor) = (Filter::from(containing), Cursor::default());
            let request = PageRequest::new(&filter, &cursor);
            let expected = usize::from("taken".contains(containing));
            let robots = ok(catalogue.page(request)).items;
            assert_eq!(robots.len(), expected, "{containing}");
        }
    }
    // The names and the ids are free.
    add(catalogue, "refused 2");
    ok(restore(catalogue, &[robot(11, "refused 1")], None));
    assert_found(catalogue, "refused", &["refused 1", "refused 2"]);
}

fn restored_robots_can_be_changed_and_deleted(catalogue: &dyn Catalogue) {
    let robots = [robot(5, "five"), robot(6, "six")];
    ok(restore(catalogue, &robots, None));
    ok(catalogue.replace(id(5), Draft::new("FIVE", "virtual", 5)));
    ok(catalogue.delete(id(6)));
    assert_found(catalogue, "", &["FIVE"]);
    assert_found(catalogue, "five", &[]);
    // The id of a deleted robot is not assigned again, but can be restored.
    ok(restore(catalogue, &[robot(6, "six")], None));
    assert_found(catalogue, "", &["FIVE", "six"]);
}

fn ids_above_the_maximum_are_not_restored(catalogue: &dyn Catalogue) {
    let greatest = RobotId::GREATEST_RESTORED.get();
    for number in [greatest + 1, i64::MAX] {
        let robots = [robot(1, "one"), robot(number, "last")];
        let result = restore(catalogue, &robots, None);
        assert_not_restored(result, number, Violation::ID_TOO_GREAT);
        let result = restore(catalogue, &robots[..1], Some(id(number)));
        assert_not_restored(result, number, Violation::ID_TOO_GREAT);
    }
    assert_eq!(ok(catalogue.last_id()), None);
    assert_found(catalogue, "", &[]);
    assert!(add(catalogue, "first").id().get() < 1000);
}

fn large_restoration_is_atomic(catalogue: &dyn Catalogue) {
    let robots: Vec<_> = (1..=3500)
        .map(|number| robot(7 * (3501 - number), &format!("RX-{number:04}")))
        .collect();
    let (last, others) = robots
        .split_last()
        .unwrap_or_else(|| panic!("the list is not empty"));
    ok(restore(catalogue, std::slice::from_ref(last), None));
    for number in [1, 99_999] {
        let one_more = [others, &[robot(number, last.name())]].concat();
        let result = restore(catalogue, &one_more, None);
        assert_not_restored(result, number, Violation::NAME_TAKEN);
    }
    assert_found(catalogue, "", &[last.name()]);
    ok(restore(catalogue, others, None));
    let stored = [numbered(others, 1), vec![last.clone()]].concat();
    assert_eq!(ok(catalogue.list()), stored);
    assert_found(catalogue, "X-123", &names(&robots[1229..1239]));
}

fn concurrent_equal_restorations_succeed_once(catalogue: &dyn Catalogue) {
    for round in 1..=20 {
        let robots: Vec<_> = (0..20)
            .map(|number| robot(100 * round + number, &format!("{round} {number:02}")))
            .collect();
        let results = at_once(4, |_| restore(catalogue, &robots, None));
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        for result in results.into_iter().filter(Result::is_err) {
            assert_not_restored(result, 100 * round, Violation::ID_TAKEN);
        }
        assert_found(catalogue, &format!("{round} 19"), &[robots[19].name()]);
    }
    assert_eq!(ok(catalogue.list()).len(), 400);
}

fn ids_are_unique_during_restorations(catalogue: &dyn Catalogue) {
    // One thread raises the next id again and again, by more than the others use meanwhile.
    let assigned = at_once(5, |thread| {
        let mut assigned = Vec::new();
        for round in 1..=25 {
            let name = format!("{thread} {round}");
            if thread == 0 {
                let last = ok(catalogue.last_id()).map_or(0, RobotId::get);
                let far = robot(last + 1000, &format!("{name} far"));
                assigned.push(far.id());
                ok(restore(catalogue, &[far], Some(id(last + 500))));
            } else {
                let id = add(catalogue, &name).id();
                if round % 2 == 0 {
                    ok(catalogue.delete(id));
                }
                assigned.push(id);
            }
        }
        assigned
    });
    let assigned: Vec<_> = assigned.into_iter().flatten().collect();
    let distinct: HashSet<_> = assigned.iter().collect();
    assert_eq!(distinct.len(), assigned.len());
    let restored = Pages::new(catalogue, " far").flat_map(ok).count();
    assert_eq!(restored, 25);
}
