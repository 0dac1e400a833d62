//! Kills of the server.

use std::{
    fmt::Write,
    mem,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use crate::{
    options::Run,
    process::{Server, command},
    workload::{Ledger, Outcome, Workload, send},
};

pub(crate) fn kill_keeps_acknowledged_and_no_rejected_writes(run: &Run) {
    let folder = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::default();
    run.repeat(8, |random| {
        let server = Server::start(folder.path(), &[]);
        ledger.assert_consistent_with(&server);
        let workload = Workload::start(&server, mem::take(&mut ledger), random);
        workload.wait_for_writes(random.usize(1..150));
        workload.allow_server_end();
        server.stop("KILL");
        ledger = workload.join();
    });
    ledger.assert_consistent_with(&Server::start(folder.path(), &[]));
    println!("{}: {ledger}", run.name);
}

pub(crate) fn kill_during_start_leaves_a_usable_file(run: &Run) {
    run.repeat(4, |random| {
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..random.u8(1..4) {
            let mut starting = command(folder.path(), &[]);
            let mut starting = starting.stdout(Stdio::null()).spawn().unwrap();
            // The tables are created within this time.
            thread::sleep(Duration::from_micros(random.u64(..60_000)));
            starting.kill().unwrap();
            starting.wait().unwrap();
        }
        let server = Server::start(folder.path(), &[]);
        let mut ledger = Ledger::default();
        ledger.assert_consistent_with(&server);
        let workload = Workload::start(&server, ledger, random);
        workload.wait_for_writes(10);
        workload.stop().assert_consistent_with(&server);
    });
}

pub(crate) fn kill_during_an_atomic_import_leaves_all_or_none(run: &Run) {
    const RECORDS: usize = 2000;
    const TARGET: &str = "/api/robots/import?format=csv&atomic=true";
    let file = |round: &str| {
        let mut file = "name,type,year\n".to_owned();
        for number in 0..RECORDS {
            writeln!(file, "{round} {number},droid,{number}").unwrap();
        }
        file
    };
    let folder = tempfile::tempdir().unwrap();
    let start = || Server::start(folder.path(), &[]);
    let server = start();
    let begin = Instant::now();
    let answer = server.call("POST", TARGET, &file("first"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let duration = begin.elapsed();
    server.stop("KILL");
    let (mut round, mut stored) = (0, RECORDS);
    run.repeat(6, |random| {
        round += 1;
        let server = start();
        let client = server.client();
        let file = file(&round.to_string());
        let import = thread::spawn(move || send(&client, "POST", TARGET, &file).outcome);
        thread::sleep(duration.mul_f64(1.2 * random.f64()));
        server.stop("KILL");
        let outcome = import.join().unwrap();
        let found = start().names().len();
        let added = found.checked_sub(stored).unwrap();
        println!("{}: {added} robots, {outcome:?}", run.name);
        match outcome {
            Outcome::Done => assert_eq!(added, RECORDS),
            _ => assert!(added == 0 || added == RECORDS, "{added}"),
        }
        stored = found;
    });
}
