//! SIGTERM under load.

use std::{io::Write as _, mem, net::TcpStream, thread, time::Instant};

use crate::{
    options::Run,
    process::{Server, answer, wait_for},
    workload::{Interval, Ledger, Outcome, Robot, Workload, Write, added_id},
};

/// The number of requests that are in progress when the server is stopped.
const IN_PROGRESS: usize = 4;

pub(crate) fn stop_under_load_finishes_requests_in_progress(run: &Run) {
    let folder = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::default();
    run.repeat(2, |random| {
        let server = Server::start(folder.path(), &[]);
        ledger.assert_consistent_with(&server);
        let robots: Vec<_> = (0..IN_PROGRESS).map(|_| new_robot(&mut ledger)).collect();
        let workload = Workload::start(&server, mem::take(&mut ledger), random);
        workload.wait_for_writes(random.usize(1..150));
        workload.allow_server_end();
        let finished = stop(server, robots);
        ledger = workload.join();
        for (id, write) in finished {
            ledger.record_addition(Some(id), write);
        }
    });
    ledger.assert_consistent_with(&Server::start(folder.path(), &[]));
    println!("{}: {ledger}", run.name);
}

fn new_robot(ledger: &mut Ledger) -> Robot {
    let year = ledger.unused_year();
    Robot {
        name: format!("in progress {year}"),
        kind: "droid".to_owned(),
        year,
    }
}

/// Stops a server that has received the first half of some additions, and sends the rest when new
/// connections are refused. Returns the additions, all of which must succeed.
fn stop(server: Server, robots: Vec<Robot>) -> Vec<(u64, Write)> {
    let start = Instant::now();
    let address = server.address();
    let begun: Vec<_> = robots.iter().map(|robot| begin(&server, robot)).collect();
    let signalled = Instant::now();
    let stopping = thread::spawn(move || server.stop("TERM"));
    wait_for("new connections are refused", || {
        TcpStream::connect(address).is_err()
    });
    let finish = |(robot, (mut stream, rest)): (Robot, (TcpStream, String))| {
        stream.write_all(rest.as_bytes()).unwrap();
        let answer = answer(&mut stream);
        let after = signalled.elapsed();
        assert!(
            answer.starts_with("HTTP/1.1 201 "),
            "{answer:?}, {after:?} after the signal"
        );
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let end = Instant::now();
        let write = Write {
            interval: Interval { start, end },
            outcome: Outcome::Done,
            robot: Some(robot.clone()),
        };
        (added_id(body.as_bytes(), &robot), write)
    };
    let finished = robots.into_iter().zip(begun).map(finish).collect();
    let (status, log) = stopping.join().unwrap();
    assert!(status.success(), "{status}: {log}");
    assert_eq!(log, "");
    finished
}

/// Sends the first half of an addition, and waits until the server has asked for the rest.
fn begin(server: &Server, robot: &Robot) -> (TcpStream, String) {
    let body = robot.body();
    let mut stream = server.begin(body.len());
    let (first, rest) = body.split_at(20);
    stream.write_all(first.as_bytes()).unwrap();
    (stream, rest.to_owned())
}
