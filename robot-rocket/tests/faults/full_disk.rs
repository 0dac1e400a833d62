//! The disk is full, and then it is not.

use std::mem;

use fastrand::Rng;

use crate::{
    disk::{Disk, with_a_small_disk},
    ledger::Ledger,
    options::Run,
    process::Server,
    told::Told,
    workload::Workload,
};

/// How many MiB there are. The log of SQLite reaches more before it is used again from its
/// beginning, which takes no room.
const SIZE: usize = 8;

pub(crate) fn a_full_disk_refuses_writes_until_there_is_room(run: &Run) {
    repeat(run, 1, |disk, ledger, random| {
        let server = Server::start(disk.path(), &[]);
        let workload = Workload::start(&server, ledger, random);
        for _ in 0..2 {
            workload.writes(random.usize(1..50));
            all_writes_are_refused(disk, &workload);
            disk.make_room();
            workload.is_served();
        }
        let mut ledger = workload.end();
        ledger.is_true_of(&server);
        let (status, log) = server.stop("TERM");
        assert!(status.success(), "{status}: {log}");
        assert!(log.contains("full"), "the log does not say why: {log}");
        ledger.is_true_of(&Server::start(disk.path(), &[]));
        ledger
    });
}

pub(crate) fn a_server_that_ends_while_the_disk_is_full_has_lost_nothing(run: &Run) {
    repeat(run, 1, |disk, mut ledger, random| {
        for ending in ["KILL", "TERM"] {
            let server = Server::start(disk.path(), &[]);
            let workload = Workload::start(&server, ledger, random);
            workload.writes(random.usize(1..50));
            all_writes_are_refused(disk, &workload);
            workload.server_may_end();
            let (status, log) = server.stop(ending);
            assert!(status.success() || ending == "KILL", "{status}: {log}");
            ledger = workload.ends_with_the_server();
            // Whoever starts it again may not know why it ended.
            let server = Server::start(disk.path(), &[]);
            ledger.is_true_of(&server);
            let workload = Workload::start(&server, ledger, random);
            workload.is_refused();
            disk.make_room();
            workload.is_served();
            ledger = workload.end();
            ledger.is_true_of(&server);
            // The log goes into the file, or there would be less room in each round.
            let (status, log) = server.stop("TERM");
            assert!(status.success(), "{status}: {log}");
        }
        ledger
    });
}

fn repeat(run: &Run, rounds: u64, scenario: impl Fn(&Disk, Ledger, &mut Rng) -> Ledger) {
    with_a_small_disk(run, SIZE, |disk| {
        let mut ledger = Ledger::default();
        run.repeat(rounds, |random| {
            ledger = scenario(disk, mem::take(&mut ledger), random);
        });
        println!("{}: {ledger}", run.name);
    });
}

/// Fills a disk: nothing is written, and all is read. There is no doubt what became of a write
/// for which there was no room.
fn all_writes_are_refused(disk: &Disk, workload: &Workload) {
    let failed_reads = workload.failed_reads();
    disk.fill();
    workload.is_refused();
    workload.tries(10);
    assert_eq!(workload.failed_reads(), failed_reads, "reads need no room");
    for told in [Told::Failed, Told::Unknown] {
        assert_eq!(workload.told(told), 0, "a write without room: {told:?}");
    }
}
