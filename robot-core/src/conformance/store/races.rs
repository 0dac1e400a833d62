//! Many callers at once.

use std::collections::HashSet;

use super::{Run, add, assert_found, assert_not_found, assert_rejected, draft, get, good};
use crate::{
    catalogue::Catalogue,
    conformance::{Case, at_once, cases},
    robot::Draft,
    rules::Violation,
};

pub(super) const CASES: &[Case<Run>] = cases![
    of_equal_inserts_at_once_one_succeeds,
    of_different_inserts_at_once_all_succeed,
    of_updates_to_one_name_at_once_one_succeeds,
    of_deletions_at_once_one_succeeds,
    a_reader_never_sees_half_an_update,
];

fn of_equal_inserts_at_once_one_succeeds(catalogue: &dyn Catalogue) {
    let results = at_once(24, |_| catalogue.add(draft("R2-D2")));
    let (added, refused): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!(added.len(), 1);
    for result in refused {
        assert_rejected(result, &[Violation::NameTaken]);
    }
    assert_found(catalogue, "", &["R2-D2"]);
}

fn of_different_inserts_at_once_all_succeed(catalogue: &dyn Catalogue) {
    let added = at_once(16, |thread| {
        let names = (0..25).map(|number| format!("{thread} {number}"));
        names
            .map(|name| add(catalogue, &name).id())
            .collect::<Vec<_>>()
    });
    let ids: HashSet<_> = added.into_iter().flatten().collect();
    assert_eq!(ids.len(), 400);
    assert_eq!(good(catalogue.list()).len(), 400);
}

fn of_updates_to_one_name_at_once_one_succeeds(catalogue: &dyn Catalogue) {
    let robots: Vec<_> = (0..12)
        .map(|number| add(catalogue, &number.to_string()))
        .collect();
    let results = at_once(robots.len(), |number| {
        catalogue.replace(robots[number].id(), draft("chosen"))
    });
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for result in results.into_iter().filter(Result::is_err) {
        assert_rejected(result, &[Violation::NameTaken]);
    }
    assert_found(catalogue, "chosen", &["chosen"]);
    assert_eq!(good(catalogue.list()).len(), robots.len());
}

fn of_deletions_at_once_one_succeeds(catalogue: &dyn Catalogue) {
    let id = add(catalogue, "R2-D2").id();
    let results = at_once(12, |_| catalogue.delete(id));
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for result in results.into_iter().filter(Result::is_err) {
        assert_not_found(result, id);
    }
}

fn a_reader_never_sees_half_an_update(catalogue: &dyn Catalogue) {
    let id = add(catalogue, "one").id();
    let states = [
        Draft::new("one", "droid", 1977),
        Draft::new("two", "virtual", 2001),
    ];
    at_once(5, |thread| {
        for round in 0..100 {
            if thread == 0 {
                good(catalogue.replace(id, states[round % 2].clone()));
            } else {
                let robot = get(catalogue, id).unwrap_or_else(|| panic!("the robot is gone"));
                assert!(states.contains(&Draft::from(robot.clone())), "{robot:?}");
                let listed = good(catalogue.list());
                assert_eq!(listed.len(), 1, "{listed:?}");
            }
        }
    });
}
