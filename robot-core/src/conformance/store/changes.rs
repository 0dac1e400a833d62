//! Cases: inserts, updates and deletes.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{
    NOT_A_CHOICE, Run, add, assert_found, assert_not_found, assert_rejected, draft, get, id,
    insert, named, ok, revision, valid,
};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Pages},
    conformance::{Case, cases},
    model::{Draft, Field, NAME_LENGTH_LIMIT, Violation},
};

pub(super) const CASES: &[Case<Run>] = cases![
    empty_catalogue_has_no_robots,
    added_robot_can_be_read,
    every_type_and_year_is_stored,
    taken_name_is_rejected,
    all_violations_are_reported,
    replace_sets_all_members,
    change_of_missing_robot_is_not_found,
    patch_changes_only_given_members,
    released_name_can_be_used_again,
    deleted_robot_is_not_found,
    change_is_not_cancelled_by_dropping_its_result,
];

fn empty_catalogue_has_no_robots(catalogue: &dyn Catalogue) {
    assert_found(catalogue, "", &[]);
    assert_found(catalogue, "x", &[]);
    for number in [1, 2, i64::MAX] {
        let id = id(number);
        assert_eq!(get(catalogue, id), None);
        assert_not_found(catalogue.delete(id), id);
    }
    assert_eq!(ok(catalogue.find("x")), None);
    assert!(Pages::new(catalogue, "").next().is_none());
}

fn added_robot_can_be_read(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    assert_eq!(robot.name(), "R2-D2");
    assert_eq!(robot.robot_type(), Some("droid"));
    assert_eq!(robot.year(), Some(1977));
    assert_eq!(get(catalogue, robot.id()), Some(robot.clone()));
    assert_eq!(ok(catalogue.find("R2-D2")), Some(robot.clone()));
    assert_eq!(ok(catalogue.list()), [robot]);
}

fn every_type_and_year_is_stored(catalogue: &dyn Catalogue) {
    for robot_type in Field::TYPE.choices() {
        for year in [0, 1, 1977, 2_147_483_648, 9_007_199_254_740_993, i64::MAX] {
            let name = format!("{robot_type} of {year}");
            let robot = ok(catalogue.add(Draft::new(&name, &**robot_type, year)));
            let kept = get(catalogue, robot.id());
            assert_eq!(kept.as_ref(), Some(&robot));
            let values = (robot.robot_type(), robot.year());
            assert_eq!(values, (Some(&**robot_type), Some(year)));
        }
    }
}

fn taken_name_is_rejected(catalogue: &dyn Catalogue) {
    let robots = [add(catalogue, "a"), add(catalogue, "b")];
    let taken = || Draft::new("a", "virtual", 3);
    let is_taken = [Violation::NAME_TAKEN];
    assert_rejected(catalogue.add(taken()), &is_taken);
    assert_rejected(catalogue.insert(valid(taken())), &is_taken);
    assert_rejected(catalogue.replace(robots[1].id(), taken()), &is_taken);
    assert_rejected(catalogue.patch(robots[1].id(), named("a")), &is_taken);
    assert_eq!(ok(catalogue.list()), robots);
}

fn all_violations_are_reported(catalogue: &dyn Catalogue) {
    let robots = [add(catalogue, "a"), add(catalogue, "b")];
    let id = robots[0].id();
    let not_a_choice = || Violation::new("type", NOT_A_CHOICE);
    let too_small = Violation::new("year", "The year cannot be less than zero");
    let wrong = || Draft::new("b", "toaster", -1);
    let all = [not_a_choice(), Violation::NAME_TAKEN, too_small];
    assert_rejected(catalogue.add(wrong()), &all);
    assert_rejected(catalogue.replace(id, wrong()), &all);
    assert_rejected(catalogue.patch(id, wrong()), &all);
    // Another name, and the robot's own.
    let result = catalogue.add(Draft::new("B", "toaster", 0));
    assert_rejected(result, &[not_a_choice()]);
    let result = catalogue.replace(id, Draft::new("a", "toaster", 0));
    assert_rejected(result, &[not_a_choice()]);
    let missing = [Field::TYPE, Field::NAME, Field::YEAR].map(|field| Violation::missing(&field));
    assert_rejected(catalogue.add(Draft::default()), &missing);
    assert_rejected(catalogue.patch(id, named("")), &missing[1..2]);
    let broken = [
        "The name must be at most 255 characters long",
        "The name must not contain the NUL character (U+0000)",
    ];
    let broken = broken.map(|message| Violation::new("name", message));
    assert_rejected(
        catalogue.add(draft(&"\0".repeat(NAME_LENGTH_LIMIT + 1))),
        &broken,
    );
    assert_eq!(ok(catalogue.list()), robots);
}

