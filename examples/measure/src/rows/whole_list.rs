//! The list of a large store, which nobody wants to have in memory, and clients that do not
//! read it.

use std::{thread, time::Duration};

use crate::{
    plan::{Plan, url},
    requests::{LIST, get, robot},
    rounds::{Bound, Series, Unit, thousands},
    subject::Subject,
    table::Row,
};

const MIB: f64 = 1024.0 * 1024.0;

/// How many clients stop reading.
const STOPPED: usize = 40;

pub(super) fn memory_and_pace(plan: &Plan) -> Result<Vec<Row>, String> {
    let url = url(&plan.store(plan.many)?);
    let [mut growth, mut first_byte, mut pace]: [Series; 3] = Default::default();
    for round in 0..plan.rounds {
        // A new process, for one that has grown before grows less.
        let subject = Subject::start(&url, &[])?;
        let mut client = subject.client()?;
        client.body(&get(subject.address, &robot(1)))?;
        let before = subject.memory("VmRSS")?;
        let mut robots = 0_u32;
        let exchange = client.exchange(&get(subject.address, LIST), |piece| {
            robots += piece
                .iter()
                .map(|byte| u32::from(*byte == b'{'))
                .sum::<u32>();
        })?;
        exchange.succeeded()?;
        if u64::from(robots) != plan.many {
            return Err(format!(
                "the list has {robots} robots instead of {}",
                plan.many
            ));
        }
        growth.push(subject.memory("VmHWM")? - before);
        first_byte.push_time(exchange.first_byte);
        pace.push(f64::from(robots) / exchange.whole.as_secs_f64());
        plan.say(&format!("round {} of {}", round + 1, plan.rounds));
    }
    let what = format!("Whole list of {} from SQLite", thousands(plan.many));
    Ok(vec![
        Row::value(
            format!("{what}: growth of the server's memory"),
            Unit::Memory,
            &growth,
            Bound::Below(32.0 * MIB),
        ),
        Row::value(
            format!("{what}: time to the first byte of the body"),
            Unit::Time,
            &first_byte,
            Bound::Below(0.020),
        ),
        Row::value(
            format!("{what}: robots"),
            Unit::PerSecond,
            &pace,
            Bound::AtLeast(500_000.0),
        ),
    ])
}

pub(super) fn stopped_readers(plan: &Plan) -> Result<Vec<Row>, String> {
    let url = url(&plan.store(plan.many)?);
    let mut times = Series::default();
    for round in 0..plan.rounds {
        let subject = Subject::start(&url, &[])?;
        let mut stopped = Vec::new();
        for _ in 0..STOPPED {
            let mut client = subject.client()?;
            client.send(&get(subject.address, LIST))?;
            stopped.push(client);
        }
        // Until all that the sockets take is sent.
        thread::sleep(Duration::from_secs(1));
        let request = get(subject.address, &robot(plan.many / 2));
        let exchange = subject.client()?.exchange(&request, |_| ())?;
        exchange.succeeded()?;
        times.push_time(exchange.whole);
        drop(stopped);
        plan.say(&format!("round {} of {}", round + 1, plan.rounds));
    }
    let what = format!("GET by id while {STOPPED} clients have stopped reading the whole list");
    Ok(vec![Row::value(
        what,
        Unit::Time,
        &times,
        Bound::Below(1.0),
    )])
}
