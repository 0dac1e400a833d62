//! The server is killed, again and again.

use std::{mem, process::Stdio, thread, time::Duration};

use crate::{
    ledger::Ledger,
    options::Run,
    process::{Server, command},
    workload::Workload,
};

pub(crate) fn a_kill_loses_nothing_and_leaves_nothing_that_was_refused(run: &Run) {
    let folder = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::default();
    run.repeat(16, |random| {
        let server = Server::start(folder.path(), &[]);
        ledger.is_true_of(&server);
        let workload = Workload::start(&server, mem::take(&mut ledger), random);
        workload.writes(random.usize(1..150));
        workload.server_may_end();
        server.stop("KILL");
        ledger = workload.ends_with_the_server();
    });
    ledger.is_true_of(&Server::start(folder.path(), &[]));
    println!("{}: {ledger}", run.name);
}

pub(crate) fn a_kill_during_the_start_leaves_what_can_be_started(run: &Run) {
    run.repeat(6, |random| {
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..random.u8(1..4) {
            let mut starting = command(folder.path(), &[]);
            let mut starting = starting.stdout(Stdio::null()).spawn().unwrap();
            // It makes its tables some time within these.
            thread::sleep(Duration::from_micros(random.u64(..60_000)));
            starting.kill().unwrap();
            starting.wait().unwrap();
        }
        let server = Server::start(folder.path(), &[]);
        let mut ledger = Ledger::default();
        ledger.is_true_of(&server);
        let workload = Workload::start(&server, ledger, random);
        workload.writes(10);
        workload.end().is_true_of(&server);
    });
}
