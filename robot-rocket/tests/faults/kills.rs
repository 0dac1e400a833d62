//! Kills of the server.

use std::{mem, process::Stdio, thread, time::Duration};

use crate::{
    options::Run,
    process::{Server, command},
    workload::{Ledger, Workload},
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
