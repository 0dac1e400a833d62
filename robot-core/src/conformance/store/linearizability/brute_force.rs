//! Test of the checker against a brute-force search that tries all orders.

use std::collections::HashSet;

use super::{
    checker::{check, outcomes, unclaimed_ids},
    event::Event,
    model::Model,
    operation::{CallResult, Operation},
    random::{Caller, Kind, NAMES, Random},
};
use crate::{
    catalogue::CatalogueExt,
    conformance::store::{add_all, ok},
    memory::MemoryCatalogue,
    model::RobotId,
};

/// Whether any order explains the answers, without the shortcuts of the checker.
fn has_order(model: &Model, left: &[Event], unclaimed: &HashSet<RobotId>) -> bool {
    let comes_first = |index: usize| {
        let mut others = left.to_vec();
        let event = others.remove(index);
        let is_before = |other: &Event| other.returned < event.called && !other.answer.is_open();
        let outcomes = outcomes(&event, unclaimed);
        let mut models = outcomes
            .iter()
            .filter_map(|answer| model.after(&event.operation, answer));
        !others.iter().any(is_before) && models.any(|after| has_order(&after, &others, unclaimed))
    };
    left.iter().all(|event| event.answer.is_open()) || (0..left.len()).any(comes_first)
}

const KINDS: [Kind; 6] = [
    Kind::Add,
    Kind::Replace,
    Kind::Patch,
    Kind::Delete,
    Kind::Get,
    Kind::Page,
];

/// Some operations on a correct catalogue, with random times, so that some overlap, and some with
/// an open outcome.
fn random_history(random: &mut Random, catalogue: &MemoryCatalogue) -> Vec<Event> {
    let start = ok(catalogue.list());
    let mut caller = Caller::new(random.next(), &start);
    let events = (0..6).map(|time| {
        let operation = caller.next_operation(&KINDS);
        let answer = operation.call(catalogue);
        caller.learn(&answer);
        // Calls have even times and returns odd ones, so that none coincide.
        let called = 8 * time + 2 * u64::from(random.below(12));
        Event {
            thread: 0,
            answer: match random.below(12) {
                0 if !matches!(operation, Operation::Get(_) | Operation::Page(..)) => {
                    CallResult::Unknown
                }
                1 => CallResult::Unavailable,
                _ => answer,
            },
            operation,
            called,
            returned: called + 1 + 2 * u64::from(random.below(12)),
        }
    });
    events.collect()
}

#[test]
fn checker_agrees_with_brute_force_search() {
    let mut random = Random::new(2001);
    let mut found = [0, 0];
    for _ in 0..3000 {
        let catalogue = MemoryCatalogue::new();
        add_all(&catalogue, &NAMES[..usize::from(random.below(3))]);
        let start = Model::new(&ok(catalogue.list()));
        let events = random_history(&mut random, &catalogue);
        let unclaimed = unclaimed_ids(&start, &events);
        let expected = has_order(&start, &events, &unclaimed);
        assert_eq!(
            check(&start, &events).is_ok(),
            expected,
            "{start:?} {events:#?}"
        );
        found[usize::from(expected)] += 1;
    }
    assert!(found.iter().all(|count| *count > 500), "{found:?}");
}
