//! Restorations, and other commands that write files, whose system calls fail, or during which the process is
//! killed or another one starts.

use std::{
    fs,
    ops::ControlFlow,
    os::unix::fs::MetadataExt,
    path::Path,
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use robot_core::{BackupError, CatalogueExt, Draft, Existing, OpenOptions};
use rustix::fs::{FlockOperation, fcntl_lock};

use crate::{restore::REPLACE, sandbox::Sandbox};

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
    let _ = running.run("backup copy.db").success();
    let catalogue = running.open("robots.db");
    catalogue.add(Draft::new("Marvin", "droid", 1978)).unwrap();
    for file in ["copy.db", "robots.db", "robots.db-wal"] {
        fs::copy(running.path().join(file), crashed.path().join(file)).unwrap();
    }
    crashed
}

/// Replaces the catalogue, with a fault at the n-th of the calls of a name. `None` if there are fewer.
fn restore_with(sandbox: &Sandbox, fault: &str, call: &str, number: usize) -> Option<Output> {
    run_with(sandbox, REPLACE, fault, call, number)
}

/// Runs a command, with a fault at the n-th of the calls of a name. `None` if there are fewer.
fn run_with(
    sandbox: &Sandbox,
    command: &str,
    fault: &str,
    call: &str,
    number: usize,
) -> Option<Output> {
    let output = Command::new("strace")
        .args(["-f", "-qq", "-o", "calls.log", "-e"])
        .arg(format!("trace={call}"))
        .arg("-e")
        .arg(format!("inject={call}:{fault}:when={number}"))
        .arg(env!("CARGO_BIN_EXE_robot-cli"))
        .args(command.split(' '))
        .current_dir(sandbox.path())
        .env_remove("DATABASE_URL")
        .output()
        .inspect_err(|_| eprintln!("install strace (Debian package strace)"))
        .unwrap();
    let log = sandbox.read("calls.log");
    let is_injected = log.contains("INJECTED") || log.contains("killed by SIGKILL");
    fs::remove_file(sandbox.path().join("calls.log")).unwrap();
    is_injected.then_some(output)
}

/// The number of robots of a catalogue.
fn count(sandbox: &Sandbox, file: &str) -> usize {
    let list = sandbox.stdout(&format!("list --format=ndjson --database=sqlite://{file}"));
    list.lines().count()
}

/// Gives an old catalogue its names again, if a restoration was killed or failed before the new one had them.
fn recover(folder: &Path) {
    if folder.join("robots.db").exists() {
        return;
    }
    let create =
        OpenOptions::default().open(&format!("sqlite://{}", folder.join("robots.db").display()));
    assert!(create.is_err(), "an empty catalogue hides the loss");
    for suffix in ["", "-wal"] {
        let old = folder.join(format!("robots.db.replaced-1{suffix}"));
        let _ = fs::rename(old, folder.join(format!("robots.db{suffix}")));
    }
}

fn inode(sandbox: &Sandbox) -> u64 {
    let file = fs::metadata(sandbox.path().join("robots.db"));
    file.unwrap().ino()
}

/// Whether the file of the catalogue is another one than the `old` one, which must exist with its log
/// then, under either name.
#[track_caller]
fn is_restored(sandbox: &Sandbox, old: u64, context: &str) -> bool {
    // Not by its robots: the new file with the log of the old one would look like the old one.
    let is_restored = inode(sandbox) != old;
    let expected = if is_restored { 3 } else { 4 };
    assert_eq!(count(sandbox, "robots.db"), expected, "{context}");
    if is_restored {
        let replaced = count(sandbox, "robots.db.replaced-1");
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
            let Some(output) = restore_with(&sandbox, fault, call, number) else {
                break;
            };
            recover(sandbox.path());
            let context = format!("{fault} at {call} {number}: {output:?}");
            results.push(is_restored(&sandbox, old, &context));
            let stderr = String::from_utf8_lossy(&output.stderr);
            let is_reported =
                output.status.success() || stderr.contains("robots.db' is complete, but");
            let was_killed = output.status.code().is_none();
            assert!(
                was_killed || results.last() == Some(&is_reported),
                "{context}"
            );
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
        if restore_with(&sandbox, "signal=KILL", "rename", number).is_none() {
            assert!(number > 2, "the WAL was not renamed");
            break;
        }
        let _ = sandbox.run(REPLACE).success();
        assert_eq!(count(&sandbox, "robots.db"), 3);
        let replaced = count(&sandbox, "robots.db.replaced-1");
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
        let output = run_with(&sandbox, command, "error=EIO", "fsync", 2).unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        let expected = format!("'{file}' is complete, but its folder cannot be synced");
        assert!(stderr.contains(&expected), "{stderr}");
        assert!(sandbox.path().join(file).exists());
    }
}

