//! The search is held against one that nobody needs to understand: all orders are tried.

use std::collections::HashSet;

use super::{
    history::Event,
    model::Model,
    operation::{Answer, Operation},
    order::{find, outcomes, strangers},
    random::{Caller, Kind, NAMES, Random},
};
use crate::{
    catalogue::Catalogue,
    conformance::store::{add_all, good},
    memory::MemoryCatalogue,
    model::RobotId,
};

/// Whether one of all orders fits, without any of what makes the search short.
fn has_order(model: &Model, left: &[Event], strangers: &HashSet<RobotId>) -> bool {
    let comes_first = |place: usize| {
        let mut others = left.to_vec();
        let event = others.remove(place);
        let is_before = |other: &Event| other.returned < event.called && !other.answer.is_open();
        let outcomes = outcomes(&event, strangers);
        let mut models = outcomes
            .iter()
            .filter_map(|answer| model.after(&event.operation, answer));
        !others.iter().any(is_before) && models.any(|after| has_order(&after, &others, strangers))
    };
    left.iter().all(|event| event.answer.is_open()) || (0..left.len()).any(comes_first)
}

const KINDS: [Kind; 6] = [
    Kind::Add,
    Kind::Replace,
    Kind::Amend,
    Kind::Delete,
    Kind::Get,
    Kind::Page,
];

/// Few operations on a good catalogue, written down wrongly: with other moments, in which some
/// overlap, and some with an open outcome.
fn doubtful_history(random: &mut Random, catalogue: &MemoryCatalogue) -> Vec<Event> {
    let start = good(catalogue.list());
    let mut caller = Caller::new(random.next(), &start);
    let events = (0..6).map(|moment| {
        let operation = caller.draw(&KINDS);
        let answer = operation.call(catalogue);
        caller.learn(&answer);
        // Calls are at even moments and returns at odd ones, so that none coincide.
        let called = 8 * moment + 2 * u64::from(random.below(12));
        Event {
            thread: 0,
            answer: match random.below(12) {
                0 if !matches!(operation, Operation::Get(_) | Operation::Page(_)) => {
                    Answer::Unknown
                }
                1 => Answer::Unavailable,
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
fn the_search_finds_an_order_where_trying_all_of_them_does() {
    let mut random = Random::new(2001);
    let mut found = [0, 0];
    for _ in 0..3000 {
        let catalogue = MemoryCatalogue::new();
        add_all(&catalogue, &NAMES[..usize::from(random.below(3))]);
        let start = Model::new(&good(catalogue.list()));
        let events = doubtful_history(&mut random, &catalogue);
        let strangers = strangers(&start, &events);
        let expected = has_order(&start, &events, &strangers);
        assert_eq!(
            find(&start, &events).is_ok(),
            expected,
            "{start:?} {events:#?}"
        );
        found[usize::from(expected)] += 1;
    }
    assert!(found.iter().all(|count| *count > 500), "{found:?}");
}
