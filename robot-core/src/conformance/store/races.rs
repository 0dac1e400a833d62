//! Cases: concurrent callers. Each race is run many times, because a bug shows only sometimes.

use std::collections::HashSet;

use super::{Run, add, assert_found, assert_not_found, assert_rejected, draft, get, ok};
use crate::{
    catalogue::{Catalogue, CatalogueExt},
    conformance::{Case, at_once, cases, read_meanwhile},
    model::{Draft, Robot, Violation},
};

/// The number of runs of each race.
const ROUNDS: usize = 50;

pub(super) const CASES: &[Case<Run>] = cases![
    concurrent_equal_inserts_succeed_once,
    concurrent_different_inserts_all_succeed,
    concurrent_renames_to_one_name_succeed_once,
    concurrent_deletes_succeed_once,
    concurrent_patches_of_different_members_are_kept,
    reader_never_sees_a_partial_update,
];

/// Asserts that one result is `Ok` and the others are rejected because the name is taken.
fn assert_one_gets_the_name<T: std::fmt::Debug>(results: Vec<crate::Result<T>>) {
    let (successes, rejections): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!(successes.len(), 1);
    for result in rejections {
        assert_rejected(result, &[Violation::NAME_TAKEN]);
    }
}

fn concurrent_equal_inserts_succeed_once(catalogue: &dyn Catalogue) {
    assert_one_gets_the_name(at_once(24, |_| catalogue.add(draft("R2-D2"))));
    // Callers that insert the same names in the same order conflict again and again.
    let names: Vec<_> = (0..4 * ROUNDS).map(|round| format!("{round:04}")).collect();
    let added = at_once(4, |_| {
        let added = names.iter().map(|name| catalogue.add(draft(name)).is_ok());
        added.filter(|is_added| *is_added).count()
    });
    assert_eq!(added.into_iter().sum::<usize>(), names.len());
    let listed = ok(catalogue.list());
    let expected = names.iter().map(String::as_str).chain(["R2-D2"]);
    assert!(listed.iter().map(Robot::name).eq(expected));
}

fn concurrent_different_inserts_all_succeed(catalogue: &dyn Catalogue) {
    let added = at_once(16, |thread| {
        let names = (0..25).map(|number| format!("{thread} {number}"));
        names
            .map(|name| add(catalogue, &name).id())
            .collect::<Vec<_>>()
    });
    let ids: HashSet<_> = added.into_iter().flatten().collect();
    assert_eq!(ids.len(), 400);
    assert_eq!(ok(catalogue.list()).len(), 400);
}

fn concurrent_renames_to_one_name_succeed_once(catalogue: &dyn Catalogue) {
    let robots: Vec<_> = (0..6)
        .map(|number| add(catalogue, &number.to_string()))
        .collect();
    for round in 0..ROUNDS {
        let name = format!("chosen {round}");
        assert_one_gets_the_name(at_once(robots.len(), |number| {
            catalogue.replace(robots[number].id(), draft(&name))
        }));
        assert_found(catalogue, &name, &[&name]);
    }
    assert_eq!(ok(catalogue.list()).len(), robots.len());
}

fn concurrent_deletes_succeed_once(catalogue: &dyn Catalogue) {
    for _ in 0..ROUNDS {
        let id = add(catalogue, "R2-D2").id();
        let results = at_once(4, |_| catalogue.delete(id));
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        for result in results.into_iter().filter(Result::is_err) {
            assert_not_found(result, id);
        }
    }
}

fn concurrent_patches_of_different_members_are_kept(catalogue: &dyn Catalogue) {
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
            ok(catalogue.patch(id, draft));
        });
        assert_eq!(get(catalogue, id).map(Draft::from), Some(expected));
    }
}

fn reader_never_sees_a_partial_update(catalogue: &dyn Catalogue) {
    let id = add(catalogue, "one").id();
    let states = [
        Draft::new("one", "droid", 1977),
        Draft::new("two", "virtual", 2001),
    ];
    let write = || {
        for round in 0..100 {
            ok(catalogue.replace(id, states[round % 2].clone()));
        }
    };
    read_meanwhile(write, || {
        let robot = get(catalogue, id).unwrap_or_else(|| panic!("the robot is missing"));
        assert!(states.contains(&Draft::from(robot.clone())), "{robot:?}");
        let listed = ok(catalogue.list());
        assert_eq!(listed.len(), 1, "{listed:?}");
    });
}
