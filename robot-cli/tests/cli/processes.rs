//! Tests of concurrent processes on one catalogue.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use crate::sandbox::{Sandbox, contains};

/// Runs one process per name that adds a robot. Returns standard output and standard error of each.
fn add_concurrently(sandbox: &Sandbox, names: &[String]) -> Vec<(String, String)> {
    let start = |name: &String| {
        let add = format!("add {name} --type=droid --year=1 --format=csv");
        let mut command = sandbox.command(add.split(' '));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let children: Vec<Child> = names.iter().map(start).collect();
    let outputs = children.into_iter().map(|child| {
        let output = child.wait_with_output().unwrap();
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (stdout, stderr)
    });
    outputs.collect()
}

#[test]
fn concurrent_adds_to_new_catalogue_succeed() {
    let sandbox = Sandbox::new();
    let names: Vec<_> = (0..8).map(|number| format!("RX-{number}")).collect();
    for (name, (stdout, stderr)) in names.iter().zip(add_concurrently(&sandbox, &names)) {
        contains(&stdout, &[&format!(",{name},droid,1\n")]);
        assert_eq!(stderr, "");
    }
    let list = sandbox.stdout("list --format=csv");
    let rows = list.lines().skip(1);
    assert!(rows.map(|row| row.split(',').nth(1).unwrap()).eq(names));
}

#[test]
fn wait_for_another_program_is_not_reported() {
    let sandbox = Sandbox::with_three_robots();
    let mut other = Command::new("sqlite3")
        .arg("robots.db")
        .current_dir(sandbox.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = other.stdin.take().unwrap();
    writeln!(input, "BEGIN IMMEDIATE; SELECT 'locked';").unwrap();
    let mut output = BufReader::new(other.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    let add = "--timeout=30 add Marvin --type=droid --year=1978";
    let mut command = sandbox.command(add.split(' '));
    let waiting = command.stderr(Stdio::piped()).spawn().unwrap();
    // Longer than a slow statement.
    thread::sleep(Duration::from_secs(1));
    drop(input);
    other.wait().unwrap();
    let added = waiting.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&added.stderr), "");
    assert!(added.status.success());
}

/// Connections that are still open at the end of the program would keep the log.
#[test]
fn reads_leave_no_log_behind() {
    let sandbox = Sandbox::with_three_robots();
    for _ in 0..50 {
        sandbox.stdout("list");
        assert!(!sandbox.path().join("robots.db-wal").exists());
    }
}
