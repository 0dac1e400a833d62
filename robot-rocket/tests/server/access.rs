//! Settings for permissions and origins.

use std::fs;

use robot_core::http::{AccessToken, Permission};

use crate::{
    Server, draft,
    process::{fail, output_of_failure},
    send, token,
};

const ANYWHERE: (&str, &str) = ("ROCKET_ADDRESS", "0.0.0.0");

/// The entries of `robots_reader`, without a name, and of `robots_writer`.
fn tokens() -> String {
    format!(
        "{}, {}",
        AccessToken::of("robots_reader", Permission::Read),
        token("writer")
    )
}

fn with_token(server: &Server, method: &str, token: &str) -> u16 {
    let headers = [("Authorization", &*format!("Bearer {token}"))];
    let (client, body) = (server.client(), draft("R2-D2"));
    send(&client, method, "/api/robots", &headers, &body).status
}

#[test]
fn network_access_requires_a_setting() {
    let folder = tempfile::tempdir().unwrap();
    for address in ["0.0.0.0", "::"] {
        let error = output_of_failure(&fail(folder.path(), &[("ROCKET_ADDRESS", address)]));
        let remedies = [
            "robot-cli token new",
            "ROCKET_API_TOKENS",
            "ROCKET_ALLOW_ANONYMOUS",
        ];
        for words in remedies.into_iter().chain([address]) {
            assert!(error.contains(words), "{error}");
        }
        assert!(!folder.path().join("robots.db").exists());
    }
    for (permitted, status) in [("true", 201), ("read", 401)] {
        let server = Server::with(&[ANYWHERE, ("ROCKET_ALLOW_ANONYMOUS", permitted)]);
        assert_eq!(server.get("/api/robots").status, 200);
        assert_eq!(server.add("R2-D2").status, status, "{permitted}");
    }
}

#[test]
fn tokens_in_rocket_toml_permit_anonymous_reads() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("public")).unwrap();
    fs::write(folder.path().join("public/index.html"), "a page").unwrap();
    let text = format!(
        "[default]\napi_tokens = [\"{}\"]\nallow_anonymous = \"read\"\nstatic_dir = \"public\"\n",
        token("writer")
    );
    fs::write(folder.path().join("Rocket.toml"), text).unwrap();
    let server = Server::start(folder.path(), &[("DATABASE_URL", "memory:")]);
    assert_eq!(server.get("/api/robots").status, 200);
    assert_eq!(server.add("x").status, 401);
    assert_eq!(with_token(&server, "POST", "robots_writer"), 201);
    // Clients without a token can load the page on which to enter it.
    assert_eq!(server.get("/").text(), "a page");
}

#[test]
fn contradictory_tokens_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let entry = token("writer");
    let wrong_name = entry.replacen("writer:", "WRI TER:", 1);
    for (tokens, anonymous, words) in [
        (&*entry, Some("true"), "the api_tokens have no effect"),
        (&wrong_name, None, "1 to 32 characters"),
        // An environment variable that expands to nothing.
        ("", Some("read"), "api_tokens has no token"),
    ] {
        let anonymous = anonymous.map(|value| ("ROCKET_ALLOW_ANONYMOUS", value));
        let mut settings = vec![("ROCKET_API_TOKENS", tokens)];
        settings.extend(anonymous);
        let error = output_of_failure(&fail(folder.path(), &settings));
        assert!(error.contains(words), "{settings:?}: {error}");
        assert!(!error.contains(&entry[20..60]), "{error}");
    }
}

#[test]
fn allowed_origins_may_write() {
    let page = "https://app.example";
    let headers = [("Origin", page), ("Sec-Fetch-Site", "cross-site")];
    let origins = "https://other.example,https://app.example";
    for (settings, status, allowed) in [
        (&[][..], 403, None),
        (&[("ROCKET_ALLOWED_ORIGINS", origins)], 201, Some(page)),
    ] {
        let server = Server::with(settings);
        let (client, body) = (server.client(), draft("R2-D2"));
        let answer = send(&client, "POST", "/api/robots", &headers, &body);
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("access-control-allow-origin"), allowed);
    }
}

#[test]
fn bodies_and_tokens_are_not_logged() {
    let server = Server::sqlite(&[
        ("ROCKET_API_TOKENS", &tokens()),
        ("ROCKET_LOG_LEVEL", "debug"),
        ("RUST_LOG", "trace"),
    ]);
    let headers = [("Authorization", "Bearer robots_writer")];
    for body in [r#"{"name":"Secret","type":"droid","year":1}"#, "{Secret"] {
        send(&server.client(), "POST", "/api/robots", &headers, body);
    }
    let (_, log) = server.stop("TERM");
    assert!(log.contains("POST"), "nothing is logged at all: {log}");
    for secret in ["Secret", "robots_writer", "sha256"] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{log}");
    }
}
