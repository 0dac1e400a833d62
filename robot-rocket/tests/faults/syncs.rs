//! Disk that fails to sync, or is slow to. The next start may find a commit that was not synced.

use std::{fs, mem, path::Path};

use fastrand::Rng;

use crate::{
    options::Run,
    process::Server,
    scrape::{Scrape, free_address},
    strace::Injection,
    workload::{Ledger, Outcome, Workload},
};

/// The system calls by which a commit waits for the disk.
const SYNCS: &str = "fsync,fdatasync";

pub(crate) fn failed_sync_is_never_acknowledged(run: &Run) {
    repeat(run, 2, |server, workload, random| {
        workload.wait_for_writes(random.usize(1..50));
        for _ in 0..2 {
            let injection = Injection::into(server, &[], SYNCS, "error=EIO");
            workload.wait_until_failing();
            let (done, failed_reads) = (workload.writes(Outcome::Done), workload.failed_reads());
            let failed = workload.writes(Outcome::Failed);
            workload.wait_for_calls(10);
            let now = workload.writes(Outcome::Done);
            assert_eq!(now, done, "a write was acknowledged without a sync");
            let now = workload.writes(Outcome::Failed);
            assert_eq!(now, failed, "a rollback without a sync was acknowledged");
            assert_eq!(workload.failed_reads(), failed_reads, "a read failed");
            if random.bool() {
                return Some(injection);
            }
            drop(injection);
            workload.wait_until_served();
        }
        None
    });
}

pub(crate) fn sporadic_sync_failures_keep_acknowledged_writes(run: &Run) {
    repeat(run, 4, |server, workload, random| {
        workload.wait_for_writes(random.usize(1..50));
        // A commit is rolled back unless the next sync fails, too.
        let when = format!("{}+{}", random.u8(1..4), random.u8(2..5));
        let injection = Injection::into(server, &[], SYNCS, &format!("error=EIO:when={when}"));
        workload.wait_for_calls(random.usize(10..30));
        Some(injection)
    });
}

pub(crate) fn slow_syncs_lose_nothing(run: &Run) {
    repeat(run, 1, |server, workload, random| {
        workload.wait_for_writes(random.usize(1..50));
        let delay = random.u32(50_000..300_000);
        let injection = Injection::into(server, &[], SYNCS, &format!("delay_enter={delay}"));
        let failed_reads = workload.failed_reads();
        workload.wait_until_served();
        assert_eq!(workload.failed_reads(), failed_reads, "a read failed");
        for outcome in [Outcome::Unavailable, Outcome::Failed, Outcome::Unknown] {
            assert_eq!(workload.writes(outcome), 0, "{outcome:?}");
        }
        Some(injection)
    });
}

/// After a failed sync, the kernel forgets the pages that it could not write, and later syncs succeed.
/// A power cut then leaves the database file as it was before.
pub(crate) fn failed_checkpoint_stops_writes_until_restart(run: &Run) {
    run.repeat(1, |random| {
        let (folder, disk) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let copy = |name| {
            fs::copy(folder.path().join(name), disk.path().join(name))
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        };
        let metrics = free_address();
        let setting = [("ROCKET_METRICS_ADDRESS", &*metrics.to_string())];
        let server = Server::start(folder.path(), &setting);
        copy("robots.db");
        let injection = Injection::into(&server, &["robots.db"], SYNCS, "error=EIO:when=1");
        let workload = Workload::start(&server, Ledger::default(), random);
        workload.wait_until_failing();
        let (done, failed_reads) = (workload.writes(Outcome::Done), workload.failed_reads());
        workload.wait_for_calls(100);
        assert_eq!(workload.writes(Outcome::Done), done, "a write was done");
        assert_eq!(workload.failed_reads(), failed_reads, "a read failed");
        for outcome in [Outcome::Failed, Outcome::Unknown] {
            assert_eq!(workload.writes(outcome), 0, "{outcome:?}");
        }
        let scrape = Scrape::of(metrics);
        assert_eq!(scrape.value("robots_sqlite_changes_suspended"), 1);
        let failed = "robots_sqlite_checkpoints_total{result=\"failed\"}";
        assert_eq!(scrape.value(failed), 1);
        let mut ledger = workload.stop();
        drop(injection);
        let (status, log) = server.stop("TERM");
        assert!(status.success(), "{status}: {log}");
        assert!(log.contains("'robots.db': a checkpoint failed"), "{log}");
        copy("robots.db-wal");
        copy("robots.db-shm");
        for folder in [folder.path(), disk.path()] {
            ledger.assert_consistent_with(&Server::start(folder, &[]));
        }
        ledger = kill_after(continue_writing, disk.path(), ledger, random);
        println!("{}: {ledger}", run.name);
    });
}

/// Writes enough for checkpoints, of which none fails.
fn continue_writing(_: &Server, workload: &Workload, _: &mut Rng) -> Option<Injection> {
    workload.wait_until_served();
    workload.wait_for_writes(500);
    None
}

/// Makes the disk of a server fail, for as long as the injection is kept.
type Scenario = fn(&Server, &Workload, &mut Rng) -> Option<Injection>;

/// Repeats a scenario on one file: each ends with a kill and a check.
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
    workload.allow_server_end();
    server.stop("KILL");
    drop(injection);
    let mut ledger = workload.join();
    ledger.assert_consistent_with(&Server::start(folder, &[]));
    ledger
}
