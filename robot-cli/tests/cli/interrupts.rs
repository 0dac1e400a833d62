//! Tests of SIGINT and SIGTERM during an import.

use std::{fs, io::Write, ops::Range, process::Child, thread, time::Duration};

use robot_core::{CatalogueExt, Draft};
use rustix::process::{Pid, Signal, kill_process};

use crate::sandbox::{Sandbox, wait, wait_until};

/// Reads NDJSON from a pipe that stays open.
const IMPORT: &str = "import - --format=ndjson";

fn send(signal: Signal, child: &Child) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// The number of robots that are stored.
fn stored(sandbox: &Sandbox) -> usize {
    sandbox.open("robots.db").list().unwrap().len()
}

fn line(number: usize) -> String {
    format!("{{\"name\":\"RX-{number}\",\"type\":\"droid\",\"year\":1}}\n")
}

fn write_robots(child: &mut Child, numbers: Range<usize>) {
    let input = child.stdin.as_mut().unwrap();
    for number in numbers {
        input.write_all(line(number).as_bytes()).unwrap();
    }
}

#[test]
fn signal_stops_import_before_the_end_of_its_input() {
    for (signal, expected) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let sandbox = Sandbox::with_no_robots();
        let mut child = sandbox.start(IMPORT);
        write_robots(&mut child, 0..3000);
        wait_until(|| stored(&sandbox) == 3000);
        send(signal, &child);
        let (stdout, stderr, status) = wait(child);
        let stopped = "Stopped at line 3000. Added 3,000 robots. To continue, run the command \
                       again with --on-conflict skip.\n";
        assert_eq!((stdout.as_str(), stderr.as_str()), ("", stopped));
        assert_eq!((status, stored(&sandbox)), (Some(expected), 3000));
    }
}

#[test]
fn interrupted_atomic_import_stores_nothing() {
    let sandbox = Sandbox::with_no_robots();
    let mut child = sandbox.start(&format!("{IMPORT} --atomic"));
    write_robots(&mut child, 0..3000);
    // It reads the rest of the pipe, and the signal arrives before or after that.
    thread::sleep(Duration::from_millis(200));
    send(Signal::INT, &child);
    let (stdout, stderr, status) = wait(child);
    assert_eq!((stdout.as_str(), status), ("", Some(130)));
    assert!(stderr.contains("; nothing was stored."), "{stderr}");
    assert_eq!(stored(&sandbox), 0);
}

#[test]
fn interrupted_import_stored_what_it_reports() {
    let sandbox = Sandbox::with_no_robots();
    let mut child = sandbox.start(IMPORT);
    let mut input = child.stdin.take().unwrap();
    // The pipe breaks when the import stops.
    let mut write = move |number| input.write_all(line(number).as_bytes());
    let writer = thread::spawn(move || (0..usize::MAX).find(|number| write(*number).is_err()));
    wait_until(|| stored(&sandbox) > 0);
    send(Signal::INT, &child);
    let (_, stderr, status) = wait(child);
    writer.join().unwrap();
    assert_eq!(status, Some(130));
    let rest = stderr.strip_prefix("Stopped at line ").unwrap();
    let (line, rest) = rest.split_once(". Added ").unwrap();
    let added = rest.split(' ').next().unwrap().replace(',', "");
    assert_eq!(line, added, "{stderr}");
    assert_eq!(stored(&sandbox).to_string(), added);
}

/// Sends a signal to a command while it writes a file, and returns the exit status, the files that
/// are not the catalogue's, and the content of the file.
fn stopped_while_writing(
    sandbox: &Sandbox,
    arguments: &str,
    signal: Signal,
) -> (Option<i32>, Vec<String>, String) {
    sandbox.write("file.csv", "previous content");
    let child = sandbox.start(arguments);
    wait_until(|| sandbox.other_names().len() > 1);
    send(signal, &child);
    let (.., status) = wait(child);
    (status, sandbox.other_names(), sandbox.read("file.csv"))
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
            fs::remove_file(sandbox.path(file)).unwrap();
        }
    }
}

#[test]
fn second_signal_terminates_process() {
    let sandbox = Sandbox::with_no_robots();
    let mut child = sandbox.start(IMPORT);
    write_robots(&mut child, 0..1);
    wait_until(|| stored(&sandbox) == 1);
    send(Signal::INT, &child);
    send(Signal::INT, &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
