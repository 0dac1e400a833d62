//! Reload of tokens and certificates by SIGHUP.

use std::{fs, io::Write as _, net::TcpStream, path::Path};

use robot_core::http::AccessToken;

use crate::{
    Server,
    process::{answer, fail, output_of_failure, wait_for},
    scrape::{server_in, wait_until},
    token,
};

const MEMORY: (&str, &str) = ("DATABASE_URL", "memory:");
const FILE: (&str, &str) = ("ROCKET_API_TOKENS_FILE", "tokens");
const LOG: (&str, &str) = ("RUST_LOG", "warn,robot_rocket=info,rocket=off,_=off");
const RELOADED: &str = "tokens and certificates were reloaded";
const REFUSED: &str = "the reload was refused";

fn write_tokens(folder: &Path, names: &[&str]) {
    let lines: Vec<_> = names.iter().map(|name| token(name)).collect();
    let text = format!("# names\r\n\n {}", lines.join("\r\n"));
    fs::write(folder.join("tokens"), text).unwrap();
}

/// Writes `Rocket.toml`.
fn write(folder: &Path, settings: &str) {
    let text = format!("[default]\n{settings}\n");
    fs::write(folder.join("Rocket.toml"), text).unwrap();
}

/// The setting that permits one token.
fn tokens(name: &str) -> String {
    format!("api_tokens = [\"{}\"]", token(name))
}

/// Sends SIGHUP, and waits until the log has one more line with these words.
fn reload(server: &Server, words: &str) {
    let count = || server.log().matches(words).count();
    let before = count();
    server.signal("HUP");
    wait_for(words, || count() > before);
}

/// Asserts the status of a list, on a connection that stays open.
#[track_caller]
fn assert_list(stream: &mut TcpStream, token: &str, status: &str) {
    let head = format!(
        "GET /api/robots HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer robots_{token}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let answer = answer(stream);
    assert!(
        answer.starts_with(&format!("HTTP/1.1 {status}")),
        "{token}: {answer}"
    );
}

#[test]
fn revoked_token_is_rejected_on_an_open_connection() {
    let folder = tempfile::tempdir().unwrap();
    write_tokens(folder.path(), &["ci", "laptop"]);
    let (server, metrics) = server_in(folder.path(), &[MEMORY, FILE, LOG]);
    let mut stream = server.connect("");
    assert_list(&mut stream, "ci", "200");
    write_tokens(folder.path(), &["laptop", "new"]);
    reload(&server, RELOADED);
    for (token, status) in [("ci", "401"), ("laptop", "200"), ("new", "200")] {
        assert_list(&mut stream, token, status);
    }
    let done = "robots_reloads_total{result=\"done\"}";
    wait_until(metrics, done, |count| count == 1);
    let (status, log) = server.stop("TERM");
    assert!(status.success() && !log.contains("WARN"), "{status}: {log}");
    let [added, removed] = ["new", "ci"].map(|name| {
        let token: AccessToken = token(name).parse().unwrap();
        token.fingerprint()
    });
    let changed = format!("tokens_added=[write:new:{added}…] tokens_removed=[write:ci:{removed}…]");
    assert!(log.contains(&changed), "{log}");
    let mut lines = log.lines().filter(|line| line.contains("status=401"));
    let unknown = format!("unknown_token={removed}");
    assert!(lines.all(|line| line.ends_with(&unknown)), "{log}");
}

#[test]
fn wrong_configuration_is_refused_at_a_reload() {
    let folder = tempfile::tempdir().unwrap();
    write_tokens(folder.path(), &["ci"]);
    // Reloads are logged by default.
    let (server, metrics) = server_in(folder.path(), &[MEMORY, FILE]);
    let mut stream = server.connect("");
    let [tokens, rocket] = ["tokens", "Rocket.toml"].map(|name| folder.path().join(name));
    for (path, content, words) in [
        (&tokens, "write:ci:sha256:0", "line 1 of the file 'tokens'"),
        (&tokens, "", "has no token"),
        (&rocket, "[default]\nworkers = 0\n", "workers in "),
        (&rocket, "[default", "TOML parse error"),
    ] {
        fs::write(path, content).unwrap();
        reload(&server, REFUSED);
        let log = server.log();
        assert!(log.lines().last().unwrap().contains(words), "{log}");
        assert_list(&mut stream, "ci", "200");
        write_tokens(folder.path(), &["ci"]);
    }
    let refused = "robots_reloads_total{result=\"refused\"}";
    wait_until(metrics, refused, |count| count == 4);
    fs::remove_file(&rocket).unwrap();
    fs::remove_file(&tokens).unwrap();
    reload(&server, REFUSED);
    assert_list(&mut stream, "ci", "200");
    let error = output_of_failure(&fail(folder.path(), &[MEMORY, FILE]));
    let words = "the file 'tokens' of api_tokens_file";
    assert!(error.contains(words), "{error}");
}

#[test]
fn reload_replaces_only_tokens_and_certificates() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &tokens("old"));
    let server = Server::start(folder.path(), &[MEMORY, LOG]);
    let mut stream = server.connect("");
    assert_list(&mut stream, "old", "200");
    let changed = format!("{}\nbehaviour = \"B\"", tokens("new"));
    write(folder.path(), &changed);
    reload(&server, RELOADED);
    assert_list(&mut stream, "old", "401");
    assert_list(&mut stream, "new", "200");
}