fn replace_sets_all_members(catalogue: &dyn Catalogue) {
    let id = add(catalogue, "R2-D2").id();
    let other = add(catalogue, "C-3PO");
    // It may keep its name, and all of its members.
    let drafts = [
        Draft::new("R2-D2", "mechanical", 0),
        Draft::new("HAL", "virtual", 2001),
        Draft::new("HAL", "virtual", 2001),
    ];
    for (number, draft) in (3..).zip(drafts) {
        ok(catalogue.replace(id, draft.clone()));
        let updated = valid(draft).with_id(id).with_revision(revision(number));
        assert_eq!(get(catalogue, id).as_ref(), Some(&updated));
        assert_eq!(ok(catalogue.list()), [other.clone(), updated]);
    }
}

fn change_of_missing_robot_is_not_found(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "a");
    let gone = add(catalogue, "b").id();
    ok(catalogue.delete(gone));
    for draft in [draft("c"), draft("a"), Draft::new("a", "toaster", -1)] {
        assert_not_found(catalogue.replace(gone, draft), gone);
    }
    for draft in [Draft::default(), named("a"), named("")] {
        assert_not_found(catalogue.patch(gone, draft), gone);
    }
    assert_not_found(catalogue.delete(gone), gone);
    assert_eq!(ok(catalogue.list()), [robot]);
}

fn patch_changes_only_given_members(catalogue: &dyn Catalogue) {
    let id = add(catalogue, "R2-D2").id();
    let patch = |draft: Draft| ok(catalogue.patch(id, draft));
    let now = |name, robot_type, year| {
        let expected = Draft::new(name, robot_type, year);
        assert_eq!(get(catalogue, id).map(Draft::from), Some(expected));
    };
    patch(Draft {
        year: Some(1980),
        ..Draft::default()
    });
    now("R2-D2", "droid", 1980);
    patch(named("HAL"));
    now("HAL", "droid", 1980);
    patch(Draft {
        robot_type: Some("virtual".into()),
        ..Draft::default()
    });
    now("HAL", "virtual", 1980);
    patch(Draft::default());
    now("HAL", "virtual", 1980);
    patch(Draft::new("Marvin", "mechanical", 1978));
    now("Marvin", "mechanical", 1978);
    assert_found(catalogue, "", &["Marvin"]);
}

fn released_name_can_be_used_again(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "a");
    ok(catalogue.replace(robot.id(), draft("b")));
    assert_eq!(ok(catalogue.find("a")), None);
    let second = add(catalogue, "a");
    ok(catalogue.delete(second.id()));
    let third = add(catalogue, "a");
    assert_eq!(ok(catalogue.find("a")), Some(third));
    assert_found(catalogue, "", &["a", "b"]);
}

fn deleted_robot_is_not_found(catalogue: &dyn Catalogue) {
    let (robot, other) = (add(catalogue, "a"), add(catalogue, "b"));
    ok(catalogue.delete(robot.id()));
    assert_eq!(get(catalogue, robot.id()), None);
    assert_eq!(ok(catalogue.find("a")), None);
    assert_not_found(catalogue.delete(robot.id()), robot.id());
    assert_eq!(ok(catalogue.list()), [other]);
}

fn change_is_not_cancelled_by_dropping_its_result(catalogue: &dyn Catalogue) {
    // The test of this case waits for a store that never does it.
    const TIMEOUT: Duration = Duration::from_secs(if cfg!(test) { 5 } else { 60 });
    let pending = catalogue.start(insert("a"), None);
    // A store may do nothing until the caller waits.
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
