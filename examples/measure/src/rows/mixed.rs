//! Reads while robots are added: what writers cost readers.

use super::adding::let_the_log_grow;
use crate::{
    load::Load,
    plan::{Plan, url},
    requests,
    rounds::{Bound, Series, Unit},
    subject::Subject,
    table::Row,
};

pub(super) fn over_sqlite(plan: &Plan) -> Result<Vec<Row>, String> {
    let subject = Subject::start(&url(&plan.own_store(plan.some)?), &[])?;
    let_the_log_grow(&subject)?;
    let load = Load {
        address: subject.address,
        connections: 32,
        length: plan.run,
    };
    let [mut mixed, mut alone, mut failed]: [Series; 3] = Default::default();
    for round in 0..plan.rounds {
        let outcome = load.run(requests::mixed(load.address, plan.some))?;
        mixed.push(outcome.reads_per_second());
        #[expect(
            clippy::cast_precision_loss,
            reason = "so many failures are not told apart"
        )]
        failed.push(outcome.failed as f64);
        let outcome = load.run(requests::any_robot(load.address, plan.some))?;
        alone.push(outcome.flawless()?.reads_per_second());
        plan.say(&format!("round {} of {}", round + 1, plan.rounds));
    }
    let (ratio, alone) = (mixed.over(&alone), ("reads alone", &alone));
    let what = "95 % GET by id and 5 % POST, SQLite, 32 connections";
    Ok(vec![
        Row::compared(
            format!("{what}: reads"),
            Unit::PerSecond,
            &mixed,
            alone,
            &ratio,
            Bound::AtLeast(0.80),
        ),
        Row::value(
            format!("{what}: answers that are not 2xx in a round"),
            Unit::Count,
            &failed,
            Bound::AtMost(0.0),
        ),
    ])
}
