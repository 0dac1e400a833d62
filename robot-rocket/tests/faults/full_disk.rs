//! Disk that is full for a while.

use std::mem;

use fastrand::Rng;

use crate::{
    disk::{Disk, with_small_disk},
    options::Run,
    process::Server,
    workload::{Ledger, Outcome, Workload},
};

/// The size of the disk in MiB, less than what the WAL reaches before SQLite reuses its space.
const SIZE: usize = 8;

pub(crate) fn full_disk_rejects_writes_until_there_is_space(run: &Run) {
    repeat(run, |disk, ledger, random| {
        let server = Server::start(disk.path(), &[]);
        let workload = Workload::start(&server, ledger, random);
        for _ in 0..2 {
            workload.wait_for_writes(random.usize(1..50));
            fill(disk, &workload);
            disk.free();
            workload.wait_until_served();
        }
        let mut ledger = workload.stop();
        ledger.assert_consistent_with(&server);
        let (status, log) = server.stop("TERM");
        assert!(status.success(), "{status}: {log}");
        assert!(log.contains("full"), "the log does not say why: {log}");
        ledger.assert_consistent_with(&Server::start(disk.path(), &[]));
        ledger
    });
}

pub(crate) fn server_that_ends_on_a_full_disk_loses_nothing(run: &Run) {
    repeat(run, |disk, mut ledger, random| {
        for signal in ["KILL", "TERM"] {
            let server = Server::start(disk.path(), &[]);
            let workload = Workload::start(&server, ledger, random);
            workload.wait_for_writes(random.usize(1..50));
            fill(disk, &workload);
            workload.allow_server_end();
            let (status, log) = server.stop(signal);
            assert!(status.success() || signal == "KILL", "{status}: {log}");
            ledger = workload.join();
            let server = Server::start(disk.path(), &[]);
            ledger.assert_consistent_with(&server);
            let workload = Workload::start(&server, ledger, random);
            workload.wait_until_failing();
            disk.free();
            workload.wait_until_served();
            ledger = workload.stop();
            ledger.assert_consistent_with(&server);
            // This moves the WAL into the file, which leaves space for the next round.
            let (status, log) = server.stop("TERM");
            assert!(status.success(), "{status}: {log}");
        }
        ledger
    });
}

fn repeat(run: &Run, scenario: impl Fn(&Disk, Ledger, &mut Rng) -> Ledger) {
    with_small_disk(run, SIZE, |disk| {
        let mut ledger = Ledger::default();
        run.repeat(1, |random| {
            ledger = scenario(disk, mem::take(&mut ledger), random);
        });
        println!("{}: {ledger}", run.name);
    });
}

/// Fills a disk. Writes are rejected, with a certain outcome; reads succeed.
fn fill(disk: &Disk, workload: &Workload) {
    let failed_reads = workload.failed_reads();
    disk.fill();
    workload.wait_until_failing();
    workload.wait_for_calls(10);
    assert_eq!(workload.failed_reads(), failed_reads, "a read failed");
    for outcome in [Outcome::Failed, Outcome::Unknown] {
        assert_eq!(workload.writes(outcome), 0, "{outcome:?}");
    }
}
