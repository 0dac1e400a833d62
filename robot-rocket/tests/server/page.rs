//! Files of the web page. `tests/page` tests its behaviour in a browser.

use std::fs;

use robot_core::Field;

use crate::{Server, process::assert_failed, send, token};

/// The paths of the page's own files in a text.
fn paths(text: &str) -> Vec<String> {
    text.split('"')
        .filter(|part| part.starts_with("page/") || part.starts_with("./"))
        .map(|part| format!("/page/{}", part.rsplit('/').next().unwrap()))
        .collect()
}

#[test]
fn page_and_every_file_it_names_are_served() {
    let server = Server::memory();
    let page = server.get("/?q=R2");
    assert_eq!(page.status, 200);
    assert!(page.text().starts_with("<!doctype html>"));
    let named = paths(&page.text());
    assert!(named.len() > 10, "{named:?}");
    for path in &named {
        let file = server.get(path);
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
    let definition = server.get("/page/definition.js").text();
    let choices = serde_json::json!(Field::TYPE.choices()).to_string();
    let definition = definition.replace("\\n", "").replace([' ', '\\'], "");
    for words in [&*format!(r#""enum":{choices}"#), r#"REVISION="1";"#] {
        assert!(definition.contains(words), "{definition}");
    }
}

#[test]
fn page_loads_nothing_from_other_origins() {
    let page = Server::memory().get("/");
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
    for foreign in ["<style", "<script>", "style=", "http"] {
        assert!(!page.text().contains(foreign), "{foreign}");
    }
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
}

#[test]
fn page_is_revalidated_by_its_etag() {
    let server = Server::memory();
    let page = server.get("/");
    assert_eq!(page.header("cache-control"), Some("no-cache"));
    let tag = page.header("etag").unwrap();
    assert_ne!(server.get("/page/app.js").header("etag"), Some(tag));
    let weak = format!("\"x\", W/{tag}");
    for (known, status) in [(tag, 304), (&weak, 304), ("*", 304), ("\"x\"", 200)] {
        let headers = [("If-None-Match", known)];
        let answer = send(&server.client(), "GET", "/", &headers, "");
        assert_eq!(answer.status, status, "{known}");
        assert_eq!(answer.header("etag"), Some(tag));
        assert_eq!(answer.body.is_empty(), status == 304, "{known}");
    }
}

#[test]
fn page_is_for_everyone_and_allows_only_reads() {
    let token = token("ci");
    let settings = [("ROCKET_API_TOKENS", &*token), ("ROCKET_STATIC_DIR", ".")];
    let server = Server::with(&settings);
    assert_eq!(server.get("/api/robots").status, 401);
    for path in ["/", "/page/app.js"] {
        assert_eq!(server.get(path).status, 200, "{path}");
        for method in ["POST", "DELETE", "PATCH", "TRACE", "OPTIONS"] {
            let answer = server.call(method, path, "");
            let expected = if method == "OPTIONS" {
                (204, "")
            } else {
                (405, r#"{"status":"ERROR""#)
            };
            assert_eq!(answer.status, expected.0, "{method} {path}");
            assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS"));
            assert!(answer.text().starts_with(expected.1), "{method} {path}");
        }
        let foreign = server.ask(&format!("GET {path}"), "Host: evil.example\r\n", "");
        assert_failed(&foreign, 421, path);
    }
    let missing = "/page /page/ /page/missing.js /page/app.js/ /index.html // /app.js";
    for path in missing.split(' ') {
        let answer = server.ask(&format!("GET {path}"), "Host: localhost\r\n", "");
        assert_failed(&answer, 404, path);
    }
    // Static files replace files of the page.
    for (file, path) in [("page/style.css", "/page/style.css"), ("index.html", "/")] {
        let file = server.folder().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        assert_ne!(server.get(path).text(), "own");
        fs::write(file, "own").unwrap();
        assert_eq!(server.get(path).text(), "own");
    }
}
