//! Requests that wait for changes, and streams of changes.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use crate::{
    Server, draft,
    scrape::{server_in, wait_until},
    token,
};

/// Less than the grace period of a stop, which waits for no stream.
const AT_ONCE: Duration = Duration::from_secs(30);

/// Sends a request for changes by the holder of a token.
fn follow(server: &Server, token: &str, query: &str, headers: &str) -> TcpStream {
    server.connect(&format!(
        "GET /v1/changes{query} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer robots_{token}\r\n{headers}\r\n"
    ))
}

/// Reads until this has arrived.
fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    while !text.contains(end) {
        let mut bytes = [0; 4096];
        let count = stream.read(&mut bytes).unwrap();
        assert!(count > 0, "{text}");
        text.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    text
}

#[test]
fn streams_end_with_their_token_and_with_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    fs::write(&tokens, format!("{}\n{}", token("ci"), token("laptop"))).unwrap();
    let settings = [
        ("DATABASE_URL", "memory:"),
        ("ROCKET_API_TOKENS_FILE", "tokens"),
        ("ROCKET_SHUTDOWN", "{grace=60,mercy=2}"),
    ];
    let (server, metrics) = server_in(folder.path(), &settings);
    let events = "Accept: text/event-stream\r\n";
    let [mut of_ci, mut of_laptop] =
        ["ci", "laptop"].map(|token| follow(&server, token, "", events));
    let start = read_until(&mut of_ci, "\n\n\r\n");
    read_until(&mut of_laptop, "\n\n\r\n");
    let (_, position) = start.split_once("\nid: ").unwrap();
    let (position, _) = position.split_once('\n').unwrap();

    fs::write(&tokens, token("laptop")).unwrap();
    server.signal("HUP");
    let rest = read_until(&mut of_ci, "0\r\n\r\n");
    assert!(!rest.contains("data"), "{rest}");

    let mut waiting = follow(&server, "laptop", &format!("?after={position}&wait=60"), "");
    let body = draft("R2-D2");
    let mut adding = server.connect("");
    let head = format!(
        "POST /v1/robots HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer robots_laptop\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    adding.write_all((head + &body).as_bytes()).unwrap();
    for stream in [&mut of_laptop, &mut waiting] {
        let event = read_until(stream, "R2-D2");
        assert!(event.contains(r#""action":"added""#), "{event}");
    }

    let next = position.replace("-0", "-1");
    let mut waiting = follow(&server, "laptop", &format!("?after={next}&wait=60"), "");
    wait_until(metrics, "robots_waiting_clients", |count| count == 2);
    let started = Instant::now();
    let (status, log) = server.stop("TERM");
    assert!(status.success() && started.elapsed() < AT_ONCE, "{log}");
    for (stream, end) in [
        (&mut of_laptop, "0\r\n\r\n"),
        (&mut waiting, r#""more":false}"#),
    ] {
        let mut rest = String::new();
        stream.read_to_string(&mut rest).unwrap();
        assert!(rest.ends_with(end), "{rest}");
    }
}
