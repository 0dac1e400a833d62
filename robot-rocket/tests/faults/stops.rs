//! The server is told to stop.

use std::{
    io::{self, Write as _},
    mem,
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use crate::{
    ledger::{Ledger, Span, Write},
    look::{Look, added_in},
    options::Run,
    process::{Server, connection, wait_for},
    told::Told,
    workload::Workload,
};

/// How many requests are under way for certain when the server is told to stop.
const UNDER_WAY: usize = 4;

pub(crate) fn a_stop_under_load_finishes_what_is_under_way(run: &Run) {
    let folder = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::default();
    run.repeat(4, |random| {
        let server = Server::start(folder.path(), &[]);
        ledger.is_true_of(&server);
        let looks: Vec<_> = (0..UNDER_WAY).map(|_| last_one(&mut ledger)).collect();
        let workload = Workload::start(&server, mem::take(&mut ledger), random);
        workload.writes(random.usize(1..150));
        workload.server_may_end();
        let finished = stop(server, looks);
        ledger = workload.ends_with_the_server();
        for (id, write) in finished {
            ledger.add(Some(id), write);
        }
    });
    ledger.is_true_of(&Server::start(folder.path(), &[]));
    println!("{}: {ledger}", run.name);
}

/// A robot that is to be added while the server stops.
fn last_one(ledger: &mut Ledger) -> Look {
    let year = ledger.year();
    Look {
        name: format!("under way {year}"),
        kind: "droid".to_owned(),
        year,
    }
}

/// Stops a server that has the first half of some requests. The rest comes when nobody is let in
/// any more. The ids of the robots, which must all be added.
fn stop(server: Server, looks: Vec<Look>) -> Vec<(u64, Write)> {
    let asked = Instant::now();
    let address = server.address();
    let begun: Vec<_> = looks.iter().map(|look| begin(&server, look)).collect();
    let told = Instant::now();
    let stopping = thread::spawn(move || server.stop("TERM"));
    wait_for("new ones are refused", Duration::from_secs(5), || {
        TcpStream::connect(address).is_err()
    });
    let finish = |(look, (mut stream, rest)): (Look, (TcpStream, String))| {
        stream.write_all(rest.as_bytes()).unwrap();
        let answer = io::read_to_string(stream).unwrap_or_else(|error| error.to_string());
        let is_finished = answer.starts_with("HTTP/1.1 201 ");
        let took = told.elapsed();
        assert!(
            is_finished,
            "what was under way was answered with {answer:?}, {took:?} after the signal"
        );
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let write = Write {
            span: Span {
                asked,
                answered: Instant::now(),
            },
            told: Told::Done,
            look: Some(look.clone()),
        };
        (added_in(body.as_bytes(), &look), write)
    };
    let finished = looks.into_iter().zip(begun).map(finish).collect();
    let (status, log) = stopping.join().unwrap();
    assert!(status.success(), "{status}: {log}");
    assert_eq!(log, "", "a stop is nothing to warn of");
    finished
}

/// Sends the first half of a request, and waits until the server has asked for the rest: it is
/// at work on it then, and not about to be.
fn begin(server: &Server, look: &Look) -> (TcpStream, String) {
    let body = look.body();
    let head = format!(
        "POST /api/robots HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Length: {}\r\nExpect: 100-continue\r\n\r\n",
        body.len()
    );
    let mut stream = connection(server, &head);
    let mut go_on = [0; 25];
    std::io::Read::read_exact(&mut stream, &mut go_on).unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    let (first, rest) = body.split_at(20);
    stream.write_all(first.as_bytes()).unwrap();
    (stream, rest.to_owned())
}
