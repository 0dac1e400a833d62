//! Robots that are kept with the ids that they have.

use std::collections::HashSet;

use super::{Run, add, assert_found, assert_rejected, draft, get, good, names, valid};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Error, Pages, Restoration},
    conformance::{Case, at_once, cases},
    model::{Draft, NAME_LENGTH_LIMIT, Robot, RobotId, RobotType, Violation},
};

pub(super) const CASES: &[Case<Run>] = cases![
    restored_robots_have_the_ids_that_they_had,
    any_robot_can_be_restored,
    new_ids_are_greater_than_restored_ones,
    ids_that_were_spent_elsewhere_are_not_given,
    the_last_id_is_kept_when_its_robot_is_deleted,
    ids_never_go_back,
    nothing_is_restored_where_an_id_is_taken,
    nothing_is_restored_where_a_name_is_taken,
    nothing_is_restored_where_two_are_alike,
    the_robot_to_blame_is_the_first_by_id,
    restored_robots_can_be_changed_and_deleted,
    ids_that_leave_no_room_are_refused,
    thousands_are_restored_or_none,
    of_equal_restorations_at_once_one_succeeds,
    ids_are_given_once_while_robots_are_restored,
];

fn id(number: i64) -> RobotId {
    RobotId::new(number).unwrap_or_else(|| panic!("{number} is positive"))
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

/// Asserts that a restoration is refused for this robot and this reason.
#[track_caller]
fn assert_refused(result: crate::Result<()>, number: i64, expected: Violation) {
    match result {
        Err(Error::NotRestored { id, violation }) => {
            assert_eq!((id.get(), violation), (number, expected));
        }
        other => panic!("expected {expected:?} of {number}, got {other:?}"),
    }
}

fn restored_robots_have_the_ids_that_they_had(catalogue: &dyn Catalogue) {
    // Neither the names nor the numbers are in order.
    let robots = [robot(70, "b"), robot(3, "c"), robot(1_000_000_007, "a")];
    good(restore(catalogue, &robots, None));
    for robot in &robots {
        assert_eq!(get(catalogue, robot.id()).as_ref(), Some(robot));
        assert_eq!(good(catalogue.find(robot.name())).as_ref(), Some(robot));
    }
    assert_found(catalogue, "", &["a", "b", "c"]);
    good(restore(catalogue, &[robot(2, "searched for")], None));
    assert_found(catalogue, "arch", &["searched for"]);
    good(restore(catalogue, &[], None));
    assert_eq!(good(catalogue.list()).len(), 4);
}

fn any_robot_can_be_restored(catalogue: &dyn Catalogue) {
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
        for (step, robot_type) in (0..).zip(RobotType::ALL) {
            let year = [0, 1977, i64::MAX][usize::try_from(number % 3).unwrap_or(0)];
            let name: String = name.chars().take(NAME_LENGTH_LIMIT - step).collect();
            let name = if step == 0 {
                name
            } else {
                format!("{step}{name}")
            };
            let draft = valid(Draft::new(name, robot_type.as_str(), year));
            robots.push(draft.with_id(id(number + 100 * i64::try_from(step).unwrap_or(0))));
        }
    }
    good(restore(catalogue, &robots, None));
    robots.sort_by(|one, other| one.name().cmp(other.name()));
    assert_eq!(good(catalogue.list()), robots);
}

fn new_ids_are_greater_than_restored_ones(catalogue: &dyn Catalogue) {
    assert_eq!(good(catalogue.last_id()), None);
    let greatest = RobotId::GREATEST_RESTORED.get();
    for number in [10, 1000, 4_294_967_296, greatest - 100] {
        good(restore(
            catalogue,
            &[robot(number, &number.to_string())],
            None,
        ));
        assert_eq!(good(catalogue.last_id()), Some(id(number)));
        assert!(add(catalogue, &format!("after {number}")).id() > id(number));
    }
    // One that is less than others is no reason to go back.
    good(restore(catalogue, &[robot(5, "five")], Some(id(7))));
    assert!(add(catalogue, "after five").id().get() > greatest - 100);
    good(restore(catalogue, &[robot(greatest, "the greatest")], None));
    assert!(add(catalogue, "after the greatest").id().get() > greatest);
    good(catalogue.delete(id(greatest)));
    assert!(add(catalogue, "yet another").id().get() > greatest + 1);
}

