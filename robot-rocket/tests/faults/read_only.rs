//! File system that becomes read-only under the server, as after an error.

use std::mem;

use crate::{
    options::Run,
    process::Server,
    strace::Injection,
    workload::{Ledger, Outcome, Workload},
};

/// The system calls by which SQLite changes files.
const CHANGES: &str = "pwrite64,ftruncate,fallocate";

pub(crate) fn read_only_disk_rejects_writes_until_writable(run: &Run) {
    let folder = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::default();
    run.repeat(1, |random| {
        let server = Server::start(folder.path(), &[]);
        let workload = Workload::start(&server, mem::take(&mut ledger), random);
        workload.wait_for_writes(random.usize(1..50));
        let injection = Injection::into(&server, &[], CHANGES, "error=EROFS");
        workload.wait_until_failing();
        let (done, failed_reads) = (workload.writes(Outcome::Done), workload.failed_reads());
        workload.wait_for_calls(10);
        assert_eq!(workload.writes(Outcome::Done), done, "a write was done");
        assert_eq!(workload.failed_reads(), failed_reads, "a read failed");
        drop(injection);
        workload.wait_until_served();
        ledger = workload.stop();
        ledger.assert_consistent_with(&server);
        let (_, log) = server.stop("KILL");
        assert!(log.contains("disk"), "the log does not say why: {log}");
        ledger.assert_consistent_with(&Server::start(folder.path(), &[]));
    });
    println!("{}: {ledger}", run.name);
}
