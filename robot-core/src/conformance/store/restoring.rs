//! Cases: restoration of robots with their ids.

use std::collections::HashSet;

use super::{
    Run, add, assert_found, assert_not_found, assert_rejected, draft, get, id, names, ok, restore,
    robot, valid,
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
    new_ids_are_greater_than_the_restored_last_id,
    last_id_is_kept_after_delete,
    ids_are_never_reused,
    taken_id_restores_nothing,
    taken_name_restores_nothing,
    duplicate_in_a_restoration_restores_nothing,
    refused_restoration_leaves_nothing_behind,
    conflict_is_reported_for_the_lowest_id,
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
    for robot in &robots {
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
    let odd = [
        "'; --",
        "{\"\\\",",
        "%_\\",
        " ",
        "é",
        "e\u{301}",
        "\u{10ffff}",
        "\n\t",
        "NULL",
    ];
    let mut robots = Vec::new();
    for (number, name) in (1..).zip([longest.as_str()].iter().chain(&odd)) {
        for (step, robot_type) in (0..).zip(Field::TYPE.choices()) {
            let year = [0, 1977, i64::MAX][usize::try_from(number % 3).unwrap_or(0)];
            let name: String = name.chars().take(NAME_LENGTH_LIMIT - step).collect();
            let name = if step == 0 {
                name
            } else {
                format!("{step}{name}")
            };
            let draft = valid(Draft::new(name, *robot_type, year));
            robots.push(draft.with_id(id(number + 100 * i64::try_from(step).unwrap_or(0))));
        }
    }
    ok(restore(catalogue, &robots, None));
    robots.sort_by(|one, other| one.name().cmp(other.name()));
    assert_eq!(ok(catalogue.list()), robots);
}

fn new_ids_are_greater_than_restored_ids(catalogue: &dyn Catalogue) {
    assert_eq!(ok(catalogue.last_id()), None);
    let greatest = RobotId::GREATEST_RESTORED.get();
    for number in [10, 1000, 4_294_967_296, greatest - 100] {
        ok(restore(
            catalogue,
            &[robot(number, &number.to_string())],
            None,
        ));
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
}

fn new_ids_are_greater_than_the_restored_last_id(catalogue: &dyn Catalogue) {
    ok(restore(catalogue, &[robot(2, "two")], Some(id(40))));
    assert!(ok(catalogue.last_id()) >= Some(id(40)));
    assert!(add(catalogue, "after forty").id() > id(40));
    ok(restore(catalogue, &[], Some(id(90))));
    ok(restore(catalogue, &[], Some(id(60))));
    assert!(ok(catalogue.last_id()) >= Some(id(90)));
    assert!(add(catalogue, "after ninety").id() > id(90));
    // A skipped id can still be restored.
    ok(restore(catalogue, &[robot(30, "thirty")], None));
    assert_found(
        catalogue,
        "",
        &["after forty", "after ninety", "thirty", "two"],
    );
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
            2 => ok(restore(
                catalogue,
                &[robot(100 * round, &name)],
                Some(id(50 * round)),
            )),
            _ => ok(restore(catalogue, &[], Some(id(200 * round)))),
        }
        let newest = add(catalogue, &format!("new {round}")).id();
        assert!(Some(newest) > last, "{newest} after {last:?}");
        last = Some(newest);
        ok(catalogue.delete(newest));
    }
}

fn taken_id_restores_nothing(catalogue: &dyn Catalogue) {
    ok(restore(catalogue, &[robot(20, "taken")], None));
    let robots = [
        robot(10, "before"),
        robot(20, "in place"),
        robot(30, "later"),
    ];
    assert_not_restored(restore(catalogue, &robots, None), 20, Violation::ID_TAKEN);
    // If both are taken, the id is reported.
    assert_not_restored(
        restore(catalogue, &[robot(20, "taken")], None),
        20,
        Violation::ID_TAKEN,
    );
    assert_eq!(ok(catalogue.list()), [robot(20, "taken")]);
    assert_found(catalogue, "efo", &[]);
    ok(restore(
        catalogue,
        &[robot(10, "before"), robot(30, "later")],
        None,
    ));
    assert_found(catalogue, "", &["before", "later", "taken"]);
}

