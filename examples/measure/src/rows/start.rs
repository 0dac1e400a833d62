//! The server as it is shipped, over a large store: how soon it serves, and what it takes when
//! nobody asks.

use std::{thread, time::Duration};

use crate::{
    plan::{Plan, url},
    requests,
    rounds::{Bound, Series, Unit, thousands},
    subject::{Subject, build_shipped},
    table::Row,
};

const MIB: f64 = 1024.0 * 1024.0;

pub(super) fn over_sqlite(plan: &Plan) -> Result<Vec<Row>, String> {
    plan.say("building robot-rocket");
    let program = build_shipped()?;
    let url = url(&plan.store(plan.many)?);
    let [mut start, mut idle, mut used]: [Series; 3] = Default::default();
    for round in 0..plan.rounds {
        let (subject, time) = Subject::start_shipped(&program, plan.folder(), &url)?;
        start.push_time(time);
        thread::sleep(Duration::from_secs(1));
        idle.push(subject.memory("VmRSS")?);
        let mut client = subject.client()?;
        client.body(&requests::get(
            subject.address,
            &requests::robot(plan.many / 2),
        ))?;
        used.push(subject.memory("VmRSS")?);
        drop(client);
        subject.terminate()?;
        plan.say(&format!("round {} of {}", round + 1, plan.rounds));
    }
    let what = format!("robot-rocket on {} robots in SQLite", thousands(plan.many));
    let memory = Bound::Below(25.0 * MIB);
    Ok(vec![
        Row::value(
            format!("{what}: start"),
            Unit::Time,
            &start,
            Bound::Below(0.050),
        ),
        Row::value(
            format!("{what}: memory when idle"),
            Unit::Memory,
            &idle,
            memory,
        ),
        Row::value(
            format!("{what}: memory after a GET"),
            Unit::Memory,
            &used,
            memory,
        ),
    ])
}
