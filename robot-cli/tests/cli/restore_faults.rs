//! Restorations, and other commands that write files, whose system calls fail, or during which the process is
//! killed or another one starts.

use std::{
    fs, ops::ControlFlow, os::unix::fs::MetadataExt, process::Command, thread, time::Duration,
};

use robot_core::{BackupError, CatalogueExt, Draft, Existing, OpenOptions};
use rustix::fs::{FlockOperation, fcntl_lock};

use crate::{
    restore::REPLACE,
    sandbox::{Outcome, Sandbox, contains, start, wait, wait_until},
};

/// The system calls that change the folder of a catalogue, or wait until it is on disk.
const CALLS: [&str; 7] = [
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
    "fsync",
    "fdatasync",
];

/// More than a thread of a restoration has of one of these calls.
const CALL_LIMIT: usize = 20;

/// A sandbox with a backup of three robots, `copy.db`, and a catalogue with a fourth robot, which is
/// in the log that a killed process left behind.
fn crashed() -> Sandbox {
    let running = Sandbox::with_three_robots();
    let crashed = Sandbox::new();
    running.stdout("backup copy.db");
    let catalogue = running.open("robots.db");
    catalogue.add(Draft::new("Marvin", "droid", 1978)).unwrap();
    for file in ["copy.db", "robots.db", "robots.db-wal"] {
        fs::copy(running.path(file), crashed.path(file)).unwrap();
    }
    crashed
}

/// Runs a command, with a fault at the n-th of the calls of a name. `None` if there are fewer.
fn run_with(
    sandbox: &Sandbox,
    command: &str,
    (fault, call, number): (&str, &str, usize),
) -> Option<Outcome> {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o", "calls.log", "-e"]);
    strace.args([&format!("trace={call}"), "-e"]);
    strace.arg(format!("inject={call}:{fault}:when={number}"));
    strace
        .arg(env!("CARGO_BIN_EXE_robot-cli"))
        .args(command.split(' '));
    strace
        .current_dir(sandbox.path("."))
        .env_remove("DATABASE_URL");
    let outcome = wait(start(&mut strace));
    let log = sandbox.read("calls.log");
    let is_injected = log.contains("INJECTED") || log.contains("killed by SIGKILL");
    fs::remove_file(sandbox.path("calls.log")).unwrap();
    is_injected.then_some(outcome)
}

/// Gives an old catalogue its names again, if a restoration was killed or failed before the new one had them.
fn recover(sandbox: &Sandbox) {
    let file = sandbox.path("robots.db");
    if file.exists() {
        return;
    }
    let created = OpenOptions::default().open(&format!("sqlite://{}", file.display()));
    assert!(created.is_err(), "an empty catalogue hides the loss");
    for suffix in ["", "-wal"] {
        let old = sandbox.path(&format!("robots.db.replaced-1{suffix}"));
        let _ = fs::rename(old, sandbox.path(&format!("robots.db{suffix}")));
    }
}

fn inode(sandbox: &Sandbox) -> u64 {
    fs::metadata(sandbox.path("robots.db")).unwrap().ino()
}

/// Whether the file of the catalogue is another one than the `old` one, which must exist with its log
/// then, under either name.
#[track_caller]
fn is_restored(sandbox: &Sandbox, old: u64, context: &str) -> bool {
    // Not by its robots: the new file with the log of the old one would look like the old one.
    let is_restored = inode(sandbox) != old;
    let expected = if is_restored { 3 } else { 4 };
    assert_eq!(sandbox.count("robots.db"), expected, "{context}");
    if is_restored {
        let replaced = sandbox.count("robots.db.replaced-1");
        assert_eq!(replaced, 4, "{context}: the old catalogue is incomplete");
    }
    is_restored
}

/// Restores once for each call, with a fault there. Asserts that, after [`recover`],
/// the catalogue in place is complete, and is the new one if and only if the program says so.
fn at_each_call(fault: &str) {
    let mut results = Vec::new();
    for call in CALLS {
        for number in 1.. {
            assert!(number < CALL_LIMIT, "more than {CALL_LIMIT} calls: {call}");
            let sandbox = crashed();
            let old = inode(&sandbox);
            let fault = (fault, call, number);
            let Some(outcome) = run_with(&sandbox, REPLACE, fault) else {
                break;
            };
            recover(&sandbox);
            let context = format!("{fault:?}: {outcome:?}");
            let is_restored = is_restored(&sandbox, old, &context);
            results.push(is_restored);
            let (_, stderr, status) = outcome;
            let is_reported = status == Some(0) || stderr.contains("robots.db' is complete, but");
            assert!(status.is_none() || is_restored == is_reported, "{context}");
        }
    }
    assert!(results.contains(&true) && results.contains(&false));
}

