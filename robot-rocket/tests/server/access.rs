//! Authentication by tokens, and requests from pages of other origins.

use std::fs;

use robot_core::{
    conformance::{Answer, Call, Client},
    http::{AccessToken, Permission},
};

use crate::{
    Server, call, draft,
    process::{fail, output_of_failure},
};

const READER: &str = "robots_reader";
const WRITER: &str = "robots_writer";
const ANYWHERE: (&str, &str) = ("ROCKET_ADDRESS", "0.0.0.0");
const MEMORY: (&str, &str) = ("DATABASE_URL", "memory:");

/// The setting for both tokens.
fn tokens() -> String {
    let token = |text, permission| AccessToken::of(text, permission).to_string();
    format!(
        "{}, {}",
        token(READER, Permission::Read),
        token(WRITER, Permission::Write)
    )
}

fn send(server: &Server, method: &str, target: &str, headers: &[(&str, &str)]) -> Answer {
    let headers = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let call = Call {
        method: method.to_owned(),
        target: target.to_owned(),
        headers: headers.collect(),
        body: draft("R2-D2").into_bytes(),
    };
    server.client().send(&call).unwrap()
}

fn with_token(server: &Server, method: &str, token: &str) -> u16 {
    let credentials = format!("Bearer {token}");
    let headers = [("Authorization", credentials.as_str())];
    send(server, method, "/api/robots", &headers).status
}

#[test]
fn network_access_requires_a_setting() {
    let folder = tempfile::tempdir().unwrap();
    for address in ["0.0.0.0", "::"] {
        let error = output_of_failure(&fail(folder.path(), &[("ROCKET_ADDRESS", address)]));
        for words in [
            address,
            "robot-cli token new",
            "ROCKET_API_TOKENS",
            "ROCKET_ALLOW_ANONYMOUS",
        ] {
            assert!(error.contains(words), "{error}");
        }
        assert!(!folder.path().join("robots.db").exists());
    }
    for (permitted, status) in [("true", 201), ("read", 401)] {
        let settings = [ANYWHERE, MEMORY, ("ROCKET_ALLOW_ANONYMOUS", permitted)];
        let server = Server::start(folder.path(), &settings);
        let client = server.client();
        assert_eq!(call(&client, "GET", "/api/robots", "").status, 200);
        let added = call(&client, "POST", "/api/robots", &draft("R2-D2"));
        assert_eq!(added.status, status, "{permitted}");
    }
}

#[test]
fn tokens_grant_their_permission_only() {
    let tokens = tokens();
    for settings in [
        &[MEMORY, ("ROCKET_API_TOKENS", &tokens)][..],
        &[MEMORY, ("ROCKET_API_TOKENS", &tokens), ANYWHERE],
    ] {
        let server = Server::sqlite(settings);
        let refused = server.get("/api/robots");
        assert_eq!(refused.status, 401);
        assert_eq!(
            refused.header("www-authenticate"),
            Some(r#"Bearer realm="robots""#)
        );
        assert!(
            refused
                .text()
                .starts_with(r#"{"status":"ERROR","messages":["#)
        );
        assert_eq!(with_token(&server, "GET", "robots_guess"), 401);
        assert_eq!(with_token(&server, "GET", READER), 200);
        assert_eq!(with_token(&server, "POST", READER), 403);
        assert_eq!(with_token(&server, "POST", WRITER), 201);
        let (_, log) = server.stop("TERM");
        assert_eq!(log, "");
    }
}

#[test]
fn tokens_in_rocket_toml_permit_anonymous_reads() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("public")).unwrap();
    fs::write(folder.path().join("public/index.html"), "a page").unwrap();
    let token = AccessToken::of(WRITER, Permission::Write);
    let text = format!(
        "[default]\napi_tokens = [\"{token}\"]\nallow_anonymous = \"read\"\nstatic_dir = \"public\"\n"
    );
    fs::write(folder.path().join("Rocket.toml"), text).unwrap();
    let server = Server::start(folder.path(), &[MEMORY]);
    let client = server.client();
    assert_eq!(call(&client, "GET", "/api/robots", "").status, 200);
    assert_eq!(
        call(&client, "POST", "/api/robots", &draft("x")).status,
        401
    );
    assert_eq!(with_token(&server, "POST", WRITER), 201);
    // Clients without a token can load the page on which to enter it.
    assert_eq!(call(&client, "GET", "/", "").text(), "a page");
}