fn ids_that_were_spent_elsewhere_are_not_given(catalogue: &dyn Catalogue) {
    good(restore(catalogue, &[robot(2, "two")], Some(id(40))));
    assert!(good(catalogue.last_id()) >= Some(id(40)));
    assert!(add(catalogue, "after forty").id() > id(40));
    good(restore(catalogue, &[], Some(id(90))));
    good(restore(catalogue, &[], Some(id(60))));
    assert!(good(catalogue.last_id()) >= Some(id(90)));
    assert!(add(catalogue, "after ninety").id() > id(90));
    // What was spent is not taken: its robot may come later.
    good(restore(catalogue, &[robot(30, "thirty")], None));
    assert_found(
        catalogue,
        "",
        &["after forty", "after ninety", "thirty", "two"],
    );
}

fn the_last_id_is_kept_when_its_robot_is_deleted(catalogue: &dyn Catalogue) {
    let mut last = None;
    for name in ["a", "b", "c"] {
        let newest = add(catalogue, name).id();
        let told = good(catalogue.last_id());
        assert!(told >= Some(newest) && told > last, "{told:?}");
        last = told;
    }
    for robot in good(catalogue.list()) {
        good(catalogue.delete(robot.id()));
    }
    assert_eq!(good(catalogue.last_id()), last);
}

fn ids_never_go_back(catalogue: &dyn Catalogue) {
    let mut last = None;
    for round in 1..20 {
        let name = round.to_string();
        match round % 4 {
            0 => good(restore(catalogue, &[robot(round, &name)], None)),
            1 => good(restore(catalogue, &[], Some(id(round)))),
            2 => good(restore(
                catalogue,
                &[robot(100 * round, &name)],
                Some(id(50 * round)),
            )),
            _ => good(restore(catalogue, &[], Some(id(200 * round)))),
        }
        let newest = add(catalogue, &format!("new {round}")).id();
        assert!(Some(newest) > last, "{newest} after {last:?}");
        last = Some(newest);
        good(catalogue.delete(newest));
    }
}

fn nothing_is_restored_where_an_id_is_taken(catalogue: &dyn Catalogue) {
    good(restore(catalogue, &[robot(20, "taken")], None));
    let robots = [
        robot(10, "before"),
        robot(20, "in place"),
        robot(30, "behind"),
    ];
    assert_refused(restore(catalogue, &robots, None), 20, Violation::IdTaken);
    // Where both are taken, the id is told.
    assert_refused(
        restore(catalogue, &[robot(20, "taken")], None),
        20,
        Violation::IdTaken,
    );
    assert_eq!(good(catalogue.list()), [robot(20, "taken")]);
    assert_found(catalogue, "efo", &[]);
    good(restore(
        catalogue,
        &[robot(10, "before"), robot(30, "behind")],
        None,
    ));
    assert_found(catalogue, "", &["before", "behind", "taken"]);
}

fn nothing_is_restored_where_a_name_is_taken(catalogue: &dyn Catalogue) {
    let kept = add(catalogue, "taken");
    let robots = [robot(10, "before"), robot(20, "taken"), robot(30, "behind")];
    assert_refused(restore(catalogue, &robots, None), 20, Violation::NameTaken);
    assert_eq!(good(catalogue.list()), [kept]);
    assert_found(catalogue, "ehi", &[]);
    for robot in &robots {
        assert_eq!(get(catalogue, robot.id()), None);
    }
    assert_rejected(catalogue.add(draft("taken")), &[Violation::NameTaken]);
    // What was not restored is as free as before.
    let others = [
        robot(10, "before"),
        robot(20, "another"),
        robot(30, "behind"),
    ];
    good(restore(catalogue, &others, None));
}

fn nothing_is_restored_where_two_are_alike(catalogue: &dyn Catalogue) {
    let same_name = [robot(9, "twin"), robot(8, "other"), robot(7, "twin")];
    assert_refused(
        restore(catalogue, &same_name, None),
        9,
        Violation::NameTaken,
    );
    let same_id = [robot(7, "a"), robot(7, "b")];
    assert_refused(restore(catalogue, &same_id, None), 7, Violation::IdTaken);
    assert_found(catalogue, "", &[]);
}

