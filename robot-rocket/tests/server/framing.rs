//! Bodies and their ends, as bytes on a connection.

use std::{io::Write, net::Shutdown, thread, time::Duration};

use crate::{
    Server, draft,
    process::{answer, ask, assert_failed, assert_status, read_to_end},
};

const LOCAL: &str = "Host: localhost\r\n";

const CHUNKED: &str = "Host: localhost\r\nTransfer-Encoding: chunked\r\n";

const GET: &str = "GET /api/robots/1 HTTP/1.1\r\nHost: localhost\r\n\r\n";

const LIST: &str = "GET /api/robots HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A request after which the server closes the connection.
const LAST: &str = "GET /api/robots HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// A request whose body is sent as it is.
fn request(line: &str, headers: &str, body: &str) -> String {
    format!("{line} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n{body}")
}

fn length(body: &str) -> String {
    format!("Content-Length: {}\r\n", body.len())
}

/// A body in one chunk.
fn chunk(body: &str) -> String {
    format!("{:X}\r\n{body}\r\n0\r\n\r\n", body.len())
}

#[test]
fn truncated_chunks_change_nothing() {
    let server = Server::memory();
    server.add("R2-D2");
    let whole = chunk(&draft("C-3PO"));
    for body in [
        "",
        "zz\r\n",
        "-1\r\n",
        "+2\r\n{}\r\n0\r\n\r\n",
        "0x2\r\n{}\r\n0\r\n\r\n",
        "fffffffffffffffff\r\n",
        "ffffffffffffffff\r\n{}",
        "2\r\n{}0\r\n\r\n",
        "2\r\n{}",
        "2\r\n{}\r\n",
        "0\r\n",
        &whole[..whole.len() - 2],
        &whole[..whole.len() - 5],
        &whole.replace("\r\n0\r\n", "0\r\n"),
        &whole.replace("\r\n0\r\n", "\r\nzz\r\n"),
        &whole.replace("\r\n0\r\n", "\r\n0\r\nno trailer\r\n"),
    ] {
        for line in [
            "DELETE /api/robots/1",
            "PUT /api/robots/1",
            "POST /api/robots",
        ] {
            let answer = server.cut_off(request(line, CHUNKED, body));
            assert_failed(&answer, 400, &format!("{line} {body:?}"));
            assert!(
                answer.contains("The body ended early"),
                "{line} {body:?}: {answer}"
            );
        }
    }
    assert_eq!(server.names(), ["R2-D2"]);
    // Extensions and trailers are ignored.
    let body = "02;a=b;c=\"d\"\r\n{}\r\n000\r\nHost: evil\r\nContent-Length: 1\r\n\r\n";
    assert_status(
        &server.exchange(request("DELETE /api/robots/1", CHUNKED, body)),
        200,
    );
    assert_eq!(server.names(), [""; 0]);
}

#[test]
fn invalid_or_conflicting_lengths_are_rejected() {
    let server = Server::memory();
    for header in [
        "Content-Length: +44",
        "Content-Length: -1",
        "Content-Length: 0x2c",
        "Content-Length: ",
        "Content-Length: 44 44",
        "Content-Length: 44.0",
        "Content-Length: ٤٤",
        "Content-Length: 18446744073709551616",
        "Content-Length : 44",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: \u{b}chunked",
        "Transfer-Encoding : chunked",
        "Content-Length: 42\r\nContent-Length: 5",
        "Content-Length: 42, 5",
    ] {
        let headers = format!("{LOCAL}{header}\r\n");
        let answer = server.exchange(request("POST /api/robots", &headers, &draft("x")));
        assert!(answer.starts_with("HTTP/1.1 4"), "{header}: {answer}");
    }
    assert_eq!(server.names(), [""; 0]);
}

#[test]
fn request_in_a_rejected_body_is_not_executed() {
    let server = Server::memory();
    let body = draft("smuggled");
    let hidden = format!(
        "POST /api/robots HTTP/1.1\r\n{LOCAL}{}\r\n{body}",
        length(&body)
    );
    let large = hidden.repeat(70_000 / hidden.len() + 1);
    let chunked = "Transfer-Encoding: chunked\r\n".to_owned();
    for (framing, sent) in [
        (length(&hidden), hidden.clone()),
        (length(&large), large.clone()),
        (chunked.clone(), chunk(&hidden)),
        (chunked.clone(), chunk(&large)),
        // With both headers the chunks count, and nothing after them.
        (
            format!("Content-Length: 5\r\n{chunked}"),
            format!("0\r\n\r\n{hidden}"),
        ),
    ] {
        for (line, headers, status) in [
            ("POST /nothing", "", 404),
            ("POST /api/robots", "Host: evil.example\r\n", 421),
            ("POST /api/robots", "Origin: http://evil.example\r\n", 403),
            ("BREW /api/robots", "", 405),
            ("GET /nothing", "", 404),
        ] {
            let host = if status == 421 { "" } else { LOCAL };
            let sent = format!("{line} HTTP/1.1\r\n{host}{headers}{framing}\r\n{sent}{LAST}");
            let answer = server.exchange(sent);
            assert_status(&answer, status);
            assert_eq!(server.names(), [""; 0], "{line} {framing}: {answer}");
        }
    }
}

