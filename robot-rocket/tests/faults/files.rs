//! Files of the database that are deleted or replaced under a running server.
//!
//! Earlier robots are lost then, but the server must not acknowledge a write that is missing in
//! the file that the path names afterwards.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::Instant,
};

use fastrand::Rng;
use robot_core::{CatalogueExt, Draft};

use crate::{
    calls::{call, draft},
    options::Run,
    process::{Server, wait_for},
    strace::Injection,
    workload::{Ledger, Outcome, Row, Workload, assert_no_violations, try_list},
};

const FILES: [&str; 3] = ["robots.db", "robots.db-wal", "robots.db-shm"];

pub(crate) fn database_deleted_without_wal(run: &Run) {
    assert_promises_hold(run, |folder| delete(folder, &FILES[..1]));
}

pub(crate) fn database_deleted_with_wal(run: &Run) {
    assert_promises_hold(run, |folder| delete(folder, &FILES));
}

pub(crate) fn wal_deleted(run: &Run) {
    assert_promises_hold(run, |folder| delete(folder, &FILES[1..]));
}

pub(crate) fn database_replaced_by_another_catalogue(run: &Run) {
    assert_promises_hold(run, |folder| {
        let other = another_catalogue(folder);
        fs::rename(other, folder.join("robots.db")).unwrap();
    });
}

pub(crate) fn all_files_replaced_by_another_catalogue(run: &Run) {
    assert_promises_hold(run, |folder| {
        let other = another_catalogue(folder);
        delete(folder, &FILES[1..]);
        fs::rename(other, folder.join("robots.db")).unwrap();
    });
}

/// The files are deleted while the commit waits for the disk.
pub(crate) fn files_deleted_during_a_commit(run: &Run) {
    run.repeat(1, |_| {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path(), &[]);
        let first = server.add("first");
        assert_eq!(first.status, 201, "{}", first.text());
        let wal = folder.path().join(FILES[1]);
        let length = || fs::metadata(&wal).unwrap().len();
        let before = length();
        let injection = Injection::into(&server, &[], "fsync,fdatasync", "delay_enter=1000000");
        let client = server.client();
        let adding = thread::spawn(move || call(&client, "POST", "/api/robots", &draft("second")));
        wait_for("the commit is in the WAL", || length() > before);
        delete(folder.path(), &FILES);
        let answer = adding.join().unwrap();
        drop(injection);
        let outcome = Outcome::of(&Ok(answer), "a commit whose files were deleted");
        assert_eq!(outcome, Outcome::Unknown);
    });
}

fn delete(folder: &Path, names: &[&str]) {
    for name in names {
        fs::remove_file(folder.join(name)).unwrap();
    }
}

/// Creates the file of another catalogue with one robot, to be moved.
fn another_catalogue(folder: &Path) -> PathBuf {
    let path = folder.join("other.db");
    let url = format!("sqlite://{}", path.display());
    let catalogue = robot_core::open(&url).unwrap();
    // The workload does not use this year.
    catalogue.add(Draft::new("other", "droid", 0)).unwrap();
    drop(catalogue);
    path
}

/// Changes the files of a running server, and asserts that it keeps what it acknowledges from then
/// on, both after a kill and after a stop.
fn assert_promises_hold(run: &Run, fault: impl Fn(&Path)) {
    run.repeat(1, |random| {
        let violations = ["KILL", "TERM"].map(|signal| {
            let folder = tempfile::tempdir().unwrap();
            violations_after(folder.path(), &fault, signal, random)
        });
        assert_no_violations("after a fault of the files", &violations.concat());
    });
}

/// Runs a server through a fault, ends it with a signal, and returns the broken promises.
fn violations_after(
    folder: &Path,
    fault: impl Fn(&Path),
    signal: &str,
    random: &mut Rng,
) -> Vec<String> {
    let ledger = filled(folder, random);
    let server = Server::start(folder, &[]);
    let workload = Workload::start(&server, ledger, random);
    workload.wait_for_writes(random.usize(1..50));
    fault(folder);
    let moment = Instant::now();
    workload.wait_for_calls(6);
    let unknown = server.get("/nowhere");
    assert_eq!(unknown.status, 404, "{}", unknown.text());
    let ledger = workload.stop();
    let (status, log) = server.stop(signal);
    let rows = rows(folder);
    let mut violations = Vec::new();
    if !status.success() && signal != "KILL" {
        violations.push(format!("{signal}: exit status {status}"));
    }
    violations.extend(violation_in_log(&log).map(|text| format!("{signal}: {text}")));
    let mut untrue = ledger.lost_since(moment, &rows);
    untrue.extend(ledger.stored_although_rejected(&rows));
    if let Some(first) = untrue.first() {
        let count = untrue.len();
        violations.push(format!("{signal}: {count} false outcomes, first {first}"));
    }
    violations
}

/// Creates a catalogue whose robots are all in the file itself, none in the WAL.
fn filled(folder: &Path, random: &mut Rng) -> Ledger {
    let server = Server::start(folder, &[]);
    let workload = Workload::start(&server, Ledger::default(), random);
    workload.wait_for_writes(100);
    let mut ledger = workload.stop();
    ledger.assert_consistent_with(&server);
    let (status, log) = server.stop("TERM");
    assert!(status.success(), "{status}: {log}");
    ledger
}

/// The robots in the file that the path names now; none if a server cannot use it.
fn rows(folder: &Path) -> Vec<Row> {
    match Server::launch(folder, &[]) {
        Ok(server) => try_list(&server).map_or_else(|_| Vec::new(), |(rows, _)| rows),
        Err(_) => Vec::new(),
    }
}

/// The log must name the file that an operator should look at.
fn violation_in_log(log: &str) -> Option<String> {
    let mut last: Vec<_> = log.lines().rev().take(3).collect();
    last.reverse();
    if log.contains("panicked") {
        Some(format!("a panic: {log}"))
    } else if !log.contains("robots.db") {
        Some(format!("the log does not name the file: {last:?}"))
    } else {
        None
    }
}
