//! Message framing: broken chunks, contradictory lengths, requests inside bodies.

use crate::{
    Server, call, draft, names,
    process::{assert_failed, cut_off, exchange},
};

const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";

/// A request after which the server closes the connection.
const LAST: &str = "GET /api/robots HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// A request after which the server closes the connection.
fn request(line: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n{body}")
        .into_bytes()
}

fn length(body: &str) -> String {
    format!("Content-Length: {}\r\n", body.len())
}

/// A body in chunks of this size.
fn chunks(body: &str, size: usize) -> String {
    let mut chunked: Vec<_> = body
        .as_bytes()
        .chunks(size)
        .map(|chunk| {
            format!(
                "{:X}\r\n{}\r\n",
                chunk.len(),
                String::from_utf8_lossy(chunk)
            )
        })
        .collect();
    chunked.push("0\r\n\r\n".to_owned());
    chunked.concat()
}

fn server(folder: &tempfile::TempDir) -> Server {
    Server::start(folder.path(), &[("DATABASE_URL", "memory:")])
}

#[test]
fn truncated_chunks_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    call(&server.client(), "POST", "/api/robots", &draft("R2-D2"));
    let whole = draft("C-3PO");
    let size = whole.len();
    for body in [
        "",
        "\r\n",
        "zz\r\n",
        "-1\r\n",
        "+2\r\n{}\r\n0\r\n\r\n",
        "0x2\r\n{}\r\n0\r\n\r\n",
        "fffffffffffffffff\r\n",
        "ffffffffffffffff\r\n{}",
        "2\r\n{}0\r\n\r\n",
        "2\r\n{}",
        "5\r\n{}",
        "2\r\n{}\r\n",
        "2\r\n{}\r\n0",
        "0\r\n",
        "0\r\nno trailer\r\n\r\n",
        "e\r\n{\"name\":\"C-3P",
        &format!("{size:x}\r\n{whole}"),
        &format!("{size:x}\r\n{whole}\r\n"),
        &format!("{size:x}\r\n{whole}\r\n0\r\n"),
        &format!("{size:x}\r\n{whole}0\r\n\r\n"),
        &format!("{size:x}\r\n{whole}\r\nzz\r\n\r\n"),
        &format!("{size:x}\r\n{whole}\r\n0\r\nno trailer\r\n\r\n"),
    ] {
        for line in [
            "DELETE /api/robots/1",
            "PUT /api/robots/1",
            "POST /api/robots",
        ] {
            let answer = cut_off(server.address(), &request(line, CHUNKED, body));
            assert_failed(&answer, 400, &format!("{line} {body:?}"));
            assert!(
                answer.contains("The body ended early"),
                "{line} {body:?}: {answer}"
            );
        }
    }
    assert_eq!(names(&server), ["R2-D2"]);
    let answer = exchange(
        server.address(),
        &request("DELETE /api/robots/1", CHUNKED, "2\r\n{}\r\n0\r\n\r\n"),
    );
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert_eq!(names(&server), [""; 0]);
}

#[test]
fn chunks_are_joined_up_to_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let padded = |name: &str, length: usize| {
        let draft = draft(name);
        let blanks = " ".repeat(length - draft.len());
        draft + &blanks
    };
    for (name, body) in [
        ("bytes", chunks(&draft("bytes"), 1)),
        (
            "extensions",
            chunks(&draft("extensions"), 7).replace("7\r\n", "07;a=b;c=\"d\"\r\n"),
        ),
        (
            "trailers",
            chunks(&draft("trailers"), 9).replace(
                "\r\n0\r\n",
                "\r\n000\r\nHost: evil\r\nContent-Length: 1\r\n",
            ),
        ),
        ("longest", chunks(&padded("longest", 65_536), 4000)),
    ] {
        let answer = exchange(
            server.address(),
            &request("POST /api/robots", CHUNKED, &body),
        );
        assert!(answer.starts_with("HTTP/1.1 201 "), "{name}: {answer}");
    }
    for (size, chunk) in [(65_537, 4000), (65_537, 65_537), (1_000_000, 100)] {
        let body = chunks(&padded("too long", size), chunk);
        let answer = exchange(
            server.address(),
            &request("POST /api/robots", CHUNKED, &body),
        );
        assert_failed(&answer, 413, &size.to_string());
    }
    assert_eq!(
        names(&server),
        ["bytes", "extensions", "longest", "trailers"]
    );
}

