//! Cases: concurrent inserts. Other races are those of [`linearizability`](super::linearizability).

use std::collections::HashSet;

use super::{Run, add, assert_rejected, draft, ok};
use crate::{
    catalogue::{Catalogue, CatalogueExt},
    conformance::{Case, at_once, cases},
    model::{Robot, Violation},
};

pub(super) const CASES: &[Case<Run>] = cases![
    concurrent_equal_inserts_succeed_once,
    concurrent_different_inserts_all_succeed,
];

fn concurrent_equal_inserts_succeed_once(catalogue: &dyn Catalogue) {
    let results = at_once(24, |_| catalogue.add(draft("R2-D2")));
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for result in results.into_iter().filter(Result::is_err) {
        assert_rejected(result, &[Violation::NAME_TAKEN]);
    }
    // Callers that insert the same names in the same order conflict again and again.
    let names: Vec<_> = (0..200).map(|round| format!("{round:04}")).collect();
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
