//! Cases: inserts, updates and deletes.

use std::collections::HashSet;

use super::{Run, add, assert_found, assert_not_found, assert_rejected, draft, get, ok, valid};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Pages},
    conformance::{Case, cases},
    model::{Draft, Field, NAME_LENGTH_LIMIT, Revision, RobotId, Rule, Violation},
};

pub(super) const CASES: &[Case<Run>] = cases![
    empty_catalogue_has_no_robots,
    added_robot_can_be_read,
    every_type_and_year_is_stored,
    new_ids_are_unique,
    add_with_taken_name_is_rejected,
    add_reports_all_violations,
    replace_sets_all_members,
    replace_may_keep_the_name,
    replace_with_taken_name_changes_nothing,
    replace_of_missing_robot_is_not_found,
    replace_reports_all_violations,
    patch_changes_only_given_members,
    patch_checks_the_rules,
    released_name_can_be_used_again,
    deleted_robot_is_not_found,
];

fn empty_catalogue_has_no_robots(catalogue: &dyn Catalogue) {
    assert_found(catalogue, "", &[]);
    assert_found(catalogue, "x", &[]);
    for number in [1, 2, i64::MAX] {
        let id = RobotId::new(number).unwrap_or_else(|| panic!("{number} is positive"));
        assert_eq!(get(catalogue, id), None);
        assert_not_found(catalogue.delete(id), id);
    }
    assert_eq!(ok(catalogue.find("x")), None);
    assert!(Pages::new(catalogue, "").next().is_none());
}

fn added_robot_can_be_read(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    assert_eq!(robot.name(), "R2-D2");
    assert_eq!(robot.robot_type(), "droid");
    assert_eq!(robot.year(), 1977);
    assert_eq!(get(catalogue, robot.id()), Some(robot.clone()));
    assert_eq!(ok(catalogue.find("R2-D2")), Some(robot.clone()));
    assert_eq!(ok(catalogue.list()), [robot]);
}

fn every_type_and_year_is_stored(catalogue: &dyn Catalogue) {
    for robot_type in Field::TYPE.choices() {
        for year in [0, 1, 1977, 2_147_483_648, 9_007_199_254_740_993, i64::MAX] {
            let name = format!("{robot_type} of {year}");
            let robot = ok(catalogue.add(Draft::new(&name, *robot_type, year)));
            let kept = get(catalogue, robot.id());
            assert_eq!(kept.as_ref(), Some(&robot));
            assert_eq!((robot.robot_type(), robot.year()), (*robot_type, year));
        }
    }
}

fn new_ids_are_unique(catalogue: &dyn Catalogue) {
    let mut used = HashSet::new();
    for round in 0..20 {
        let robot = add(catalogue, "again");
        assert!(used.insert(robot.id()), "{} was reused", robot.id());
        if round % 2 == 0 {
            let other = add(catalogue, &format!("other {round}"));
            assert!(used.insert(other.id()), "{} was reused", other.id());
            ok(catalogue.delete(other.id()));
        }
        ok(catalogue.delete(robot.id()));
    }
}

fn add_with_taken_name_is_rejected(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    assert_rejected(
        catalogue.add(Draft::new("R2-D2", "virtual", 3)),
        &[Violation::NAME_TAKEN],
    );
    assert_rejected(
        catalogue.insert(valid(Draft::new("R2-D2", "mechanical", 4))),
        &[Violation::NAME_TAKEN],
    );
    assert_eq!(ok(catalogue.list()), [robot]);
}

fn add_reports_all_violations(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    assert_rejected(
        catalogue.add(Draft::new("R2-D2", "toaster", -1)),
        &[
            Violation::new(Field::TYPE, Rule::NotAChoice),
            Violation::NAME_TAKEN,
            Violation::new(Field::YEAR, Rule::TooSmall),
        ],
    );
    assert_rejected(
        catalogue.add(Draft::new("r2-d2", "toaster", 0)),
        &[Violation::new(Field::TYPE, Rule::NotAChoice)],
    );
    assert_rejected(
        catalogue.add(Draft::default()),
        &[
            Violation::new(Field::TYPE, Rule::Missing),
            Violation::new(Field::NAME, Rule::Missing),
            Violation::new(Field::YEAR, Rule::Missing),
        ],
    );
    assert_rejected(
        catalogue.add(Draft::new("\0".repeat(NAME_LENGTH_LIMIT + 1), "droid", 0)),
        &[
            Violation::new(Field::NAME, Rule::TooLong),
            Violation::new(Field::NAME, Rule::ContainsNul),
        ],
    );
    assert_eq!(ok(catalogue.list()), [robot]);
}

