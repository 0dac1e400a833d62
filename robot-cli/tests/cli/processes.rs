//! Tests of concurrent processes on one catalogue.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Output, Stdio},
    thread,
    time::Duration,
};

use crate::sandbox::Sandbox;

/// Runs one process per name that adds a robot.
fn add_concurrently(sandbox: &Sandbox, names: &[String]) -> Vec<Output> {
    let children: Vec<Child> = names
        .iter()
        .map(|name| {
            sandbox
                .command(["add", name, "--type=droid", "--year=1", "--format=csv"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    children
        .into_iter()
        .map(|child| child.wait_with_output().unwrap())
        .collect()
}

#[test]
fn concurrent_adds_to_new_catalogue_succeed() {
    let sandbox = Sandbox::new();
    let names: Vec<_> = (0..8).map(|number| format!("RX-{number}")).collect();
    for (name, output) in names.iter().zip(add_concurrently(&sandbox, &names)) {
        let printed = String::from_utf8_lossy(&output.stdout);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(output.status.code(), Some(0));
        assert!(
            printed.ends_with(&format!(",{name},droid,1\n")),
            "{printed}"
        );
    }
    let list = sandbox.stdout("list --format=csv");
    let stored: Vec<_> = list
        .lines()
        .skip(1)
        .filter_map(|row| row.split(',').nth(1))
        .collect();
    assert_eq!(stored, names);
}

#[test]
fn concurrent_adds_of_same_name_have_one_winner() {
    let sandbox = Sandbox::new();
    sandbox.add([]);
    let names = vec!["Bender".to_owned(); 2];
    let mut outcomes: Vec<_> = add_concurrently(&sandbox, &names)
        .into_iter()
        .map(|output| {
            (
                output.status.code(),
                String::from_utf8(output.stdout).unwrap(),
                String::from_utf8(output.stderr).unwrap(),
            )
        })
        .collect();
    outcomes.sort();
    assert_eq!(
        outcomes,
        [
            (
                Some(0),
                "id,name,type,year\n1,Bender,droid,1\n".to_owned(),
                String::new()
            ),
            (
                Some(1),
                String::new(),
                "The robot name must be unique\n".to_owned()
            ),
        ]
    );
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
    let mut command = sandbox.command([
        "--timeout=30",
        "add",
        "Marvin",
        "--type=droid",
        "--year=1978",
    ]);
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
