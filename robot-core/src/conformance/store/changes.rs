//! Adding, updating and deleting.

use std::collections::HashSet;

use super::{Run, add, assert_found, assert_not_found, assert_rejected, draft, get, good, valid};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Pages},
    conformance::{Case, cases},
    model::{Draft, NAME_LENGTH_LIMIT, RobotId, RobotType, Violation},
};

pub(super) const CASES: &[Case<Run>] = cases![
    an_empty_catalogue_has_nothing,
    a_robot_that_was_added_is_there,
    every_type_and_year_is_kept,
    ids_are_distinct_and_never_come_back,
    a_taken_name_is_refused,
    all_broken_rules_are_reported_at_once,
    an_update_sets_all_three_members,
    an_update_may_keep_the_name,
    an_update_to_a_taken_name_changes_nothing,
    an_update_of_a_missing_robot_is_not_found,
    a_replacement_reports_all_broken_rules,
    an_amendment_changes_only_what_it_has,
    an_amendment_obeys_the_rules,
    a_name_that_was_given_up_is_free,
    a_deleted_robot_is_gone,
];

fn an_empty_catalogue_has_nothing(catalogue: &dyn Catalogue) {
    assert_found(catalogue, "", &[]);
    assert_found(catalogue, "x", &[]);
    for number in [1, 2, i64::MAX] {
        let id = RobotId::new(number).unwrap_or_else(|| panic!("{number} is positive"));
        assert_eq!(get(catalogue, id), None);
        assert_not_found(catalogue.delete(id), id);
    }
    assert_eq!(good(catalogue.find("x")), None);
    assert!(Pages::new(catalogue, "").next().is_none());
}

fn a_robot_that_was_added_is_there(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    assert_eq!(robot.name(), "R2-D2");
    assert_eq!(robot.robot_type(), RobotType::Droid);
    assert_eq!(robot.year(), 1977);
    assert_eq!(get(catalogue, robot.id()), Some(robot.clone()));
    assert_eq!(good(catalogue.find("R2-D2")), Some(robot.clone()));
    assert_eq!(good(catalogue.list()), [robot]);
}

fn every_type_and_year_is_kept(catalogue: &dyn Catalogue) {
    for robot_type in RobotType::ALL {
        for year in [0, 1, 1977, 2_147_483_648, 9_007_199_254_740_993, i64::MAX] {
            let name = format!("{robot_type} of {year}");
            let robot = good(catalogue.add(Draft::new(&name, robot_type.as_str(), year)));
            let kept = get(catalogue, robot.id());
            assert_eq!(kept.as_ref(), Some(&robot));
            assert_eq!((robot.robot_type(), robot.year()), (robot_type, year));
        }
    }
}

fn ids_are_distinct_and_never_come_back(catalogue: &dyn Catalogue) {
    let mut given = HashSet::new();
    for round in 0..20 {
        let robot = add(catalogue, "reborn");
        assert!(given.insert(robot.id()), "{} came back", robot.id());
        if round % 2 == 0 {
            let other = add(catalogue, &format!("other {round}"));
            assert!(given.insert(other.id()), "{} came back", other.id());
            good(catalogue.delete(other.id()));
        }
        good(catalogue.delete(robot.id()));
    }
}

fn a_taken_name_is_refused(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    assert_rejected(
        catalogue.add(Draft::new("R2-D2", "virtual", 3)),
        &[Violation::NameTaken],
    );
    assert_rejected(
        catalogue.insert(valid(draft("R2-D2"))),
        &[Violation::NameTaken],
    );
    assert_eq!(good(catalogue.list()), [robot]);
}

fn all_broken_rules_are_reported_at_once(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    assert_rejected(
        catalogue.add(Draft::new("R2-D2", "toaster", -1)),
        &[
            Violation::TypeUnknown,
            Violation::NameTaken,
            Violation::YearNegative,
        ],
    );
    assert_rejected(
        catalogue.add(Draft::new("r2-d2", "toaster", 0)),
        &[Violation::TypeUnknown],
    );
    assert_rejected(
        catalogue.add(Draft::default()),
        &[
            Violation::TypeMissing,
            Violation::NameMissing,
            Violation::YearMissing,
        ],
    );
    assert_rejected(
        catalogue.add(Draft::new("\0".repeat(NAME_LENGTH_LIMIT + 1), "droid", 0)),
        &[Violation::NameTooLong, Violation::NameContainsNul],
    );
    assert_eq!(good(catalogue.list()), [robot]);
}

fn an_update_sets_all_three_members(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    let other = add(catalogue, "C-3PO");
    good(catalogue.replace(robot.id(), Draft::new("HAL", "virtual", 2001)));
    let updated = valid(Draft::new("HAL", "virtual", 2001)).with_id(robot.id());
    assert_eq!(get(catalogue, robot.id()), Some(updated.clone()));
    assert_eq!(good(catalogue.list()), [other, updated]);
}

