//! The disk does not confirm that it has what was written, or is slow to. A commit that was not
//! confirmed may be found by the next start all the same.

use std::{mem, path::Path};

use fastrand::Rng;

use crate::{
    ledger::Ledger, options::Run, process::Server, strace::Injection, told::Told,
    workload::Workload,
};

/// The calls by which a commit waits for the disk.
const SYNCS: &str = "fsync,fdatasync";

pub(crate) fn a_disk_that_never_confirms_has_no_write_acknowledged(run: &Run) {
    repeat(run, 4, |server, workload, random| {
        workload.writes(random.usize(1..50));
        for _ in 0..2 {
            let injection = Injection::into(server, &[], SYNCS, "error=EIO");
            workload.is_refused();
            let (done, failed_reads) = (workload.told(Told::Done), workload.failed_reads());
            let failed = workload.told(Told::Failed);
            workload.tries(10);
            assert_eq!(
                workload.told(Told::Done),
                done,
                "not synced, but acknowledged"
            );
            assert_eq!(
                workload.told(Told::Failed),
                failed,
                "what takes a commit back is not synced, either"
            );
            assert_eq!(workload.failed_reads(), failed_reads, "reads need no sync");
            if random.bool() {
                return Some(injection);
            }
            drop(injection);
            workload.is_served();
        }
        None
    });
}

pub(crate) fn a_disk_that_fails_now_and_then_keeps_what_was_acknowledged_and_no_more(run: &Run) {
    repeat(run, 6, |server, workload, random| {
        workload.writes(random.usize(1..50));
        // Whether the next confirmation fails as well makes the difference between a commit that
        // is taken back and one that is not.
        let when = format!("{}+{}", random.u8(1..4), random.u8(2..5));
        let injection = Injection::into(server, &[], SYNCS, &format!("error=EIO:when={when}"));
        workload.tries(random.usize(10..30));
        Some(injection)
    });
}

pub(crate) fn a_disk_that_is_slow_to_confirm_loses_nothing(run: &Run) {
    repeat(run, 2, |server, workload, random| {
        workload.writes(random.usize(1..50));
        let delay = random.u32(50_000..300_000);
        let injection = Injection::into(server, &[], SYNCS, &format!("delay_enter={delay}"));
        let failed_reads = workload.failed_reads();
        workload.is_served();
        assert_eq!(workload.failed_reads(), failed_reads, "reads need no sync");
        for told in [Told::Refused, Told::Failed, Told::Unknown] {
            assert_eq!(workload.told(told), 0, "slow is not wrong: {told:?}");
        }
        Some(injection)
    });
}

/// What makes the disk of a server bad; while that is kept, the disk stays as it is.
type Scenario = fn(&Server, &Workload, &mut Rng) -> Option<Injection>;

/// Runs a server whose disk a scenario makes bad, kills it, and looks at what is there. After
/// that the same file is used again.
fn repeat(run: &Run, rounds: u64, scenario: Scenario) {
    let folder = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::default();
    run.repeat(rounds, |random| {
        ledger = kill_after(scenario, folder.path(), mem::take(&mut ledger), random);
    });
    println!("{}: {ledger}", run.name);
}

fn kill_after(scenario: Scenario, folder: &Path, ledger: Ledger, random: &mut Rng) -> Ledger {
    let server = Server::start(folder, &[]);
    let workload = Workload::start(&server, ledger, random);
    let injection = scenario(&server, &workload, random);
    workload.server_may_end();
    server.stop("KILL");
    drop(injection);
    let mut ledger = workload.ends_with_the_server();
    ledger.is_true_of(&Server::start(folder, &[]));
    ledger
}