#[test]
fn contradictory_settings_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = tokens();
    let token = tokens.split(',').next().unwrap();
    let named = token.replacen("read:", "read:ci:", 1);
    let other = AccessToken::of(WRITER, Permission::Write).to_string();
    let same_name = format!("{named},{}", other.replacen("write:", "write:ci:", 1));
    let same_token = format!("{named},{token}");
    let wrong_name = token.replacen("read:", "read:C I:", 1);
    for (settings, words) in [
        (
            &[("ROCKET_API_TOKENS", "robots_writer")][..],
            "read:sha256:HASH",
        ),
        (
            &[("ROCKET_API_TOKENS", &token[..60])],
            "robot-cli token new",
        ),
        (
            &[
                ("ROCKET_API_TOKENS", token),
                ("ROCKET_ALLOW_ANONYMOUS", "true"),
            ],
            "the api_tokens have no effect",
        ),
        (&[("ROCKET_API_TOKENS", &same_name)], "'ci' twice"),
        (&[("ROCKET_API_TOKENS", &same_token)], "'ci' twice"),
        (&[("ROCKET_API_TOKENS", &wrong_name)], "1 to 32 characters"),
        // An environment variable that expands to nothing.
        (&[("ROCKET_API_TOKENS", "")], "api_tokens has no token"),
        (&[("ROCKET_API_TOKENS", " , ")], "api_tokens has no token"),
        (
            &[
                ("ROCKET_API_TOKENS", ""),
                ("ROCKET_ALLOW_ANONYMOUS", "read"),
            ],
            "api_tokens has no token",
        ),
        (
            &[("ROCKET_ALLOW_ANONYMOUS", "false")],
            "rejects every request",
        ),
        (
            &[("ROCKET_ALLOW_ANONYMOUS", "write")],
            "true, false or read, not 'write'",
        ),
        (
            &[("ROCKET_ALLOWED_ORIGINS", "app.example")],
            "'app.example' is not an origin",
        ),
        (&[("ROCKET_ALLOWED_ORIGINS", "*")], "'*' is not an origin"),
    ] {
        let error = output_of_failure(&fail(folder.path(), settings));
        assert!(error.contains(words), "{settings:?}: {error}");
        assert!(!error.contains("robots_writer"), "{error}");
        assert!(!error.contains(&token[12..60]), "{error}");
    }
}

#[test]
fn allowed_origins_may_write() {
    let folder = tempfile::tempdir().unwrap();
    let page = "https://app.example";
    let headers = [("Origin", page), ("Sec-Fetch-Site", "cross-site")];
    let server = Server::start(folder.path(), &[MEMORY]);
    let refused = send(&server, "POST", "/api/robots", &headers);
    assert_eq!(refused.status, 403);
    assert_eq!(refused.header("access-control-allow-origin"), None);
    let origins = (
        "ROCKET_ALLOWED_ORIGINS",
        "https://other.example,https://app.example",
    );
    let server = Server::start(folder.path(), &[MEMORY, origins]);
    let asked = send(&server, "OPTIONS", "/api/robots", &headers);
    assert_eq!(asked.status, 204);
    assert_eq!(
        asked.header("access-control-allow-methods"),
        Some("GET, HEAD, POST, OPTIONS")
    );
    let added = send(&server, "POST", "/api/robots", &headers);
    assert_eq!(added.status, 201, "{}", added.text());
    assert_eq!(added.header("access-control-allow-origin"), Some(page));
    let twin = send(&server, "POST", "/api/robots", &headers);
    assert_eq!(twin.status, 409);
    assert_eq!(twin.header("access-control-allow-origin"), Some(page));
}

#[test]
fn bodies_and_tokens_are_not_logged() {
    let tokens = tokens();
    let server = Server::sqlite(&[
        ("ROCKET_API_TOKENS", &tokens),
        ("ROCKET_LOG_LEVEL", "debug"),
        ("RUST_LOG", "trace"),
    ]);
    let credentials = format!("Bearer {WRITER}");
    for body in [r#"{"name":"Secret","type":"droid","year":1}"#, "{Secret"] {
        let call = Call {
            method: "POST".to_owned(),
            target: "/api/robots".to_owned(),
            headers: vec![("Authorization".to_owned(), credentials.clone())],
            body: body.as_bytes().to_vec(),
        };
        server.client().send(&call).unwrap();
    }
    let (_, log) = server.stop("TERM");
    assert!(log.contains("POST"), "nothing is logged at all: {log}");
    for secret in ["Secret", WRITER, "sha256"] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{log}");
    }
}