#[test]
fn invalid_or_conflicting_lengths_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let body = draft("x");
    let true_length = body.len();
    for headers in [
        "Content-Length: +44\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 0x2c\r\n",
        "Content-Length: \r\n",
        "Content-Length: 44 44\r\n",
        "Content-Length: 44.0\r\n",
        "Content-Length: 1e1\r\n",
        "Content-Length: ٤٤\r\n",
        "Content-Length: 18446744073709551616\r\n",
        "Content-Length: 99999999999999999999999999999\r\n",
        "Content-Length : 44\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: \u{b}chunked\r\n",
        "Transfer-Encoding : chunked\r\n",
        &format!("Content-Length: {true_length}\r\nContent-Length: 5\r\n"),
        &format!("Content-Length: {true_length}, 5\r\n"),
    ] {
        let sent = request("POST /api/robots", headers, &body);
        let answer = exchange(server.address(), &sent);
        assert!(answer.starts_with("HTTP/1.1 4"), "{headers:?}: {answer}");
    }
    assert_eq!(names(&server), [""; 0]);
}

#[test]
fn request_in_a_rejected_body_is_not_executed() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let body = draft("smuggled");
    let hidden = format!(
        "POST /api/robots HTTP/1.1\r\nHost: localhost\r\n{}\r\n{body}",
        length(&body)
    );
    let large = hidden.repeat(70_000 / hidden.len() + 1);
    let ends_early = format!("Content-Length: 5\r\n{CHUNKED}");
    for (headers, sent) in [
        (length(&hidden), hidden.clone()),
        (length(&large), large.clone()),
        (CHUNKED.to_owned(), chunks(&hidden, 50)),
        (CHUNKED.to_owned(), chunks(&large, large.len())),
        // With both headers the chunks count, and nothing after them.
        (ends_early, format!("0\r\n\r\n{hidden}")),
    ] {
        for (line, rejected) in [
            ("POST /nothing HTTP/1.1\r\nHost: localhost", "HTTP/1.1 404 "),
            (
                "POST /api/robots HTTP/1.1\r\nHost: evil.example",
                "HTTP/1.1 421 ",
            ),
            (
                "POST /api/robots HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example",
                "HTTP/1.1 403 ",
            ),
            (
                "BREW /api/robots HTTP/1.1\r\nHost: localhost",
                "HTTP/1.1 405 ",
            ),
            ("GET /nothing HTTP/1.1\r\nHost: localhost", "HTTP/1.1 404 "),
        ] {
            let sent = format!("{line}\r\n{headers}\r\n{sent}{LAST}");
            let answer = exchange(server.address(), sent.as_bytes());
            assert!(answer.starts_with(rejected), "{line}: {answer}");
            assert_eq!(names(&server), [""; 0], "{line} {headers}: {answer}");
        }
    }
}

#[test]
fn hundred_pipelined_requests_are_answered_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder);
    let mut sent: Vec<_> = (1..=100)
        .map(|number| draft(&format!("{number:03}")))
        .map(|body| {
            let length = length(&body);
            format!("POST /api/robots HTTP/1.1\r\nHost: localhost\r\n{length}\r\n{body}")
        })
        .collect();
    sent.push(LAST.to_owned());
    let answer = exchange(server.address(), sent.concat().as_bytes());
    let ids: Vec<usize> = answer
        .match_indices("1977,\"id\":\"")
        .filter_map(|(at, start)| answer[at + start.len()..].split('"').next()?.parse().ok())
        .collect();
    assert_eq!(ids, (1..=100).collect::<Vec<_>>());
    assert_eq!(names(&server).len(), 100);
}
