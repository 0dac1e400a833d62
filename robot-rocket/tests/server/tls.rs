//! HTTPS.

use std::{
    fs,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use crate::{
    Server, TLS,
    certificates::{certify, curl, run, write_certificate},
    draft,
    process::{cases, fail, output_of_failure, read_to_end, wait_for},
    scrape::{self, Scrape, wait_until},
};

/// The start of a `ClientHello` that announces more bytes.
const HALF_HELLO: &str = "\x16\x03\x01\x02\x00\x01\x00\x01\x7c\x03\x03";

/// A server with HTTPS, its folder, and these settings.
struct Https {
    server: Server,
    folder: tempfile::TempDir,
}

impl Https {
    fn start(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        certify(folder.path());
        let common = [("DATABASE_URL", "memory:"), TLS];
        let server = Server::start(folder.path(), &[&common[..], settings].concat());
        Self { server, folder }
    }

    /// Gets the list of robots, with these arguments of curl.
    fn get(&self, arguments: &[&str]) -> String {
        let trusted = self.folder.path().join("chain.pem");
        curl(
            self.server.address().port(),
            "/api/robots",
            &trusted,
            arguments,
        )
    }
}

#[test]
fn tls_setting_serves_https() {
    let https = Https::start(&[("RUST_LOG", "info")]);
    let greeting = &https.server.greeting;
    assert!(greeting.contains(" https://"), "{greeting}");
    let added = https.get(&["--data", &draft("R2-D2")]);
    assert!(added.starts_with(r#"{"status":"OK""#), "{added}");
    let list = r#"[{"id":"1","name":"R2-D2"}]"#;
    // HTTP/2 is not negotiated.
    let listed = https.get(&["--http2", "--write-out", "%{http_version}"]);
    assert_eq!(listed, format!("{list}1.1"));
    // Plaintext disturbs no other connections.
    let request = "GET /api/robots HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let plain: Vec<_> = (0..50).map(|_| https.server.connect(request)).collect();
    assert_eq!(https.get(&[]), list);
    for stream in plain {
        let (received, elapsed) = read_to_end(&stream);
        assert!(!received.contains("HTTP/"), "{received}");
        assert!(elapsed < Duration::from_secs(8), "{elapsed:?}");
    }
    https.server.wait_for_log("a TLS handshake failed: ");
}

#[test]
fn incomplete_handshake_ends_after_header_timeout() {
    let https = Https::start(&[("ROCKET_HEADER_TIMEOUT", "1"), ("ROCKET_KEEP_ALIVE", "60")]);
    let started = Instant::now();
    let streams = ["", HALF_HELLO].map(|sent| https.server.connect(sent));
    assert_eq!(https.get(&[]), "[]");
    for stream in streams {
        assert_eq!(read_to_end(&stream).0, "");
        let elapsed = started.elapsed();
        let expected = Duration::from_millis(950)..Duration::from_secs(8);
        assert!(expected.contains(&elapsed), "{elapsed:?}");
    }
}

#[test]
fn rejected_connections_get_503_over_https() {
    let https = Https::start(&[("ROCKET_MAX_CONNECTIONS", "1")]);
    let only = https.server.connect("");
    let answer = https.get(&["--include"]);
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(answer.contains("too many connections"), "{answer}");
    drop(only);
    wait_for("a connection is admitted", || https.get(&[]) == "[]");
}

#[test]
fn stop_ends_incomplete_handshakes_at_once() {
    let shutdown = ("ROCKET_SHUTDOWN", "{grace=60,mercy=2}");
    let https = Https::start(&[("ROCKET_HEADER_TIMEOUT", "60"), shutdown]);
    let streams = ["", HALF_HELLO].map(|sent| https.server.connect(sent));
    // The server accepts connections in their order.
    assert_eq!(https.get(&[]), "[]");
    let started = Instant::now();
    let (status, log) = https.server.stop("TERM");
    let elapsed = started.elapsed();
    assert!(status.success() && log.is_empty(), "{status}: {log}");
    assert!(elapsed < Duration::from_secs(30), "{elapsed:?}");
    drop(streams);
}

/// The values of `tls`, and words of the message.
const WRONG: &str = r#"
certs="missing.pem",key="key.pem" -> the certificate file 'missing.pem' of tls.certs cannot be read: No such file
certs="chain.pem",key="missing.pem" -> the key file 'missing.pem' of tls.key cannot be read: No such file
certs=".",key="key.pem" -> of tls.certs cannot be read: Is a directory
certs="empty.pem",key="key.pem" -> 'empty.pem' of tls.certs has no valid certificate in PEM
certs="key.pem",key="chain.pem" -> 'key.pem' of tls.certs has no valid certificate in PEM
certs="damaged.pem",key="key.pem" -> the certificate file 'damaged.pem' of tls.certs and the key file 'key.pem' of tls.key cannot be used for HTTPS
certs="chain.pem",key="chain.pem" -> the key file 'chain.pem' of tls.key has no valid private key without a password in PEM
certs="chain.pem",key="encrypted.pem" -> 'encrypted.pem' of tls.key has no valid private key without a password
certs="chain.pem",key="other_key.pem" -> 'other_key.pem' of tls.key does not belong to the certificate file 'chain.pem'
certs="chain.pem",key="key.pem",ciphers=[] -> no usable cipher suites
certs="chain.pem",key="key.pem",mutual={ca_certs="chain.pem"} -> tls.mutual has no effect
certs="chain.pem" -> ROCKET_TLS must be as in {certs="chain.pem",key="key.pem"}
"#;

#[test]
fn certificate_or_key_problem_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    certify(folder.path());
    write_certificate(folder.path(), "other.pem", "other_key.pem");
    fs::write(path("empty.pem"), "").unwrap();
    let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    fs::write(path("damaged.pem"), damaged).unwrap();
    let (key, encrypted) = (path("key.pem"), path("encrypted.pem"));
    let encrypt = [
        "pkey",
        "-in",
        &key,
        "-aes256",
        "-passout",
        "pass:secret",
        "-out",
        &encrypted,
    ];
    run("openssl", &encrypt);
    for (value, words) in cases(WRONG) {
        let setting = format!("{{{value}}}");
        let error = output_of_failure(&fail(folder.path(), &[("ROCKET_TLS", &setting)]));
        assert!(error.contains(words), "{setting}: {error}");
    }
    assert!(!folder.path().join("robots.db").exists());
}

/// Signs the certificate in a folder again, so that it expires in this number of days, or has expired.
fn set_days(folder: &std::path::Path, days: i32) {
    let [chain, key] = ["chain.pem", "key.pem"].map(|name| folder.join(name));
    let (chain, key) = (chain.to_str().unwrap(), key.to_str().unwrap());
    let days = days.to_string();
    let files = ["-in", chain, "-signkey", key, "-out", chain];
    run("openssl", &[&["x509", "-days", &days], &files[..]].concat());
}

#[test]
fn certificate_that_expires_soon_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    certify(folder.path());
    for (days, message) in [
        (-1, "has expired, so that clients reject it: at 20"),
        (10, "expires at 20"),
        (30, ""),
    ] {
        set_days(folder.path(), days);
        let server = Server::start(folder.path(), &[("DATABASE_URL", "memory:"), TLS]);
        let (_, log) = server.stop("TERM");
        assert!(log.contains(message), "{days}: {log}");
        assert_eq!(log.is_empty(), message.is_empty(), "{days}: {log}");
    }
}

#[test]
fn expired_certificate_is_refused_at_a_reload_and_is_a_metric() {
    let folder = tempfile::tempdir().unwrap();
    certify(folder.path());
    set_days(folder.path(), 30);
    let (server, address) = scrape::server_in(folder.path(), &[("DATABASE_URL", "memory:"), TLS]);
    let days = || {
        let expiry = Scrape::of(address).value("robots_tls_certificate_expiry_time_seconds");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        (expiry - now.as_secs() + 3600) / (24 * 3600)
    };
    assert_eq!(days(), 30);
    set_days(folder.path(), -1);
    server.signal("HUP");
    server.wait_for_log("the reload was refused");
    assert!(server.log().contains("has expired"), "{}", server.log());
    assert_eq!(days(), 30);
    set_days(folder.path(), 60);
    server.signal("HUP");
    wait_for("the reload", || days() == 60);
    server.exchange("\u{16}\u{3}\u{1}");
    wait_until(address, "robots_tls_handshakes_failed_total", |count| {
        count > 0
    });
}