#[test]
fn reload_never_opens_the_server_to_everyone() {
    let folder = tempfile::tempdir().unwrap();
    for address in ["127.0.0.1", "0.0.0.0"] {
        let settings = format!("address = \"{address}\"\n{}", tokens("ci"));
        write(folder.path(), &settings);
        let server = Server::start(folder.path(), &[MEMORY, LOG]);
        let mut stream = server.connect("");
        // As for a later start on the loopback address.
        write(folder.path(), "address = \"127.0.0.1\"");
        reload(&server, REFUSED);
        assert_list(&mut stream, "other", "401");
        assert_list(&mut stream, "ci", "200");
        write(folder.path(), "allow_anonymous = true");
        reload(&server, RELOADED);
        assert_list(&mut stream, "other", "200");
    }
}

#[test]
fn hangup_without_tokens_keeps_the_server_running() {
    let server = Server::with(&[LOG]);
    for _ in 0..3 {
        reload(&server, RELOADED);
        assert_eq!(server.get("/api/robots").status, 200);
    }
    let server = Server::with(&[LOG, ("ROCKET_SHUTDOWN", "{signals=[\"hup\"]}")]);
    let (status, log) = server.stop("HUP");
    assert!(
        status.success() && !log.contains(RELOADED),
        "{status}: {log}"
    );
}

mod certificates {
    use super::*;
    use crate::certificates::{curl, write_certificate};

    /// Whether a new connection is served with the certificate in a file.
    fn is_served(server: &Server, folder: &Path, certificate: &str) -> bool {
        let port = server.address().port();
        curl(port, "/api/robots", &folder.join(certificate), &[]) == "[]"
    }

    #[test]
    fn renewed_certificate_is_served_to_new_connections() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let anonymous = "allow_anonymous = \"read\"";
        let write_tls = |token: &str, certs: &str, key: &str| {
            let tls = format!("tls = {{ certs = \"{certs}\", key = \"{key}\" }}");
            write(folder, &format!("{anonymous}\n{}\n{tls}", tokens(token)));
        };
        write_certificate(folder, "old.pem", "old_key.pem");
        write_certificate(folder, "new.pem", "new_key.pem");
        write_tls("ci", "old.pem", "old_key.pem");
        let server = Server::start(folder, &[MEMORY, LOG]);
        assert!(is_served(&server, folder, "old.pem"));
        write_tls("ci", "new.pem", "old_key.pem");
        reload(&server, REFUSED);
        let log = server.log();
        assert!(log.contains("does not belong to"), "{log}");
        assert!(is_served(&server, folder, "old.pem"));
        assert!(!is_served(&server, folder, "new.pem"));

        write_tls("laptop", "new.pem", "new_key.pem");
        reload(&server, RELOADED);
        assert!(is_served(&server, folder, "new.pem"));
        assert!(!is_served(&server, folder, "old.pem"));
        // HTTPS itself cannot be turned off without a restart.
        write(folder, &format!("{anonymous}\n{}", tokens("laptop")));
        reload(&server, RELOADED);
        assert!(is_served(&server, folder, "new.pem"));
    }
}
