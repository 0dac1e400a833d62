//! Time limits of connections: silent, slow and idle clients, and clients that do not read.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use crate::{
    Server,
    process::{ask, assert_status, open_files, read_to_end, wait_for},
};
use socket2::SockRef;

/// Time limits of one second end earlier than this, and the default limits later.
const SOON: Duration = Duration::from_secs(4);

/// One second, less what the clocks of two processes may differ.
const ONE_SECOND: Duration = Duration::from_millis(950);

const LIST: &str = "GET /api/robots HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A request after which the server closes the connection.
const LAST: &str = "GET /api/robots HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

const END_OF_LIST: &str = "]\r\n0\r\n\r\n";

/// A server with these time limits in seconds.
fn server(header_timeout: &str, keep_alive: &str) -> Server {
    Server::with(&[
        ("ROCKET_HEADER_TIMEOUT", header_timeout),
        ("ROCKET_KEEP_ALIVE", keep_alive),
    ])
}

/// Asserts that the server closes the connection after a second, without an answer.
#[track_caller]
fn assert_closed_after_a_second(stream: &TcpStream, started: Instant) {
    let (received, _) = read_to_end(stream);
    let elapsed = started.elapsed();
    assert_eq!(received, "");
    assert!((ONE_SECOND..SOON).contains(&elapsed), "{elapsed:?}");
}

#[test]
fn silent_connection_is_closed_after_header_timeout() {
    let server = server("1", "60");
    let started = Instant::now();
    assert_closed_after_a_second(&server.connect(""), started);
}

#[test]
fn trickled_head_is_closed_after_header_timeout() {
    let server = server("1", "60");
    let mut stream = server.connect("");
    // The first byte starts the time limit of the head.
    thread::sleep(Duration::from_millis(300));
    let started = Instant::now();
    let mut sending = stream.try_clone().unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            for byte in LIST.bytes().cycle().take(200) {
                // The connection is closed meanwhile.
                if sending.write_all(&[b'G' + byte % 8]).is_err() {
                    return;
                }
                thread::sleep(Duration::from_millis(100));
            }
        });
        assert_closed_after_a_second(&stream, started);
        // The time limit applies to the second request as well.
        stream = server.connect("");
        assert_status(&ask(&mut stream, "GET", "/api/robots/1", ""), 200);
        let started = Instant::now();
        stream.write_all(b"GET /").unwrap();
        assert_closed_after_a_second(&stream, started);
    });
}

#[test]
fn heads_in_pieces_are_answered() {
    let server = server("60", "60");
    let long = format!(
        "GET /api/robots HTTP/1.1\r\nHost: localhost\r\nX-Filler: {}\r\n\r\n",
        "x".repeat(10_000)
    );
    for (head, size) in [(LIST, 1), (LIST, 7), (&long, 1000)] {
        let mut stream = server.connect("\r\n");
        for piece in format!("{head}{LAST}").as_bytes().chunks(size) {
            stream.write_all(piece).unwrap();
            thread::sleep(Duration::from_millis(5));
        }
        let (received, _) = read_to_end(&stream);
        assert_eq!(received.matches("HTTP/1.1 200 ").count(), 2, "{received}");
    }
}

#[test]
fn idle_connection_is_closed_after_keep_alive() {
    let server = server("60", "1");
    let (mut used, mut idle) = (server.connect(""), server.connect(""));
    // Before the answer, with which the time begins.
    let started = Instant::now();
    assert_status(&ask(&mut idle, "GET", "/api/robots/1", ""), 200);
    thread::scope(|scope| {
        scope.spawn(|| assert_closed_after_a_second(&idle, started));
        let mut last = started;
        while started.elapsed() < 2 * ONE_SECOND {
            thread::sleep(Duration::from_millis(100));
            last = Instant::now();
            assert_status(&ask(&mut used, "GET", "/api/robots/1", ""), 200);
        }
        assert_closed_after_a_second(&used, last);
    });
}

#[test]
fn keep_alive_0_closes_after_one_response() {
    let server = server("60", "0");
    let (received, elapsed) = read_to_end(&server.connect(&LIST.repeat(2)));
    assert!(elapsed < SOON, "{elapsed:?}");
    assert_eq!(received.matches("HTTP/1.1 200 OK").count(), 1, "{received}");
    let lower = received.to_ascii_lowercase();
    assert!(lower.contains("\r\nconnection: close\r\n"), "{received}");
}

fn server_with_long_list() -> Server {
    let server = Server::with(&[("ROCKET_WRITE_TIMEOUT", "1")]);
    server.add_long_list();
    server
}

#[test]
fn client_that_stops_reading_is_disconnected() {
    let server = server_with_long_list();
    let streams: Vec<_> = (0..20).map(|_| server.connect(LIST)).collect();
    for stream in &streams {
        stream.peek(&mut [0]).unwrap();
    }
    let others = open_files(&server) - streams.len();
    wait_for("the connections are closed", || {
        open_files(&server) <= others
    });
    for stream in streams {
        let (received, _) = read_to_end(&stream);
        assert!(!received.ends_with(END_OF_LIST));
    }
}

#[test]
fn slow_reader_gets_the_whole_list() {
    const PIECE: usize = 16 * 1024;
    let server = server_with_long_list();
    let mut stream = server.connect("");
    // Otherwise, the system would accept much of the list.
    SockRef::from(&stream).set_recv_buffer_size(PIECE).unwrap();
    stream.write_all(LAST.as_bytes()).unwrap();
    let started = Instant::now();
    let (mut list, mut piece) = (Vec::new(), [0; PIECE]);
    while started.elapsed() < SOON {
        let length = stream.read(&mut piece).unwrap();
        list.extend_from_slice(&piece[..length]);
        thread::sleep(Duration::from_millis(50));
    }
    SockRef::from(&stream)
        .set_recv_buffer_size(100 * PIECE)
        .unwrap();
    stream.read_to_end(&mut list).unwrap();
    assert!(list.ends_with(END_OF_LIST.as_bytes()));
}
