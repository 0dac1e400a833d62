//! Readers who go away, and disks that are full.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use robot_core::Draft;

use crate::sandbox::{ADVICE, Sandbox};

/// More than a pipe and the program's buffer hold together.
fn sandbox_with_much_to_print() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.keep((0..1500).map(|n| Draft::new(format!("{n:0>200}"), "virtual", 1)));
    sandbox
}

#[test]
fn a_reader_who_has_seen_enough_is_no_failure() {
    let sandbox = sandbox_with_much_to_print();
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

#[test]
fn a_reader_who_is_gone_keeps_no_robot_alive() {
    let sandbox = Sandbox::with_three_robots();
    let mut child = sandbox
        .command(["delete", "--yes", "1", "2", "9"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        format!("error: No robot has the id 9\n{ADVICE}")
    );
    sandbox.prints(
        &["list", "--format=csv"],
        "id,name,type,year\n3,HAL 9000,virtual,0\n",
    );
}

/// Standard error and the exit status of a run whose output goes to a full disk.
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
fn output_that_cannot_be_written_is_a_failure() {
    let sandbox = Sandbox::with_three_robots();
    for format in ["table", "json", "ndjson", "csv"] {
        for arguments in [&["list"][..], &["search", "R2"], &["get", "1"]] {
            let arguments = [arguments, &["--format", format]].concat();
            assert_eq!(
                run_on_a_full_disk(&sandbox, &arguments),
                (
                    "error: the output could not be written: No space left on device \
                     (os error 28); what was printed is incomplete, so make room or print to \
                     another place, and run the command again\n"
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
fn a_change_that_was_made_is_told_although_it_cannot_be_shown() {
    let sandbox = Sandbox::with_three_robots();
    let said = "error: the change was made, but cannot be shown: No space left \
                on device (os error 28); see the robots with 'robot-cli list'\n";
    for arguments in [
        &["add", "Marvin", "--type=droid", "--year=1978"][..],
        &["update", "1", "--year", "1980"],
        &["delete", "--yes", "2", "3"],
    ] {
        assert_eq!(
            run_on_a_full_disk(&sandbox, arguments),
            (said.to_owned(), Some(1)),
            "{arguments:?}"
        );
    }
    sandbox.prints(
        &["list", "--format=csv"],
        "id,name,type,year\n4,Marvin,droid,1978\n1,R2-D2,droid,1980\n",
    );
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_a_failure() {
    for option in ["--help", "--version"] {
        let (said, status) = run_on_a_full_disk(&Sandbox::new(), &[option]);
        assert!(
            said.starts_with("error: the output could not be written: No space left on device"),
            "{said}"
        );
        assert_eq!(status, Some(1));
    }
}