#[test]
fn hundred_pipelined_requests_are_answered_in_order() {
    let server = Server::memory();
    let bodies = (1..=100).map(|number| draft(&format!("{number:03}")));
    let requests = bodies.map(|body| {
        let length = length(&body);
        format!("POST /api/robots HTTP/1.1\r\n{LOCAL}{length}\r\n{body}")
    });
    let answer = server.exchange(requests.collect::<String>() + LAST);
    let ids = answer.split("1977,\"id\":\"").skip(1);
    let ids = ids.map(|rest| rest.split('"').next().unwrap().to_owned());
    assert!(ids.eq((1..=100).map(|id| id.to_string())), "{answer}");
}

#[test]
fn unreadable_head_after_a_request_is_rejected() {
    let server = Server::memory();
    for pause in [Duration::ZERO, Duration::from_millis(200)] {
        let mut stream = server.connect(GET);
        thread::sleep(pause);
        stream.write_all(b"garbage\r\n\r\n").unwrap();
        assert_status(&answer(&mut stream), 200);
        assert_failed(&read_to_end(&stream).0, 400, "garbage");
    }
    // The list is not read meanwhile.
    server.add_long_list();
    let stream = server.connect(&format!("{LIST}garbage\r\n\r\n"));
    thread::sleep(Duration::from_secs(2));
    let (received, _) = read_to_end(&stream);
    let (list, rejected) = received.split_at(received.rfind("HTTP/1.1 ").unwrap());
    assert!(list.ends_with("]\r\n0\r\n\r\n"));
    assert_failed(rejected, 400, "garbage");
}

#[test]
fn client_that_still_sends_gets_the_413() {
    let server = Server::memory();
    let body = "x".repeat(16 * 1024 * 1024);
    for framing in [
        format!("Content-Length: {}\r\n\r\n", body.len()),
        format!("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n", body.len()),
    ] {
        let mut stream = server.connect(&format!("POST /api/robots HTTP/1.1\r\n{LOCAL}{framing}"));
        // The connection would be reset if the server did not read the rest.
        stream.write_all(body.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert_failed(&read_to_end(&stream).0, 413, &framing);
    }
}

#[test]
fn expectation_is_met_only_if_the_body_is_read() {
    let server = Server::memory();
    let body = draft("R2-D2");
    let mut stream = server.begin(body.len());
    stream.write_all(body.as_bytes()).unwrap();
    assert_status(&answer(&mut stream), 201);
    assert_status(&ask(&mut stream, "GET", "/api/robots/1", ""), 200);
    let expect = format!("{LOCAL}Expect: 100-continue\r\nContent-Length: 1000000\r\n");
    let rejected = server.exchange(request("POST /api/robots", &expect, ""));
    assert_failed(&rejected, 413, "a large body");
    assert_eq!(server.names(), ["R2-D2"]);
}

/// The server answers without waiting for the rest of the body, and says that it closes the connection.
#[test]
fn known_answers_do_not_wait_for_the_body() {
    let server = Server::memory();
    let expect = "Host: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\n";
    let long = "Host: localhost\r\nContent-Length: 70000\r\n";
    let foreign = "Host: evil.example\r\nExpect: 100-continue\r\nContent-Length: 5\r\n";
    let coding = "Host: localhost\r\nTransfer-Encoding: gzip, chunked\r\n";
    for (line, headers, status) in [
        ("POST /api/nothing", expect, 404),
        ("DELETE /api/robots", expect, 405),
        ("POST /", expect, 405),
        ("POST /api/robots", foreign, 421),
        ("POST /api/robots", long, 413),
        ("POST /api/robots/import", long, 400),
        ("POST /api/robots", coding, 501),
    ] {
        let received = server.exchange(format!("{line} HTTP/1.1\r\n{headers}\r\n"));
        assert_failed(&received, status, line);
        assert!(
            received.contains("\r\nconnection: close\r\n"),
            "{line}: {received}"
        );
    }
}

#[test]
fn client_that_closes_its_sending_side_gets_answers() {
    let server = Server::memory();
    let answers = server.cut_off([GET, LIST, GET].concat());
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 3, "{answers}");
    server.add_long_list();
    assert!(server.cut_off(LIST).ends_with("]\r\n0\r\n\r\n"));
    assert_eq!(server.cut_off(""), "");
    assert_eq!(server.cut_off("GET /api"), "");
}
