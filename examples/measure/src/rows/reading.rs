//! Reads against fixed answers of the same server and of the same length: what is left of its
//! speed when the answer must be found.

use std::collections::BTreeSet;

use crate::{
    load::{Load, Source},
    plan::{Plan, url},
    requests,
    rounds::{Bound, Series, Unit, thousands},
    subject::Subject,
    table::Row,
};

/// How many robots the list has.
const LISTED: u64 = 1000;

/// How long a run is that only wakes everything up, compared with one that counts.
const WARM_UP: u32 = 10;

pub(super) fn one_over_sqlite(plan: &Plan) -> Result<Vec<Row>, String> {
    let subject = Subject::start(&url(&plan.store(plan.some)?), &[])?;
    let what = format!(
        "GET by id, SQLite, {} robots, 32 connections",
        thousands(plan.some)
    );
    one(plan, what, &subject, Bound::AtLeast(0.70))
}

pub(super) fn one_over_memory(plan: &Plan) -> Result<Vec<Row>, String> {
    let subject = Subject::start("memory:", &["--fill", &plan.some.to_string()])?;
    let what = format!(
        "GET by id, memory, {} robots, 32 connections",
        thousands(plan.some)
    );
    one(plan, what, &subject, Bound::AtLeast(0.85))
}

pub(super) fn list_over_sqlite(plan: &Plan) -> Result<Vec<Row>, String> {
    let subject = Subject::start(&url(&plan.store(LISTED)?), &[])?;
    let what = "GET list of 1,000, SQLite, 32 connections";
    list(plan, what, &subject, Bound::AtLeast(0.30))
}

pub(super) fn list_over_memory(plan: &Plan) -> Result<Vec<Row>, String> {
    let subject = Subject::start("memory:", &["--fill", &LISTED.to_string()])?;
    let what = "GET list of 1,000, memory, 32 connections";
    list(plan, what, &subject, Bound::AtLeast(0.60))
}

fn one(plan: &Plan, what: String, subject: &Subject, bound: Bound) -> Result<Vec<Row>, String> {
    let fixed = fixed_like(subject, "/fixed", &requests::robot(plan.some / 2))?;
    let ours = requests::any_robot(subject.address, plan.some);
    Ok(vec![against_fixed(
        plan, what, subject, ours, &fixed, bound,
    )?])
}

fn list(plan: &Plan, what: &str, subject: &Subject, bound: Bound) -> Result<Vec<Row>, String> {
    let comparisons = [
        ("/fixed", "", bound),
        ("/tuned", ", in large pieces", Bound::None),
    ];
    let rows = comparisons.map(|(base, how, bound)| {
        let fixed = fixed_like(subject, base, requests::LIST)?;
        let ours = requests::same(subject.address, requests::LIST);
        against_fixed(plan, format!("{what}{how}"), subject, ours, &fixed, bound)
    });
    rows.into_iter().collect()
}

fn against_fixed(
    plan: &Plan,
    what: String,
    subject: &Subject,
    ours: impl Fn() -> Source,
    fixed: &str,
    bound: Bound,
) -> Result<Row, String> {
    let load = Load {
        address: subject.address,
        connections: 32,
        length: plan.run,
    };
    let theirs = requests::same(subject.address, fixed);
    let warm_up = Load {
        length: plan.run / WARM_UP,
        ..load
    };
    warm_up.run(&ours)?;
    warm_up.run(&theirs)?;
    let (mut found, mut given) = (Series::default(), Series::default());
    for round in 0..plan.rounds {
        found.push(load.run(&ours)?.flawless()?.reads_per_second());
        given.push(load.run(&theirs)?.flawless()?.reads_per_second());
        plan.say(&format!("round {} of {}", round + 1, plan.rounds));
    }
    let (ratio, given) = (found.over(&given), ("fixed answer", &given));
    Ok(Row::compared(
        what,
        Unit::PerSecond,
        &found,
        given,
        &ratio,
        bound,
    ))
}

/// The path of the fixed answer that is as long as the answer to another path, and has the
/// same headers: else the comparison would be one of headers, too.
fn fixed_like(subject: &Subject, base: &str, path: &str) -> Result<String, String> {
    let mut client = subject.client()?;
    let length = client.body(&requests::get(subject.address, path))?.len();
    let found = headers(&client.head());
    let fixed = requests::fixed(base, length);
    let given = client.body(&requests::get(subject.address, &fixed))?.len();
    let made = headers(&client.head());
    if (length, &found) == (given, &made) {
        return Ok(fixed);
    }
    Err(format!(
        "{path} and {fixed} have different headers: {found:?} and {made:?}; make those of \
         serve/fixed.rs the same"
    ))
}

/// The headers, but for those that say how the body is transported, and when.
fn headers(head: &str) -> BTreeSet<String> {
    const TRANSPORT: [&str; 3] = ["content-length", "transfer-encoding", "date"];
    head.lines()
        .skip(1)
        .map(str::to_lowercase)
        .filter(|line| !line.is_empty() && !TRANSPORT.iter().any(|name| line.starts_with(name)))
        .collect()
}
