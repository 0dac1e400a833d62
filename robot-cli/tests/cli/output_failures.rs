//! Tests of closed pipes and full disks.

use std::{
    io::{BufRead, BufReader},
    process::{Output, Stdio},
};

use robot_core::Draft;

use crate::sandbox::{HINT, Sandbox};

/// A list that is larger than a pipe and the program's buffer together.
fn sandbox_with_long_list() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.add((0..1500).map(|n| Draft::new(format!("{n:0>200}"), "virtual", 1)));
    sandbox
}

/// Runs the program with its standard output closed by the reader.
fn run_with_closed_pipe(sandbox: &Sandbox, args: &[&str]) -> Output {
    let mut child = sandbox
        .command(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    child.wait_with_output().unwrap()
}

#[test]
fn closed_pipe_is_no_failure() {
    let sandbox = sandbox_with_long_list();
    for (format, first) in [
        ("table", "  ID  NAME"),
        ("json", "["),
        ("ndjson", "{\"id\":\"1\""),
        ("csv", "id,name,type,year"),
    ] {
        let mut child = sandbox
            .command(["list", "--format", format])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        reader.read_line(&mut line).unwrap();
        drop(reader);
        let output = child.wait_with_output().unwrap();
        assert!(line.starts_with(first), "{line}");
        assert_eq!(output.status.code(), Some(0), "{format}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{format}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn problems_found_are_reported_despite_closed_pipe() {
    let sandbox = Sandbox::with_three_robots();
    let file = sandbox.path().join("robots.db");
    let length = std::fs::metadata(&file).unwrap().len();
    std::fs::File::options()
        .write(true)
        .open(&file)
        .and_then(|file| file.set_len(length / 2))
        .unwrap();
    let output = run_with_closed_pipe(&sandbox, &["check"]);
    assert_eq!(output.status.code(), Some(3));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.starts_with("error: problems were found"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    let (error, status) = run_on_a_full_disk(&sandbox, &["check"]);
    assert_eq!(status, Some(3), "{error}");
    assert!(
        error.starts_with("error: cannot write the output"),
        "{error}"
    );
}

#[test]
fn delete_completes_despite_closed_pipe() {
    let sandbox = Sandbox::with_three_robots();
    let output = run_with_closed_pipe(&sandbox, &["delete", "--yes", "1", "2", "9"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        format!("error: No robot has the id 9\n{HINT}")
    );
    sandbox.has("3,HAL 9000,virtual,0\n");
}

#[test]
fn closed_pipe_does_not_stop_an_import_that_keeps_going() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.csv", "name,type,year\na,droid,-1\nb,droid,1\n");
    let output = run_with_closed_pipe(&sandbox, &["import", "robots.csv", "--keep-going"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "robots.csv:2: The year cannot be less than zero\n"
    );
    sandbox.has("1,b,droid,1\n");
}

/// Standard error and exit status of a run whose standard output is a full disk.
#[cfg(target_os = "linux")]
fn run_on_a_full_disk(sandbox: &Sandbox, arguments: &[&str]) -> (String, Option<i32>) {
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = sandbox
        .command(arguments)
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    (
        String::from_utf8(output.stderr).unwrap(),
        output.status.code(),
    )
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_fails_list_search_and_get() {
    let sandbox = Sandbox::with_three_robots();
    for format in ["table", "json", "ndjson", "csv"] {
        for arguments in [&["list"][..], &["search", "R2"], &["get", "1"]] {
            let arguments = [arguments, &["--format", format]].concat();
            assert_eq!(
                run_on_a_full_disk(&sandbox, &arguments),
                (
                    "error: cannot write the output: No space left on device (os error 28); the \
                     output is incomplete, so free disk space or write to another file, and run \
                     the command again\n"
                        .to_owned(),
                    Some(1)
                ),
                "{arguments:?}"
            );
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_after_change_reports_success_of_change() {
    let sandbox = Sandbox::with_three_robots();
    let stderr = "error: the command succeeded, but its result cannot be printed: No space left on \
                  device (os error 28); check it with: robot-cli list\n";
    for arguments in [
        &["add", "Marvin", "--type=droid", "--year=1978"][..],
        &["update", "1", "--year", "1980"],
        &["delete", "--yes", "2", "3"],
    ] {
        assert_eq!(
            run_on_a_full_disk(&sandbox, arguments),
            (stderr.to_owned(), Some(1)),
            "{arguments:?}"
        );
    }
    sandbox.has("4,Marvin,droid,1978\n1,R2-D2,droid,1980\n");
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_fails_help_and_version() {
    for option in ["--help", "--version"] {
        let (stderr, status) = run_on_a_full_disk(&Sandbox::new(), &[option]);
        assert!(
            stderr.starts_with("error: cannot write the output: No space left on device"),
            "{stderr}"
        );
        assert_eq!(status, Some(1));
    }
}