fn the_robot_to_blame_is_the_first_by_id(catalogue: &dyn Catalogue) {
    good(restore(catalogue, &[robot(1, "a"), robot(2, "b")], None));
    let robots = [robot(9, "a"), robot(8, "b"), robot(7, "free")];
    assert_refused(restore(catalogue, &robots, None), 8, Violation::NameTaken);
    let robots = [robot(9, "a"), robot(2, "also free"), robot(7, "free")];
    assert_refused(restore(catalogue, &robots, None), 2, Violation::IdTaken);
    assert_found(catalogue, "", &["a", "b"]);
}

fn restored_robots_can_be_changed_and_deleted(catalogue: &dyn Catalogue) {
    good(restore(
        catalogue,
        &[robot(5, "five"), robot(6, "six")],
        None,
    ));
    good(catalogue.replace(id(5), Draft::new("FIVE", "virtual", 5)));
    good(catalogue.delete(id(6)));
    assert_found(catalogue, "", &["FIVE"]);
    assert_found(catalogue, "five", &[]);
    // The id of one that was deleted is only not given again; it can come back.
    good(restore(catalogue, &[robot(6, "six")], None));
    assert_found(catalogue, "", &["FIVE", "six"]);
}

fn ids_that_leave_no_room_are_refused(catalogue: &dyn Catalogue) {
    let greatest = RobotId::GREATEST_RESTORED.get();
    for number in [greatest + 1, i64::MAX] {
        let robots = [robot(1, "one"), robot(number, "last")];
        assert_refused(
            restore(catalogue, &robots, None),
            number,
            Violation::IdTooGreat,
        );
        let result = restore(catalogue, &robots[..1], Some(id(number)));
        assert_refused(result, number, Violation::IdTooGreat);
    }
    assert_eq!(good(catalogue.last_id()), None);
    assert_found(catalogue, "", &[]);
    assert!(add(catalogue, "first").id().get() < 1000);
}

fn thousands_are_restored_or_none(catalogue: &dyn Catalogue) {
    let robots: Vec<_> = (1..=3500)
        .map(|number| robot(7 * (3501 - number), &format!("RX-{number:04}")))
        .collect();
    let (last, others) = robots
        .split_last()
        .unwrap_or_else(|| panic!("there are some"));
    good(restore(catalogue, std::slice::from_ref(last), None));
    let one_more = [others, &[robot(1, last.name())]].concat();
    assert_refused(restore(catalogue, &one_more, None), 1, Violation::NameTaken);
    let one_more = [others, &[robot(99_999, last.name())]].concat();
    assert_refused(
        restore(catalogue, &one_more, None),
        99_999,
        Violation::NameTaken,
    );
    assert_found(catalogue, "", &[last.name()]);
    good(restore(catalogue, others, None));
    assert_eq!(good(catalogue.list()), robots);
    assert_found(catalogue, "X-123", &names(&robots[1229..1239]));
}

fn of_equal_restorations_at_once_one_succeeds(catalogue: &dyn Catalogue) {
    for round in 1..=20 {
        let robots: Vec<_> = (0..20)
            .map(|number| robot(100 * round + number, &format!("{round} {number:02}")))
            .collect();
        let results = at_once(4, |_| restore(catalogue, &robots, None));
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        for result in results.into_iter().filter(Result::is_err) {
            assert_refused(result, 100 * round, Violation::IdTaken);
        }
        assert_found(catalogue, &format!("{round} 19"), &[robots[19].name()]);
    }
    assert_eq!(good(catalogue.list()).len(), 400);
}

fn ids_are_given_once_while_robots_are_restored(catalogue: &dyn Catalogue) {
    // One thread moves on what the others are given, again and again, by more than they are given
    // meanwhile.
    let given = at_once(5, |thread| {
        let mut given = Vec::new();
        for round in 1..=25 {
            let name = format!("{thread} {round}");
            if thread == 0 {
                let last = good(catalogue.last_id()).map_or(0, RobotId::get);
                let far = robot(last + 1000, &format!("{name} far"));
                good(restore(
                    catalogue,
                    std::slice::from_ref(&far),
                    Some(id(last + 500)),
                ));
                given.push(far.id());
            } else {
                let id = add(catalogue, &name).id();
                if round % 2 == 0 {
                    good(catalogue.delete(id));
                }
                given.push(id);
            }
        }
        given
    });
    let given: Vec<_> = given.into_iter().flatten().collect();
    let distinct: HashSet<_> = given.iter().collect();
    assert_eq!(distinct.len(), given.len());
    let restored = Pages::new(catalogue, " far").flat_map(good).count();
    assert_eq!(restored, 25);
}
