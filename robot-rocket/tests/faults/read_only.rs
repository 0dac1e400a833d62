//! The file system becomes read-only under the server, as one does that has found an error.

use crate::{
    ledger::Ledger, options::Run, process::Server, strace::Injection, told::Told,
    workload::Workload,
};

/// The calls by which SQLite changes files.
const CHANGES: &str = "pwrite64,ftruncate,fallocate";

pub(crate) fn a_disk_that_becomes_read_only_refuses_writes_until_it_is_not(run: &Run) {
    let folder = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::default();
    run.repeat(2, |random| {
        let server = Server::start(folder.path(), &[]);
        let workload = Workload::start(&server, std::mem::take(&mut ledger), random);
        workload.writes(random.usize(1..50));
        let injection = Injection::into(&server, &[], CHANGES, "error=EROFS");
        workload.is_refused();
        let (done, failed_reads) = (workload.told(Told::Done), workload.failed_reads());
        workload.tries(10);
        assert_eq!(workload.told(Told::Done), done, "nothing can be written");
        assert_eq!(workload.failed_reads(), failed_reads, "reads write nothing");
        drop(injection);
        workload.is_served();
        ledger = workload.end();
        ledger.is_true_of(&server);
        let (_, log) = server.stop("KILL");
        assert!(log.contains("disk"), "the log does not say why: {log}");
        ledger.is_true_of(&Server::start(folder.path(), &[]));
    });
    println!("{}: {ledger}", run.name);
}
