//! Tests of closed pipes and full disks.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    process::Stdio,
};

use robot_core::Draft;

use crate::sandbox::{Sandbox, wait};

/// Runs the program with its standard output closed by the reader after a line, or at once. Returns the
/// line, standard error and the exit status.
fn run_with_closed_pipe(
    sandbox: &Sandbox,
    arguments: &str,
    reads_line: bool,
) -> (String, String, Option<i32>) {
    let mut child = sandbox.start(arguments);
    let mut line = String::new();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    if reads_line {
        reader.read_line(&mut line).unwrap();
    }
    drop(reader);
    let (_, stderr, status) = wait(child);
    (line, stderr, status)
}

#[test]
fn closed_pipe_is_no_failure() {
    // A list that is larger than a pipe and the program's buffer together.
    let sandbox = Sandbox::new();
    sandbox.add((0..1500).map(|n| Draft::new(format!("{n:0>200}"), "virtual", 1)));
    for (format, first) in [
        ("table", "  ID  NAME"),
        ("json", "["),
        ("ndjson", "{\"id\":\"1\""),
        ("csv", "id,name,type,year"),
    ] {
        let list = format!("list --format {format}");
        let (line, stderr, status) = run_with_closed_pipe(&sandbox, &list, true);
        assert!(line.starts_with(first), "{line}");
        assert_eq!((stderr.as_str(), status), ("", Some(0)), "{format}");
    }
}

#[test]
fn problems_found_are_reported_despite_closed_pipe() {
    let sandbox = Sandbox::with_three_robots();
    let bytes = sandbox.files()["robots.db"].clone();
    sandbox.write("robots.db", &bytes[..bytes.len() / 2]);
    let (_, error, status) = run_with_closed_pipe(&sandbox, "check", false);
    assert_eq!(status, Some(3));
    assert!(error.starts_with("error: problems were found"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    let (error, status) = run_on_a_full_disk(&sandbox, "check");
    assert_eq!(status, Some(3), "{error}");
    assert!(
        error.starts_with("error: cannot write the output"),
        "{error}"
    );
}

#[test]
fn changes_complete_despite_closed_pipe() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.write("a.csv", "name,type,year\na,droid,-1\nb,droid,1\n");
    for (arguments, error) in [
        (
            "delete --yes 1 2 9",
            "error: No robot has the id 9\nList the robots with: robot-cli list\n",
        ),
        (
            "import a.csv --keep-going",
            "a.csv:2: The year cannot be less than zero\n",
        ),
    ] {
        let (_, stderr, status) = run_with_closed_pipe(&sandbox, arguments, false);
        assert_eq!((stderr.as_str(), status), (error, Some(1)));
    }
    sandbox.has("3,HAL 9000,virtual,0\n4,b,droid,1\n");
}

/// Standard error and exit status of a run whose standard output is a full disk.
fn run_on_a_full_disk(sandbox: &Sandbox, arguments: &str) -> (String, Option<i32>) {
    let full = File::options().write(true).open("/dev/full");
    let mut command = sandbox.command(arguments);
    let command = command.stdout(full.unwrap()).stderr(Stdio::piped());
    let (_, stderr, status) = wait(command.spawn().unwrap());
    (stderr, status)
}

#[test]
fn full_disk_fails_commands_that_print() {
    let sandbox = Sandbox::with_three_robots();
    let message = "error: cannot write the output: No space left on device (os error 28); the \
                   output is incomplete, so free disk space or write to another file, and run \
                   the command again\n";
    let commands = "list;list --format json;list --format csv;search R2 --format ndjson;get 1;\
                    get 1 --format csv;--help;--version";
    for arguments in commands.split(';') {
        let found = run_on_a_full_disk(&sandbox, arguments);
        assert_eq!(found, (message.to_owned(), Some(1)), "{arguments}");
    }
}

#[test]
fn full_disk_after_change_reports_success_of_change() {
    let sandbox = Sandbox::with_three_robots();
    let message = "error: the command succeeded, but its result cannot be printed: No space left on \
                   device (os error 28); check it with: robot-cli list\n";
    for arguments in [
        "add Marvin --type=droid --year=1978",
        "update 1 --year 1980",
        "delete --yes 2 3",
    ] {
        let found = run_on_a_full_disk(&sandbox, arguments);
        assert_eq!(found, (message.to_owned(), Some(1)), "{arguments}");
    }
    sandbox.has("4,Marvin,droid,1978\n1,R2-D2,droid,1980\n");
}
