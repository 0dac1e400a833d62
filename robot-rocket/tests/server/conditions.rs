//! Conditional requests through a proxy that compresses replies.

use robot_core::conformance::{Answer, Call, Client as _, TcpClient};

use crate::{
    Server, draft,
    proxy::{Kind, Proxy},
};

/// nginx weakens the tag of each reply that it compresses.
#[test]
fn tags_that_nginx_weakens_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[("DATABASE_URL", "memory:")]);
    let gzip = "server_tokens off; gzip on; gzip_min_length 1; gzip_proxied any;";
    let proxy = Proxy::start(
        Kind::Nginx,
        server.address(),
        &[("server_tokens off;", gzip)],
    );
    let client = proxy.client();
    let path = "/api/robots/1";
    send(&client, "POST", "/api/robots", &[], &draft("R2-D2"));
    let read = send(&client, "GET", path, &[("Accept-Encoding", "gzip")], "");
    assert_eq!(read.header("content-encoding"), Some("gzip"));
    assert_eq!(read.header("etag"), Some("W/\"1\""));
    let weak = ("If-None-Match", "W/\"1\"");
    let cached = send(
        &client,
        "GET",
        path,
        &[("Accept-Encoding", "gzip"), weak],
        "",
    );
    assert_eq!((cached.status, cached.body.len()), (304, 0));
    let weak = [("If-Match", "W/\"1\"")];
    let body = draft("C-3PO");
    assert_eq!(send(&client, "PUT", path, &weak, &body).status, 200);
    for method in ["PUT", "DELETE"] {
        assert_eq!(send(&client, method, path, &weak, &body).status, 412);
    }
    let patch = [
        ("If-Match", "W/\"2\""),
        ("Content-Type", "application/merge-patch+json"),
    ];
    let patched = send(&client, "PATCH", path, &patch, r#"{"year":5}"#);
    assert_eq!(
        (patched.status, patched.header("etag")),
        (200, Some("\"3\""))
    );
}

fn send(
    client: &TcpClient,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let headers = headers.iter();
    let headers = headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    client
        .send(&Call {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: headers.collect(),
            body: body.into(),
        })
        .unwrap()
}