fn replace_sets_all_members(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    let other = add(catalogue, "C-3PO");
    ok(catalogue.replace(robot.id(), Draft::new("HAL", "virtual", 2001)));
    let updated = valid(Draft::new("HAL", "virtual", 2001)).with_id(robot.id());
    let updated = updated.with_revision(Revision::FIRST.next());
    assert_eq!(get(catalogue, robot.id()), Some(updated.clone()));
    assert_eq!(ok(catalogue.list()), [other, updated]);
}

fn replace_may_keep_the_name(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    ok(catalogue.replace(robot.id(), Draft::new("R2-D2", "mechanical", 0)));
    let updated = valid(Draft::new("R2-D2", "mechanical", 0)).with_id(robot.id());
    let updated = updated.with_revision(Revision::FIRST.next());
    assert_eq!(ok(catalogue.list()), std::slice::from_ref(&updated));
    ok(catalogue.replace(robot.id(), updated.clone().into()));
    let next = updated.revision().next();
    assert_eq!(ok(catalogue.list()), [updated.with_revision(next)]);
}

fn replace_with_taken_name_changes_nothing(catalogue: &dyn Catalogue) {
    let (first, second) = (add(catalogue, "a"), add(catalogue, "b"));
    assert_rejected(
        catalogue.replace(second.id(), Draft::new("a", "virtual", 5)),
        &[Violation::NAME_TAKEN],
    );
    assert_eq!(ok(catalogue.list()), [first, second]);
}

fn replace_of_missing_robot_is_not_found(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "a");
    let gone = add(catalogue, "b").id();
    ok(catalogue.delete(gone));
    for draft in [draft("c"), draft("a"), Draft::new("a", "toaster", -1)] {
        assert_not_found(catalogue.replace(gone, draft), gone);
    }
    assert_eq!(ok(catalogue.list()), [robot]);
}

fn replace_reports_all_violations(catalogue: &dyn Catalogue) {
    let (robot, other) = (add(catalogue, "a"), add(catalogue, "b"));
    assert_rejected(
        catalogue.replace(robot.id(), Draft::new("b", "toaster", -1)),
        &[
            Violation::new(Field::TYPE, Rule::NotAChoice),
            Violation::NAME_TAKEN,
            Violation::new(Field::YEAR, Rule::TooSmall),
        ],
    );
    // Its own name is not taken.
    assert_rejected(
        catalogue.replace(robot.id(), Draft::new("a", "toaster", 0)),
        &[Violation::new(Field::TYPE, Rule::NotAChoice)],
    );
    assert_eq!(ok(catalogue.list()), [robot, other]);
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
    patch(Draft {
        name: Some("HAL".to_owned()),
        ..Draft::default()
    });
    now("HAL", "droid", 1980);
    patch(Draft {
        robot_type: Some("virtual".to_owned()),
        ..Draft::default()
    });
    now("HAL", "virtual", 1980);
    patch(Draft::default());
    now("HAL", "virtual", 1980);
    patch(Draft::new("Marvin", "mechanical", 1978));
    now("Marvin", "mechanical", 1978);
    assert_found(catalogue, "", &["Marvin"]);
}

fn patch_checks_the_rules(catalogue: &dyn Catalogue) {
    let (robot, other) = (add(catalogue, "a"), add(catalogue, "b"));
    let named = |name: &str| Draft {
        name: Some(name.to_owned()),
        ..Draft::default()
    };
    assert_rejected(
        catalogue.patch(robot.id(), named("b")),
        &[Violation::NAME_TAKEN],
    );
    assert_rejected(
        catalogue.patch(robot.id(), named("")),
        &[Violation::new(Field::NAME, Rule::Missing)],
    );
    let everything_wrong = Draft {
        year: Some(-1),
        ..named("b")
    };
    assert_rejected(
        catalogue.patch(robot.id(), everything_wrong.clone()),
        &[
            Violation::NAME_TAKEN,
            Violation::new(Field::YEAR, Rule::TooSmall),
        ],
    );
    ok(catalogue.patch(robot.id(), named("a")));
    let robot = robot.with_revision(Revision::FIRST.next());
    ok(catalogue.delete(other.id()));
    for draft in [Draft::default(), named("c"), everything_wrong] {
        assert_not_found(catalogue.patch(other.id(), draft), other.id());
    }
    assert_eq!(ok(catalogue.list()), [robot]);
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
