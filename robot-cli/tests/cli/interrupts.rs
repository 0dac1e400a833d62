//! Tests of SIGINT and SIGTERM during an import.

use std::{
    io::Write,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use robot_core::{CatalogueExt, Draft};
use rustix::process::{Pid, Signal, kill_process};

use crate::sandbox::Sandbox;

/// Starts an import of NDJSON from a pipe that stays open.
fn start_import(sandbox: &Sandbox, options: &[&str]) -> Child {
    sandbox
        .command(["import", "-", "--format=ndjson"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn send(signal: Signal, child: &Child) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Waits until the number of robots meets a condition.
fn wait_for_robots(sandbox: &Sandbox, condition: impl Fn(usize) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !condition(sandbox.open("robots.db").list().unwrap().len()) {
        assert!(Instant::now() < deadline, "the robots were not stored");
        thread::sleep(Duration::from_millis(20));
    }
}

fn line(number: usize) -> String {
    format!("{{\"name\":\"RX-{number}\",\"type\":\"droid\",\"year\":1}}\n")
}

fn write_robots(child: &mut Child, names: std::ops::Range<usize>) {
    let input = child.stdin.as_mut().unwrap();
    for number in names {
        input.write_all(line(number).as_bytes()).unwrap();
    }
}

/// Standard error and status of an import that gets a signal before the end of its input.
fn stopped_by(signal: Signal) -> (String, Option<i32>) {
    let sandbox = Sandbox::new();
    sandbox.add([]);
    let mut child = start_import(&sandbox, &[]);
    write_robots(&mut child, 0..3000);
    wait_for_robots(&sandbox, |count| count == 3000);
    send(signal, &child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    wait_for_robots(&sandbox, |count| count == 3000);
    let stderr = String::from_utf8(output.stderr).unwrap();
    (stderr, output.status.code())
}

#[test]
fn signal_stops_import_before_the_end_of_its_input() {
    let stderr = "Stopped at line 3000. Added 3,000 robots. To continue, run the command \
                again with --on-conflict skip.\n";
    assert_eq!(stopped_by(Signal::INT), (stderr.to_owned(), Some(130)));
    assert_eq!(stopped_by(Signal::TERM), (stderr.to_owned(), Some(143)));
}

#[test]
fn interrupted_atomic_import_stores_nothing() {
    let sandbox = Sandbox::new();
    sandbox.add([]);
    let mut child = start_import(&sandbox, &["--atomic"]);
    write_robots(&mut child, 0..3000);
    // It reads the rest of the pipe, and the signal arrives before or after that.
    thread::sleep(Duration::from_millis(200));
    send(Signal::INT, &child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("; nothing was stored."), "{stderr}");
    assert!(sandbox.open("robots.db").list().unwrap().is_empty());
}

#[test]
fn interrupted_import_stored_what_it_reports() {
    let sandbox = Sandbox::new();
    sandbox.add([]);
    let mut child = start_import(&sandbox, &[]);
    let mut input = child.stdin.take().unwrap();
    let writer = thread::spawn(move || {
        // The pipe breaks when the import stops.
        for number in 0.. {
            if input.write_all(line(number).as_bytes()).is_err() {
                return;
            }
        }
    });
    wait_for_robots(&sandbox, |count| count > 0);
    send(Signal::INT, &child);
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let stderr = String::from_utf8(output.stderr).unwrap();
    let rest = stderr.strip_prefix("Stopped at line ").unwrap();
    let (line, rest) = rest.split_once(". Added ").unwrap();
    let added = rest.split(' ').next().unwrap().replace(',', "");
    assert_eq!(line, added, "{stderr}");
    let added: usize = added.parse().unwrap();
    assert_eq!(sandbox.open("robots.db").list().unwrap().len(), added);
}

/// Sends a signal to a command while it writes a file, and returns the exit status, the files that
/// are not the catalogue's, and the content of the file.
fn stopped_while_writing(
    sandbox: &Sandbox,
    arguments: &str,
    signal: Signal,
) -> (Option<i32>, Vec<String>, String) {
    sandbox.write("file.csv", "previous content");
    let mut child = sandbox
        .command(arguments.split(' '))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let others = || {
        let names = sandbox.path().read_dir().unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names
            .filter(|name| !name.starts_with("robots.db"))
            .collect();
        names.sort();
        names
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    while others().len() < 2 {
        assert!(Instant::now() < deadline, "no temporary file");
        thread::sleep(Duration::from_millis(1));
    }
    send(signal, &child);
    let status = child.wait().unwrap().code();
    (status, others(), sandbox.read("file.csv"))
}

#[test]
fn interrupted_command_leaves_the_file_as_it_was() {
    let sandbox = Sandbox::new();
    sandbox.add((0..30_000).map(|number| Draft::new(format!("RX-{number}"), "droid", 1)));
    for arguments in [
        "export file.csv",
        "backup --force file.csv",
        "restore --replace robots.db --database=sqlite://file.csv",
    ] {
        for (signal, expected) in [(Signal::INT, 130), (Signal::TERM, 143)] {
            let (status, files, content) = stopped_while_writing(&sandbox, arguments, signal);
            assert_eq!(status, Some(expected), "{arguments:?}");
            assert_eq!(files, ["file.csv"], "{arguments:?}");
            assert_eq!(content, "previous content");
        }
        // A killed process cannot delete its temporary file.
        let (_, files, content) = stopped_while_writing(&sandbox, arguments, Signal::KILL);
        assert_eq!(content, "previous content");
        for file in files.iter().filter(|file| *file != "file.csv") {
            assert!(file.starts_with(".robots-"), "{file}");
            std::fs::remove_file(sandbox.path().join(file)).unwrap();
        }
    }
}

#[test]
fn second_signal_terminates_process() {
    let sandbox = Sandbox::new();
    let mut child = start_import(&sandbox, &[]);
    write_robots(&mut child, 0..1);
    wait_for_robots(&sandbox, |count| count == 1);
    send(Signal::INT, &child);
    send(Signal::INT, &child);
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
}
