//! Many callers at once. A race is lost only now and then, so each is run many times.

use crate::catalogue::CatalogueExt;
use std::collections::HashSet;

use super::{Run, add, assert_found, assert_not_found, assert_rejected, draft, get, good};
use crate::{
    catalogue::Catalogue,
    conformance::{Case, at_once, cases},
    model::{Draft, Robot, Violation},
};

/// How often a race is run.
const ROUNDS: usize = 50;

pub(super) const CASES: &[Case<Run>] = cases![
    of_equal_inserts_at_once_one_succeeds,
    of_different_inserts_at_once_all_succeed,
    of_updates_to_one_name_at_once_one_succeeds,
    of_deletions_at_once_one_succeeds,
    amendments_of_different_members_at_once_are_all_kept,
    a_reader_never_sees_half_an_update,
];

/// Asserts that one of the results is good and the others are rejected for the name.
fn assert_one_has_the_name<T: std::fmt::Debug>(results: Vec<crate::Result<T>>) {
    let (good, refused): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!(good.len(), 1);
    for result in refused {
        assert_rejected(result, &[Violation::NameTaken]);
    }
}

fn of_equal_inserts_at_once_one_succeeds(catalogue: &dyn Catalogue) {
    assert_one_has_the_name(at_once(24, |_| catalogue.add(draft("R2-D2"))));
    // Callers that insert the same names in the same order meet again and again.
    let names: Vec<_> = (0..4 * ROUNDS).map(|round| format!("{round:04}")).collect();
    let added = at_once(4, |_| {
        let added = names.iter().map(|name| catalogue.add(draft(name)).is_ok());
        added.filter(|is_added| *is_added).count()
    });
    assert_eq!(added.into_iter().sum::<usize>(), names.len());
    let listed = good(catalogue.list());
    let expected = names.iter().map(String::as_str).chain(["R2-D2"]);
    assert!(listed.iter().map(Robot::name).eq(expected));
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
    let robots: Vec<_> = (0..6)
        .map(|number| add(catalogue, &number.to_string()))
        .collect();
    for round in 0..ROUNDS {
        let name = format!("chosen {round}");
        assert_one_has_the_name(at_once(robots.len(), |number| {
            catalogue.replace(robots[number].id(), draft(&name))
        }));
        assert_found(catalogue, &name, &[&name]);
    }
    assert_eq!(good(catalogue.list()).len(), robots.len());
}

fn of_deletions_at_once_one_succeeds(catalogue: &dyn Catalogue) {
    for _ in 0..ROUNDS {
        let id = add(catalogue, "R2-D2").id();
        let results = at_once(4, |_| catalogue.delete(id));
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        for result in results.into_iter().filter(Result::is_err) {
            assert_not_found(result, id);
        }
    }
}

fn amendments_of_different_members_at_once_are_all_kept(catalogue: &dyn Catalogue) {
    let id = add(catalogue, "R2-D2").id();
    for round in 0..ROUNDS {
        let expected = Draft::new(
            format!("robot {round}"),
            ["virtual", "mechanical"][round % 2],
            2000 + i64::from(round % 7 == 0),
        );
        at_once(3, |thread| {
            let mut draft = Draft::default();
            match thread {
                0 => draft.name.clone_from(&expected.name),
                1 => draft.robot_type.clone_from(&expected.robot_type),
                _ => draft.year = expected.year,
            }
            good(catalogue.amend(id, draft));
        });
        assert_eq!(get(catalogue, id).map(Draft::from), Some(expected));
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