fn an_update_may_keep_the_name(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    good(catalogue.replace(robot.id(), Draft::new("R2-D2", "mechanical", 0)));
    let updated = valid(Draft::new("R2-D2", "mechanical", 0)).with_id(robot.id());
    assert_eq!(good(catalogue.list()), std::slice::from_ref(&updated));
    good(catalogue.replace(robot.id(), updated.clone().into()));
    assert_eq!(good(catalogue.list()), [updated]);
}

fn an_update_to_a_taken_name_changes_nothing(catalogue: &dyn Catalogue) {
    let (first, second) = (add(catalogue, "a"), add(catalogue, "b"));
    assert_rejected(
        catalogue.replace(second.id(), Draft::new("a", "virtual", 5)),
        &[Violation::NameTaken],
    );
    assert_eq!(good(catalogue.list()), [first, second]);
}

fn an_update_of_a_missing_robot_is_not_found(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "a");
    let gone = add(catalogue, "b").id();
    good(catalogue.delete(gone));
    for draft in [draft("c"), draft("a"), Draft::new("a", "toaster", -1)] {
        assert_not_found(catalogue.replace(gone, draft), gone);
    }
    assert_eq!(good(catalogue.list()), [robot]);
}

fn a_replacement_reports_all_broken_rules(catalogue: &dyn Catalogue) {
    let (robot, other) = (add(catalogue, "a"), add(catalogue, "b"));
    assert_rejected(
        catalogue.replace(robot.id(), Draft::new("b", "toaster", -1)),
        &[
            Violation::TypeUnknown,
            Violation::NameTaken,
            Violation::YearNegative,
        ],
    );
    // Its own name is not another's.
    assert_rejected(
        catalogue.replace(robot.id(), Draft::new("a", "toaster", 0)),
        &[Violation::TypeUnknown],
    );
    assert_eq!(good(catalogue.list()), [robot, other]);
}

fn an_amendment_changes_only_what_it_has(catalogue: &dyn Catalogue) {
    let id = add(catalogue, "R2-D2").id();
    let amend = |draft: Draft| good(catalogue.amend(id, draft));
    let now = |name, robot_type, year| {
        let expected = valid(Draft::new(name, robot_type, year)).with_id(id);
        assert_eq!(get(catalogue, id), Some(expected));
    };
    amend(Draft {
        year: Some(1980),
        ..Draft::default()
    });
    now("R2-D2", "droid", 1980);
    amend(Draft {
        name: Some("HAL".to_owned()),
        ..Draft::default()
    });
    now("HAL", "droid", 1980);
    amend(Draft {
        robot_type: Some("virtual".to_owned()),
        ..Draft::default()
    });
    now("HAL", "virtual", 1980);
    amend(Draft::default());
    now("HAL", "virtual", 1980);
    amend(Draft::new("Marvin", "mechanical", 1978));
    now("Marvin", "mechanical", 1978);
    assert_found(catalogue, "", &["Marvin"]);
}

fn an_amendment_obeys_the_rules(catalogue: &dyn Catalogue) {
    let (robot, other) = (add(catalogue, "a"), add(catalogue, "b"));
    let named = |name: &str| Draft {
        name: Some(name.to_owned()),
        ..Draft::default()
    };
    assert_rejected(
        catalogue.amend(robot.id(), named("b")),
        &[Violation::NameTaken],
    );
    assert_rejected(
        catalogue.amend(robot.id(), named("")),
        &[Violation::NameMissing],
    );
    let everything_wrong = Draft {
        year: Some(-1),
        ..named("b")
    };
    assert_rejected(
        catalogue.amend(robot.id(), everything_wrong.clone()),
        &[Violation::NameTaken, Violation::YearNegative],
    );
    good(catalogue.amend(robot.id(), named("a")));
    good(catalogue.delete(other.id()));
    for draft in [Draft::default(), named("c"), everything_wrong] {
        assert_not_found(catalogue.amend(other.id(), draft), other.id());
    }
    assert_eq!(good(catalogue.list()), [robot]);
}

fn a_name_that_was_given_up_is_free(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "a");
    good(catalogue.replace(robot.id(), draft("b")));
    assert_eq!(good(catalogue.find("a")), None);
    let second = add(catalogue, "a");
    good(catalogue.delete(second.id()));
    let third = add(catalogue, "a");
    assert_eq!(good(catalogue.find("a")), Some(third));
    assert_found(catalogue, "", &["a", "b"]);
}

fn a_deleted_robot_is_gone(catalogue: &dyn Catalogue) {
    let (robot, other) = (add(catalogue, "a"), add(catalogue, "b"));
    good(catalogue.delete(robot.id()));
    assert_eq!(get(catalogue, robot.id()), None);
    assert_eq!(good(catalogue.find("a")), None);
    assert_not_found(catalogue.delete(robot.id()), robot.id());
    assert_eq!(good(catalogue.list()), [other]);
}
