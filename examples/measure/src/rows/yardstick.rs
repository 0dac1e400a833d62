//! The generator of load against `wrk`: one that took more of the machine would make every
//! server look slower, and the fixed answers most of all.

use std::process::{Command, Stdio};

use crate::{
    children,
    load::Load,
    plan::Plan,
    requests,
    rounds::{Bound, Series, Unit},
    subject::{Subject, wait_for_end},
    table::Row,
};

const WHAT: &str = "The load itself, 32 connections: a fixed answer";

const LENGTH: usize = 60;

pub(super) fn against_wrk(plan: &Plan) -> Result<Vec<Row>, String> {
    if Command::new("wrk")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_err()
    {
        return Ok(vec![Row::not_measured(WHAT, "wrk is missing")]);
    }
    let subject = Subject::start("memory:", &[])?;
    let path = requests::fixed("/fixed", LENGTH);
    let load = Load {
        address: subject.address,
        connections: 32,
        length: plan.run,
    };
    let (mut ours, mut theirs) = (Series::default(), Series::default());
    for round in 0..plan.rounds {
        ours.push(
            load.run(requests::same(load.address, &path))?
                .flawless()?
                .reads_per_second(),
        );
        theirs.push(wrk(&load, &path)?);
        plan.say(&format!("round {} of {}", round + 1, plan.rounds));
    }
    let (ratio, bound) = (ours.over(&theirs), Bound::AtLeast(0.9));
    let theirs = ("wrk", &theirs);
    Ok(vec![Row::compared(
        WHAT,
        Unit::PerSecond,
        &ours,
        theirs,
        &ratio,
        bound,
    )])
}

fn wrk(load: &Load, path: &str) -> Result<f64, String> {
    let mut command = Command::new("wrk");
    command
        .args(["-t2", "-c32"])
        .arg(format!("-d{}s", load.length.as_secs().max(1)))
        .arg(format!("http://{}{path}", load.address))
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let (process, pipes) = children::start(&mut command)?;
    let output = wait_for_end(pipes)?;
    process.succeed("wrk")?;
    output
        .lines()
        .find_map(|line| line.strip_prefix("Requests/sec:")?.trim().parse().ok())
        .ok_or_else(|| format!("wrk did not say how many requests it made: {output}"))
}
