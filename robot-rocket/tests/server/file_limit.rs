//! More connections than the server may have open files.

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::Command,
    time::Duration,
};

use crate::{
    Server, call, draft, names,
    process::{TIMEOUT, connection, wait_for},
};

/// Sends a request on a connection that stays open, and returns the start of the answer.
fn ask(stream: &mut TcpStream, method: &str, body: &str) -> String {
    let length = body.len();
    let sent = format!(
        "{method} /api/robots HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(sent.as_bytes()).unwrap();
    let mut answer = [0; 4096];
    let length = stream.read(&mut answer).unwrap();
    String::from_utf8_lossy(&answer[..length]).into_owned()
}

#[test]
fn idle_connections_beyond_file_limit_block_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let mut early = connection(&server, "");
    assert!(ask(&mut early, "POST", &draft("first")).starts_with("HTTP/1.1 201 "));
    // This opens the connection to the database for lists.
    assert!(ask(&mut early, "GET", "").starts_with("HTTP/1.1 200 "));
    let limited = Command::new("prlimit")
        .args(["--nofile=64:64", "--pid", &server.id().to_string()])
        .status()
        .unwrap_or_else(|error| panic!("cannot run prlimit (Debian package util-linux): {error}"));
    assert!(limited.success());
    let idle: Vec<_> = (0..100).map(|_| connection(&server, "")).collect();
    wait_for("the limit of open files is reached", TIMEOUT, || {
        let open = std::fs::read_dir(format!("/proc/{}/fd", server.id())).unwrap();
        open.count() >= 64
    });
    for number in 0..10 {
        let answer = ask(&mut early, "POST", &draft(&number.to_string()));
        assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
        let answer = ask(&mut early, "GET", "");
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    drop(idle);
    let mut late = connection(&server, "");
    late.set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    assert!(ask(&mut late, "GET", "").starts_with("HTTP/1.1 200 "));
    assert_eq!(names(&server).len(), 11);
    assert_eq!(
        call(&server.client(), "DELETE", "/api/robots/1", "").status,
        200
    );
}
