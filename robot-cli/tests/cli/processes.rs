//! Tests of concurrent processes on one catalogue.

use std::{
    io::{BufRead, BufReader, Write},
    process::Command,
    thread,
    time::Duration,
};

use crate::sandbox::{Sandbox, start, wait};

#[test]
fn concurrent_adds_to_new_catalogue_succeed() {
    let sandbox = Sandbox::new();
    let add = |name: &String| format!("add {name} --type=droid --year=1 --format=csv");
    let names: Vec<_> = (0..8).map(|number| format!("RX-{number}")).collect();
    let adding: Vec<_> = names.iter().map(|name| sandbox.start(&add(name))).collect();
    for (name, child) in names.iter().zip(adding) {
        let (stdout, stderr, status) = wait(child);
        assert!(stdout.ends_with(&format!(",{name},droid,1\n")), "{stdout}");
        assert_eq!((stderr.as_str(), status), ("", Some(0)));
    }
    let list = sandbox.stdout("list --format=csv");
    let rows = list.lines().skip(1);
    assert!(rows.map(|row| row.split(',').nth(1).unwrap()).eq(names));
}

#[test]
fn wait_for_another_program_is_not_reported() {
    let sandbox = Sandbox::with_three_robots();
    let mut other = Command::new("sqlite3");
    let mut other = start(other.arg("robots.db").current_dir(sandbox.path(".")));
    let input = other.stdin.as_mut().unwrap();
    writeln!(input, "BEGIN IMMEDIATE; SELECT 'locked';").unwrap();
    let mut output = BufReader::new(other.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    let waiting = sandbox.start("--timeout=30 add Marvin --type=droid --year=1978");
    // Longer than a slow statement.
    thread::sleep(Duration::from_secs(1));
    let _ = wait(other);
    let (_, stderr, status) = wait(waiting);
    assert_eq!((stderr.as_str(), status), ("", Some(0)));
}

/// Connections that are still open at the end of the program would keep the log.
#[test]
fn reads_leave_no_log_behind() {
    let sandbox = Sandbox::with_three_robots();
    for _ in 0..50 {
        sandbox.stdout("list");
        assert_eq!(sandbox.names("."), ["robots.db"]);
    }
}