fn taken_name_restores_nothing(catalogue: &dyn Catalogue) {
    let kept = add(catalogue, "taken");
    let robots = [robot(10, "before"), robot(20, "taken"), robot(30, "later")];
    assert_not_restored(restore(catalogue, &robots, None), 20, Violation::NAME_TAKEN);
    assert_eq!(ok(catalogue.list()), [kept]);
    assert_found(catalogue, "ate", &[]);
    for robot in &robots {
        assert_eq!(get(catalogue, robot.id()), None);
    }
    assert_rejected(catalogue.add(draft("taken")), &[Violation::NAME_TAKEN]);
    // The ids and names that were not restored are still free.
    let others = [
        robot(10, "before"),
        robot(20, "another"),
        robot(30, "later"),
    ];
    ok(restore(catalogue, &others, None));
}

fn duplicate_in_a_restoration_restores_nothing(catalogue: &dyn Catalogue) {
    let same_name = [
        robot(9, "duplicate"),
        robot(8, "other"),
        robot(7, "duplicate"),
    ];
    assert_not_restored(
        restore(catalogue, &same_name, None),
        9,
        Violation::NAME_TAKEN,
    );
    let same_id = [robot(7, "a"), robot(7, "b")];
    assert_not_restored(restore(catalogue, &same_id, None), 7, Violation::ID_TAKEN);
    assert_found(catalogue, "", &[]);
}

fn refused_restoration_leaves_nothing_behind(catalogue: &dyn Catalogue) {
    ok(restore(catalogue, &[robot(20, "taken")], None));
    // The conflict is the last robot, so that the others may have been stored before it is found.
    let refused = [robot(1001, "refused one"), robot(1002, "refused two")];
    for conflict in [
        robot(2000, "taken"),
        robot(2000, "refused one"),
        robot(1002, "other"),
    ] {
        let robots = [&refused[..], &[conflict]].concat();
        assert!(restore(catalogue, &robots, Some(id(3000))).is_err());
        for robot in &refused {
            assert_eq!(get(catalogue, robot.id()), None);
            assert_eq!(ok(catalogue.find(robot.name())), None);
            assert_not_found(catalogue.delete(robot.id()), robot.id());
        }
        for containing in ["refused", "one", "d", "2", ""] {
            let request = PageRequest {
                filter: &Filter::from(containing),
                cursor: &Cursor::default(),
                limit: 10,
            };
            let found = ok(catalogue.page(request));
            let expected = usize::from("taken".contains(containing));
            assert_eq!(found.len(), expected, "search for {containing:?}");
            assert_eq!(ok(catalogue.entries(request)).len(), expected);
        }
    }
    // The names and the ids are free.
    add(catalogue, "refused two");
    ok(restore(catalogue, &refused[..1], None));
    assert_found(catalogue, "refused", &["refused one", "refused two"]);
}

fn conflict_is_reported_for_the_lowest_id(catalogue: &dyn Catalogue) {
    ok(restore(catalogue, &[robot(1, "a"), robot(2, "b")], None));
    let robots = [robot(9, "a"), robot(8, "b"), robot(7, "free")];
    assert_not_restored(restore(catalogue, &robots, None), 8, Violation::NAME_TAKEN);
    let robots = [robot(9, "a"), robot(2, "also free"), robot(7, "free")];
    assert_not_restored(restore(catalogue, &robots, None), 2, Violation::ID_TAKEN);
    assert_found(catalogue, "", &["a", "b"]);
}

fn restored_robots_can_be_changed_and_deleted(catalogue: &dyn Catalogue) {
    ok(restore(
        catalogue,
        &[robot(5, "five"), robot(6, "six")],
        None,
    ));
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
        assert_not_restored(
            restore(catalogue, &robots, None),
            number,
            Violation::ID_TOO_GREAT,
        );
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
    let one_more = [others, &[robot(1, last.name())]].concat();
    assert_not_restored(
        restore(catalogue, &one_more, None),
        1,
        Violation::NAME_TAKEN,
    );
    let one_more = [others, &[robot(99_999, last.name())]].concat();
    assert_not_restored(
        restore(catalogue, &one_more, None),
        99_999,
        Violation::NAME_TAKEN,
    );
    assert_found(catalogue, "", &[last.name()]);
    ok(restore(catalogue, others, None));
    assert_eq!(ok(catalogue.list()), robots);
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
                ok(restore(
                    catalogue,
                    std::slice::from_ref(&far),
                    Some(id(last + 500)),
                ));
                assigned.push(far.id());
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