/// A program that starts during a restoration waits for the lock on the file that is replaced.
#[test]
fn program_that_starts_meanwhile_uses_neither_file() {
    uses_neither_file("add Marvin --type=droid --year=1978");
    uses_neither_file("backup other.db");
}

fn uses_neither_file(command: &str) {
    let sandbox = Sandbox::with_three_robots();
    let _ = sandbox.run("backup copy.db").success();
    let path = sandbox.path().join("robots.db");
    let file = fs::File::options().read(true).write(true).open(&path);
    let file = file.unwrap();
    fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
    let waiting = sandbox
        .command(command.split(' '))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let files = format!("/proc/{}/fd", waiting.id());
    let deadline = Instant::now() + Duration::from_secs(60);
    let is_open = || {
        let files = fs::read_dir(&files).unwrap();
        let mut targets = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
        targets.any(|target| target == fs::canonicalize(&path).unwrap())
    };
    while !is_open() {
        assert!(Instant::now() < deadline, "the file was not opened");
        thread::sleep(Duration::from_millis(1));
    }
    // It waits for the lock soon after that, for 2 s. If it does not yet, it notices the replacement earlier.
    thread::sleep(Duration::from_millis(300));
    fs::rename(&path, sandbox.path().join("old.db")).unwrap();
    fs::rename(sandbox.path().join("copy.db"), &path).unwrap();
    drop(file);
    let output = waiting.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{command:?}: {stderr}");
    assert!(!sandbox.path().join("other.db").exists());
    let expected = "'robots.db': it was deleted, moved or replaced while it was in use";
    assert!(stderr.contains(expected), "{stderr}");
    assert_eq!(count(&sandbox, "robots.db"), 3);
    assert_eq!(count(&sandbox, "old.db"), 3);
}

#[test]
fn catalogue_created_during_a_restore_is_kept() {
    let sandbox = Sandbox::with_three_robots();
    let _ = sandbox.run("backup copy.db").success();
    let path = sandbox.path().join("robots.db");
    fs::remove_file(&path).unwrap();
    let is_copying = || {
        let mut files = fs::read_dir(sandbox.path()).unwrap();
        files.any(|file| file.unwrap().path().extension() == Some("part".as_ref()))
    };
    let restored = OpenOptions::default().restore_backup(
        sandbox.path().join("copy.db"),
        &format!("sqlite://{}", path.display()),
        Existing::Replace,
        |_| {
            if is_copying() && !path.exists() {
                let add = "add Marvin --type=droid --year=1978";
                let _ = sandbox.run(add).success();
            }
            ControlFlow::Continue(())
        },
    );
    assert!(
        matches!(restored, Err(BackupError::InUse(_))),
        "{restored:?}"
    );
    assert_eq!(count(&sandbox, "robots.db"), 1);
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
        let file = |name| sandbox.path().join(name);
        fs::rename(file("robots.db"), file(renamed)).unwrap();
        sandbox.reports("add Robby --type=droid --year=1956", 1, &[remedy]);
        fs::rename(file(renamed), file("robots.db")).unwrap();
        assert_eq!(count(&sandbox, "robots.db"), 4);
    }
}
