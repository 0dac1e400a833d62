//! The files of a catalogue are taken away under the server, exchanged or cut off.
//!
//! What was there before is gone then, and not by the server's fault. But it must not tell
//! anybody that a write is durable which is not in the file that the path names afterwards.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use robot_core::{CatalogueExt, Draft};

use crate::{
    calls::{call, draft},
    judge::{nobody_objects, try_list},
    ledger::Ledger,
    look::Row,
    options::Run,
    process::{Server, wait_for},
    strace::Injection,
    told::Told,
    workload::Workload,
};

const FILES: [&str; 3] = ["robots.db", "robots.db-wal", "robots.db-shm"];

pub(crate) fn deleted_without_its_log(run: &Run) {
    nothing_is_promised_in_vain(run, |folder| delete(folder, &FILES[..1]));
}

pub(crate) fn deleted_with_its_log(run: &Run) {
    nothing_is_promised_in_vain(run, |folder| delete(folder, &FILES));
}

pub(crate) fn bereft_of_its_log(run: &Run) {
    nothing_is_promised_in_vain(run, |folder| delete(folder, &FILES[1..]));
}

pub(crate) fn replaced_by_another_catalogue(run: &Run) {
    nothing_is_promised_in_vain(run, |folder| {
        let other = another_catalogue(folder);
        fs::rename(other, folder.join("robots.db")).unwrap();
    });
}

pub(crate) fn replaced_by_another_catalogue_in_the_place_of_all_files(run: &Run) {
    nothing_is_promised_in_vain(run, |folder| {
        let other = another_catalogue(folder);
        delete(folder, &FILES[1..]);
        fs::rename(other, folder.join("robots.db")).unwrap();
    });
}

pub(crate) fn replaced_by_no_database(run: &Run) {
    nothing_is_promised_in_vain(run, |folder| {
        let other = folder.join("other");
        fs::write(&other, "no database at all\n".repeat(1000)).unwrap();
        fs::rename(other, folder.join("robots.db")).unwrap();
    });
}

pub(crate) fn truncated_to_nothing(run: &Run) {
    nothing_is_promised_in_vain(run, |folder| truncate(folder, |_| 0));
}

pub(crate) fn truncated_to_a_half(run: &Run) {
    nothing_is_promised_in_vain(run, |folder| truncate(folder, |length| length / 2));
}

/// The commit waits for the disk when its files lose their names.
pub(crate) fn deleted_during_a_commit(run: &Run) {
    run.repeat(1, |_| {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path(), &[]);
        let first = call(&server.client(), "POST", "/api/robots", &draft("first"));
        assert_eq!(first.status, 201, "{}", first.text());
        let log = folder.path().join(FILES[1]);
        let length = || fs::metadata(&log).unwrap().len();
        let before = length();
        let injection = Injection::into(&server, &[], "fsync,fdatasync", "delay_enter=2000000");
        let client = server.client();
        let adding =
            thread::spawn(move || call(&client, "POST", "/api/robots", &draft("on its way")));
        wait_for("the commit is in the log", Duration::from_secs(10), || {
            length() > before
        });
        delete(folder.path(), &FILES);
        let answer = adding.join().unwrap();
        drop(injection);
        let told = Told::by(&Ok(answer), "a commit whose files were deleted");
        assert_eq!(told, Told::Unknown);
    });
}

fn delete(folder: &Path, names: &[&str]) {
    for name in names {
        fs::remove_file(folder.join(name)).unwrap();
    }
}

fn truncate(folder: &Path, length: impl Fn(u64) -> u64) {
    let path = folder.join("robots.db");
    let file = File::options().write(true).open(path).unwrap();
    let whole = file.metadata().unwrap().len();
    file.set_len(length(whole)).unwrap();
}

/// The file of another catalogue, with a robot in it, ready to be moved.
fn another_catalogue(folder: &Path) -> PathBuf {
    let path = folder.join("other.db");
    let url = format!("sqlite://{}", path.display());
    let catalogue = robot_core::open(&url).unwrap();
    // No client uses this year.
    catalogue.add(Draft::new("other", "droid", 0)).unwrap();
    drop(catalogue);
    path
}

/// Does something to the files of a catalogue that is in use, and holds the server to what it
/// promises from then on, whichever way it ends.
fn nothing_is_promised_in_vain(run: &Run, fault: impl Fn(&Path)) {
    run.repeat(1, |random| {
        let objections = ["KILL", "TERM"].map(|ending| {
            let folder = tempfile::tempdir().unwrap();
            suffer(folder.path(), &fault, ending, random)
        });
        nobody_objects("the faults of the files", &objections.concat());
    });
}

/// What is wrong with what a server promises and tells, which ends by this signal.
fn suffer(folder: &Path, fault: impl Fn(&Path), ending: &str, random: &mut Rng) -> Vec<String> {
    let ledger = filled(folder, random);
    let server = Server::start(folder, &[]);
    let workload = Workload::start(&server, ledger, random);
    workload.writes(random.usize(1..50));
    fault(folder);
    let moment = Instant::now();
    workload.tries(6);
    let nowhere = call(&server.client(), "GET", "/nowhere", "");
    assert_eq!(nowhere.status, 404, "{}", nowhere.text());
    let ledger = workload.end();
    let (status, log) = server.stop(ending);
    let rows = rows(folder);
    let mut objections = Vec::new();
    if !status.success() && ending != "KILL" {
        objections.push(format!("{ending}: it ended with {status}"));
    }
    objections.extend(objection_to_the_log(&log).map(|text| format!("{ending}: {text}")));
    let mut untrue = ledger.lost_since(moment, &rows);
    untrue.extend(ledger.stored_in_secret(&rows));
    if let Some(first) = untrue.first() {
        let count = untrue.len();
        objections.push(format!(
            "{ending}: {count} writes are not as told, first {first}"
        ));
    }
    objections
}

/// Makes a catalogue whose robots are in the file itself, and no longer in its log.
fn filled(folder: &Path, random: &mut Rng) -> Ledger {
    let server = Server::start(folder, &[]);
    let workload = Workload::start(&server, Ledger::default(), random);
    workload.writes(100);
    let mut ledger = workload.end();
    ledger.is_true_of(&server);
    let (status, log) = server.stop("TERM");
    assert!(status.success(), "{status}: {log}");
    ledger
}

/// The robots of the file that the path names now; none where a server cannot use it.
fn rows(folder: &Path) -> Vec<Row> {
    match Server::launch(folder, &[]) {
        Ok(server) => try_list(&server).map_or_else(|_| Vec::new(), |(rows, _)| rows),
        Err(_) => Vec::new(),
    }
}

/// What is wrong with a log from which an operator is to learn which file to look at.
fn objection_to_the_log(log: &str) -> Option<String> {
    let mut last: Vec<_> = log.lines().rev().take(3).collect();
    last.reverse();
    if log.contains("panicked") {
        Some(format!("there was a panic: {log}"))
    } else if !log.contains("robots.db") {
        Some(format!("the log does not name the file: {last:?}"))
    } else {
        None
    }
}
