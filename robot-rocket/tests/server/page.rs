//! Files of the web page. `tests/page` tests its behaviour in a browser.

use std::fs;

use robot_core::{
    Field,
    conformance::{Answer, Call, Client},
};

use crate::{Server, call, process::assert_failed};

const MEMORY: (&str, &str) = ("DATABASE_URL", "memory:");

fn get(server: &Server, target: &str, headers: &[(&str, &str)]) -> Answer {
    let headers = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let call = Call {
        method: "GET".to_owned(),
        target: target.to_owned(),
        headers: headers.collect(),
        body: Vec::new(),
    };
    server.client().send(&call).unwrap()
}

/// The paths of the page's own files in a text.
fn paths(text: &str) -> Vec<String> {
    text.split('"')
        .filter(|part| part.starts_with("page/") || part.starts_with("./"))
        .map(|part| format!("/page/{}", part.rsplit('/').next().unwrap()))
        .collect()
}

#[test]
fn page_has_the_definition_of_the_fields() {
    let server = Server::memory();
    let definition = get(&server, "/page/definition.js", &[]).text();
    let choices = serde_json::json!({ "choices": Field::TYPE.choices() }).to_string();
    assert!(
        definition.contains(choices.trim_matches(['{', '}'])),
        "{definition}"
    );
    assert!(
        definition.contains(r#"SORT_KEYS = ["name","year","id"]"#),
        "{definition}"
    );
}

#[test]
fn page_and_every_file_it_names_are_served() {
    let server = Server::memory();
    let page = get(&server, "/?q=R2", &[]);
    assert_eq!(page.status, 200);
    assert!(page.text().starts_with("<!doctype html>"));
    let named = paths(&page.text());
    assert!(named.len() > 10, "{named:?}");
    for path in &named {
        let file = get(&server, path, &[]);
        let content_type = match path.rsplit('.').next() {
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            _ => "image/svg+xml",
        };
        assert_eq!(file.status, 200, "{path}");
        assert_eq!(file.header("content-type"), Some(content_type), "{path}");
        assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
        // The page preloads every module that others import.
        let imported = paths(&file.text());
        assert!(imported.iter().all(|each| named.contains(each)), "{path}");
        let head = server.call("HEAD", path, "");
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        assert_eq!(head.header("content-length"), file.header("content-length"));
    }
}

#[test]
fn page_loads_nothing_from_other_origins() {
    let server = Server::memory();
    let page = get(&server, "/", &[]);
    let policy = page.header("content-security-policy").unwrap();
    for part in [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(
        !policy.contains("unsafe") && !policy.contains("http"),
        "{policy}"
    );
    assert!(!page.text().contains("<style") && !page.text().contains("<script>"));
    assert!(!page.text().contains("style=") && !page.text().contains("http"));
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
}

#[test]
fn page_is_revalidated_by_its_etag() {
    let server = Server::memory();
    let page = get(&server, "/", &[]);
    assert_eq!(page.header("cache-control"), Some("no-cache"));
    let tag = page.header("etag").unwrap();
    let script = get(&server, "/page/app.js", &[]);
    assert_ne!(script.header("etag"), Some(tag));
    for known in [tag, &format!("\"x\", W/{tag}"), "*"] {
        let sent = format!(
            "GET / HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: {known}\r\nConnection: close\r\n\r\n"
        );
        let answer = server.exchange(sent.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 304 "), "{known}: {answer}");
        assert!(
            answer.contains(tag) && answer.ends_with("\r\n\r\n"),
            "{answer}"
        );
    }
    let answer = get(&server, "/", &[("If-None-Match", "\"x\"")]);
    assert_eq!((answer.status, answer.body), (200, page.body));
}

#[test]
fn page_allows_only_reads_and_no_other_paths() {
    let server = Server::memory();
    let client = server.client();
    for path in ["/", "/page/app.js"] {
        for method in ["POST", "PUT", "DELETE", "PATCH", "TRACE"] {
            let answer = call(&client, method, path, "");
            assert_eq!(answer.status, 405, "{method} {path}");
            assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS"));
            assert!(
                answer.text().starts_with(r#"{"status":"ERROR""#),
                "{method} {path}"
            );
        }
        let options = call(&client, "OPTIONS", path, "");
        assert_eq!((options.status, options.body.len()), (204, 0), "{path}");
        assert_eq!(options.header("allow"), Some("GET, HEAD, OPTIONS"));
    }
    for path in [
        "/page",
        "/page/",
        "/page/nothing.js",
        "/page/app.js/",
        "/index.html",
        "//",
        "/app.js",
    ] {
        let answer = call(&client, "GET", path, "");
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.text().starts_with(r#"{"status":"ERROR""#), "{path}");
    }
}

#[test]
fn static_file_replaces_a_file_of_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("files");
    fs::create_dir_all(files.join("page")).unwrap();
    fs::write(files.join("page/style.css"), "p {}").unwrap();
    let server = Server::start(folder.path(), &[MEMORY, ("ROCKET_STATIC_DIR", "files")]);
    assert_eq!(get(&server, "/page/style.css", &[]).text(), "p {}");
    assert!(get(&server, "/", &[]).text().starts_with("<!doctype html>"));
    fs::write(files.join("index.html"), "<p>start").unwrap();
    assert_eq!(get(&server, "/", &[]).text(), "<p>start");
}

#[test]
fn page_rejects_foreign_hosts_and_needs_no_token() {
    let token = format!("write:sha256:{}", "0".repeat(64));
    let server = Server::with(&[("ROCKET_API_TOKENS", &token)]);
    for path in ["/", "/page/app.js"] {
        let sent =
            format!("GET {path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
        assert_failed(&server.exchange(sent.as_bytes()), 421, path);
        assert_eq!(get(&server, path, &[]).status, 200, "{path}");
    }
    assert_eq!(get(&server, "/api/robots", &[]).status, 401);
}
