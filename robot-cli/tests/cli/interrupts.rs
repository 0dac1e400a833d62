//! Ctrl-C, and the signal that `kill` sends.

use std::{
    io::{BufRead, Write},
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::sandbox::Sandbox;

/// Starts an import of NDJSON from a pipe that stays open.
fn start_import(sandbox: &Sandbox) -> Child {
    sandbox
        .command(["import", "-", "--format=ndjson"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn send(signal: Signal, child: &Child) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn wait_for_robots(sandbox: &Sandbox, count: usize) {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let list = sandbox.run(&["list", "--format=ndjson"]).success();
        if list.get_output().stdout.lines().count() == count {
            return;
        }
        assert!(Instant::now() < deadline, "the robots never arrived");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A robot of this number.
fn line(number: usize) -> String {
    format!("{{\"name\":\"RX-{number}\",\"type\":\"droid\",\"year\":1}}\n")
}

/// Writes robots of these numbers, a line each.
fn write_robots(child: &mut Child, names: std::ops::Range<usize>) {
    let input = child.stdin.as_mut().unwrap();
    for number in names {
        input.write_all(line(number).as_bytes()).unwrap();
    }
}

/// What an import says that is stopped by a signal while it waits for more, and its status.
fn stopped_by(signal: Signal) -> (String, Option<i32>) {
    let sandbox = Sandbox::new();
    sandbox.keep([]);
    let mut child = start_import(&sandbox);
    write_robots(&mut child, 0..3000);
    wait_for_robots(&sandbox, 3000);
    send(signal, &child);
    let input = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(input);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    wait_for_robots(&sandbox, 3000);
    (
        String::from_utf8(output.stderr).unwrap(),
        output.status.code(),
    )
}

#[test]
fn an_import_that_waits_for_input_stops_and_says_how_far_it_got() {
    let said = "Stopped at line 3000: 3,000 robots were added; run it again with --on-conflict \
                skip to go on\n";
    assert_eq!(stopped_by(Signal::INT), (said.to_owned(), Some(130)));
    assert_eq!(stopped_by(Signal::TERM), (said.to_owned(), Some(143)));
}

#[test]
fn an_import_that_was_stopped_goes_on_where_it_was() {
    let sandbox = Sandbox::new();
    sandbox.keep([]);
    let mut child = start_import(&sandbox);
    let mut input = child.stdin.take().unwrap();
    let writer = thread::spawn(move || {
        // The pipe breaks when the import stops.
        for number in 0.. {
            if input.write_all(line(number).as_bytes()).is_err() {
                return;
            }
        }
    });
    thread::sleep(Duration::from_millis(500));
    send(Signal::INT, &child);
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8(output.stderr).unwrap();
    let rest = said.strip_prefix("Stopped at line ").unwrap();
    let (line, rest) = rest.split_once(": ").unwrap();
    let added = rest.split(' ').next().unwrap().replace(',', "");
    assert_eq!(line, added, "{said}");
    // What was told was stored, and nothing else.
    wait_for_robots(&sandbox, added.parse().unwrap());
}

#[test]
fn a_second_signal_ends_the_program_at_once() {
    let sandbox = Sandbox::new();
    let mut child = start_import(&sandbox);
    write_robots(&mut child, 0..1);
    wait_for_robots(&sandbox, 1);
    send(Signal::INT, &child);
    send(Signal::INT, &child);
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
}