#[test]
fn killed_restore_keeps_the_old_catalogue() {
    at_each_call("signal=KILL");
}

/// The WAL of the old catalogue is renamed after it.
#[test]
fn repeated_restore_keeps_the_old_catalogue_with_its_wal() {
    for number in 1.. {
        let sandbox = crashed();
        if run_with(&sandbox, REPLACE, ("signal=KILL", "rename", number)).is_none() {
            assert!(number > 2, "the WAL was not renamed");
            break;
        }
        sandbox.stdout(REPLACE);
        assert_eq!(sandbox.count("robots.db"), 3);
        let replaced = sandbox.count("robots.db.replaced-1");
        assert_eq!(replaced, 4, "killed at rename {number}");
    }
}

#[test]
fn failed_call_keeps_the_old_catalogue() {
    at_each_call("error=EIO");
}

/// The second sync is that of the folder.
#[test]
fn complete_file_whose_folder_cannot_be_synced_is_reported() {
    for (command, file) in [
        ("backup copy.db", "copy.db"),
        ("export copy.csv", "copy.csv"),
    ] {
        let sandbox = Sandbox::with_three_robots();
        let fault = ("error=EIO", "fsync", 2);
        let (_, stderr, status) = run_with(&sandbox, command, fault).unwrap();
        assert_eq!(status, Some(1), "{stderr}");
        let expected = format!("'{file}' is complete, but its folder cannot be synced");
        contains(&stderr, &[&expected]);
        assert!(sandbox.path(file).exists());
    }
}

/// A program that starts during a restoration waits for the lock on the file that is replaced.
#[test]
fn program_that_starts_meanwhile_uses_neither_file() {
    for command in ["add Marvin --type=droid --year=1978", "backup other.db"] {
        let sandbox = Sandbox::with_three_robots();
        sandbox.stdout("backup copy.db");
        let path = sandbox.path("robots.db");
        let file = fs::File::options().read(true).write(true).open(&path);
        let file = file.unwrap();
        fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        let waiting = sandbox.start(command);
        let files = format!("/proc/{}/fd", waiting.id());
        let target = fs::canonicalize(&path).unwrap();
        wait_until(|| {
            let mut files = fs::read_dir(&files).unwrap();
            files.any(|file| fs::read_link(file.unwrap().path()).is_ok_and(|file| file == target))
        });
        // It waits for the lock soon after that, for 2 s. If it does not yet, it notices the replacement earlier.
        thread::sleep(Duration::from_millis(300));
        fs::rename(&path, sandbox.path("old.db")).unwrap();
        fs::rename(sandbox.path("copy.db"), &path).unwrap();
        drop(file);
        let (_, stderr, status) = wait(waiting);
        assert_eq!(status, Some(1), "{command:?}: {stderr}");
        assert!(!sandbox.path("other.db").exists());
        let expected = "'robots.db': it was deleted, moved or replaced while it was in use";
        contains(&stderr, &[expected]);
        assert_eq!(sandbox.count("robots.db"), 3);
        assert_eq!(sandbox.count("old.db"), 3);
    }
}

#[test]
fn catalogue_created_during_a_restore_is_kept() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.stdout("backup copy.db");
    let path = sandbox.path("robots.db");
    fs::remove_file(&path).unwrap();
    let is_copying = || sandbox.names(".").iter().any(|name| name.contains(".part"));
    let restored = OpenOptions::default().restore_backup(
        sandbox.path("copy.db"),
        &format!("sqlite://{}", path.display()),
        Existing::Replace,
        |_| {
            if is_copying() && !path.exists() {
                sandbox.stdout("add Marvin --type=droid --year=1978");
            }
            ControlFlow::Continue(())
        },
    );
    assert!(
        matches!(restored, Err(BackupError::InUse(_))),
        "{restored:?}"
    );
    assert_eq!(sandbox.count("robots.db"), 1);
}

/// An empty catalogue would hide the loss, and SQLite would delete the WAL.
#[test]
fn no_catalogue_is_created_in_place_of_a_lost_one() {
    for (renamed, remedy) in [
        (
            "robots.db.replaced-1",
            "rename the newest file '.replaced-'",
        ),
        ("elsewhere.db", "put the file back beside its WAL"),
    ] {
        let sandbox = crashed();
        fs::rename(sandbox.path("robots.db"), sandbox.path(renamed)).unwrap();
        sandbox.reports("add Robby --type=droid --year=1956", 1, &[remedy]);
        fs::rename(sandbox.path(renamed), sandbox.path("robots.db")).unwrap();
        assert_eq!(sandbox.count("robots.db"), 4);
    }
}
