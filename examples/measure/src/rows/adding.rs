//! Robots added under load, each on disk before it is answered: commits that are shared
//! against commits of one robot each, and against a server that does not wait for the disk.

use std::time::Duration;

use crate::{
    load::{Load, Outcome},
    plan::{Plan, UNTIL_THE_LOG_HAS_GROWN, url},
    requests,
    rounds::{Bound, Series, Unit},
    subject::Subject,
    table::Row,
};

/// The servers that take turns.
const VARIANTS: [&[&str]; 5] = [
    &["--without-index"],
    &["--one-by-one", "--without-index"],
    &[],
    &["--one-by-one"],
    &["--unsynced"],
];

pub(super) fn over_sqlite(plan: &Plan) -> Result<Vec<Row>, String> {
    let start = |variant| Subject::start(&url(&plan.own_store(plan.some)?), variant);
    let subjects: Vec<Subject> = VARIANTS.into_iter().map(start).collect::<Result<_, _>>()?;
    for subject in &subjects {
        let_the_log_grow(subject)?;
    }
    let mut rates: [Series; VARIANTS.len()] = Default::default();
    let (mut tail, mut middle) = (Series::default(), Series::default());
    for round in 0..plan.rounds {
        for (number, (subject, rates)) in subjects.iter().zip(&mut rates).enumerate() {
            let outcome = add(plan.run, subject)?;
            rates.push(outcome.writes_per_second());
            if VARIANTS[number].is_empty() {
                tail.push(outcome.writes_within(99));
                middle.push(outcome.writes_within(50));
            }
        }
        plan.say(&format!("round {} of {}", round + 1, plan.rounds));
    }
    let latency = Row::compared(
        "POST durable, with the index: the 99th percentile of the time to an answer",
        Unit::Time,
        &tail,
        ("the 50th", &middle),
        &tail.over(&middle),
        Bound::Below(5.0),
    );
    let mut rows = comparisons(&rates);
    rows.push(latency);
    Ok(rows)
}

/// Writes before writes are measured.
pub(super) fn let_the_log_grow(subject: &Subject) -> Result<(), String> {
    add(UNTIL_THE_LOG_HAS_GROWN, subject).map(drop)
}

fn add(length: Duration, subject: &Subject) -> Result<Outcome, String> {
    let load = Load {
        address: subject.address,
        connections: 64,
        length,
    };
    load.run(requests::new_robots(subject.address))?.flawless()
}

fn comparisons(rates: &[Series; VARIANTS.len()]) -> Vec<Row> {
    let [plain, plain_alone, indexed, indexed_alone, unsynced] = rates;
    let alone = "one by one, no index";
    [
        ("without the index", plain, alone, plain_alone, 6.0),
        ("with the index", indexed, alone, plain_alone, 3.0),
        (
            "with the index",
            indexed,
            "one by one, with it",
            indexed_alone,
            1.0,
        ),
        (
            "with the index",
            indexed,
            "by hand, unsynced, no index",
            unsynced,
            1.0,
        ),
    ]
    .into_iter()
    .map(|(which, ours, name, other, bound)| {
        Row::compared(
            format!("POST durable, SQLite, 64 connections, {which}"),
            Unit::PerSecond,
            ours,
            (name, other),
            &ours.over(other),
            Bound::AtLeast(bound),
        )
    })
    .collect()
}
