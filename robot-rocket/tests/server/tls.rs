//! HTTPS by Rocket's setting `tls`.

use std::{
    fs,
    io::Write as _,
    process::Command,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{
    Server,
    certificates::{run, write_certificate},
    draft,
    process::{TIMEOUT, assert_status, fail, output_of_failure, read_to_end, wait_for},
    scrape::{self, Scrape, free_address},
};

#[test]
fn tls_setting_serves_https() {
    let folder = tempfile::tempdir().unwrap();
    let server = https(&folder, &[]);
    assert!(server.greeting.contains(" https://"), "{}", server.greeting);
    let curl = |arguments: &[&str]| get(&folder, &server, arguments);
    let added = curl(&["--data", &draft("R2-D2")]);
    assert!(added.starts_with(r#"{"status":"OK""#), "{added}");
    assert_eq!(curl(&[]), r#"[{"id":"1","name":"R2-D2"}]"#);
    // HTTP/2 is not negotiated.
    let version = curl(&[
        "--http2",
        "--output",
        "/dev/null",
        "--write-out",
        "%{http_version}",
    ]);
    assert_eq!(version, "1.1");
}

/// The start of a `ClientHello` that announces more bytes.
const HALF_HELLO: &[u8] = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";

/// A server with HTTPS in a folder, and these settings.
fn https(folder: &TempDir, settings: &[(&str, &str)]) -> Server {
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    write_certificate(&path("chain.pem"), &path("key.pem"));
    let common = [
        ("DATABASE_URL", "memory:"),
        ("ROCKET_TLS", r#"{certs="chain.pem",key="key.pem"}"#),
    ];
    Server::start(folder.path(), &[&common[..], settings].concat())
}

/// Gets the list of robots, with these arguments of curl.
fn get(folder: &TempDir, server: &Server, arguments: &[&str]) -> String {
    let url = format!("https://localhost:{}/api/robots", server.address().port());
    let certificate = folder.path().join("chain.pem");
    let trust = ["--cacert", certificate.to_str().unwrap(), url.as_str()];
    let common = ["--silent", "--show-error", "--max-time", "20"];
    run("curl", &[&common[..], &trust, arguments].concat())
}

#[test]
fn incomplete_handshake_ends_after_header_timeout() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("ROCKET_HEADER_TIMEOUT", "1"), ("ROCKET_KEEP_ALIVE", "60")];
    let server = https(&folder, &settings);
    let started = Instant::now();
    let silent = server.connect("");
    let mut half = server.connect("");
    half.write_all(HALF_HELLO).unwrap();
    assert_eq!(get(&folder, &server, &[]), "[]");
    for stream in [silent, half] {
        let (received, _) = read_to_end(&stream);
        assert_eq!(received, "");
        let elapsed = started.elapsed();
        assert!(elapsed > Duration::from_millis(950), "{elapsed:?}");
        assert!(elapsed < Duration::from_secs(8), "{elapsed:?}");
    }
}

#[test]
fn plaintext_disturbs_no_other_connections() {
    let folder = tempfile::tempdir().unwrap();
    let server = https(&folder, &[]);
    let plain: Vec<_> = (0..50)
        .map(|_| server.connect("GET /api/robots HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        .collect();
    assert_eq!(get(&folder, &server, &[]), "[]");
    for stream in plain {
        let (received, elapsed) = read_to_end(&stream);
        assert!(!received.contains("HTTP/"), "{received}");
        assert!(elapsed < Duration::from_secs(8), "{elapsed:?}");
    }
    assert_eq!(get(&folder, &server, &[]), "[]");
}

#[test]
fn rejected_connections_get_503_over_https() {
    let folder = tempfile::tempdir().unwrap();
    let server = https(&folder, &[("ROCKET_MAX_CONNECTIONS", "1")]);
    let only = server.connect("");
    let answer = get(&folder, &server, &["--include"]);
    assert_status(&answer, 503);
    assert!(answer.contains("too many connections"), "{answer}");
    drop(only);
    wait_for("a connection is admitted", TIMEOUT, || {
        get(&folder, &server, &[]) == "[]"
    });
}

#[test]
fn stop_ends_incomplete_handshakes_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        ("ROCKET_HEADER_TIMEOUT", "60"),
        ("ROCKET_SHUTDOWN", "{grace=4,mercy=2}"),
    ];
    let server = https(&folder, &settings);
    let silent = server.connect("");
    let mut half = server.connect("");
    half.write_all(HALF_HELLO).unwrap();
    // The server accepts connections in their order.
    assert_eq!(get(&folder, &server, &[]), "[]");
    let started = Instant::now();
    let (status, log) = server.stop("TERM");
    let elapsed = started.elapsed();
    assert!(status.success(), "{status}: {log}");
    assert_eq!(log, "");
    assert!(elapsed < Duration::from_millis(2500), "{elapsed:?}");
    drop((silent, half));
}

#[test]
fn certificate_or_key_problem_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    write_certificate(&path("chain.pem"), &path("key.pem"));
    write_certificate(&path("other.pem"), &path("other_key.pem"));
    fs::write(path("empty.pem"), "").unwrap();
    fs::write(
        path("damaged.pem"),
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    )
    .unwrap();
    run(
        "openssl",
        &[
            "pkey",
            "-in",
            &path("key.pem"),
            "-aes256",
            "-passout",
            "pass:secret",
            "-out",
            &path("encrypted.pem"),
        ],
    );
    for (certificate, key, words) in [
        (
            "missing.pem",
            "key.pem",
            "the certificate file 'missing.pem' of tls.certs cannot be read: No such file",
        ),
        (
            "chain.pem",
            "missing.pem",
            "the key file 'missing.pem' of tls.key cannot be read: No such file",
        ),
        (
            ".",
            "key.pem",
            "of tls.certs cannot be read: Is a directory",
        ),
        (
            "empty.pem",
            "key.pem",
            "the certificate file 'empty.pem' of tls.certs has no valid certificate in PEM",
        ),
        (
            "key.pem",
            "chain.pem",
            "the certificate file 'key.pem' of tls.certs has no valid certificate in PEM",
        ),
        (
            "damaged.pem",
            "key.pem",
            "the certificate file 'damaged.pem' of tls.certs is damaged",
        ),
        (
            "chain.pem",
            "chain.pem",
            "the key file 'chain.pem' of tls.key has no valid private key in PEM",
        ),
        (
            "chain.pem",
            "encrypted.pem",
            "the key file 'encrypted.pem' of tls.key is protected by a password",
        ),
        (
            "chain.pem",
            "other_key.pem",
            "the key file 'other_key.pem' of tls.key does not belong to the certificate file \
             'chain.pem'",
        ),
    ] {
        let setting = format!("{{certs=\"{certificate}\",key=\"{key}\"}}");
        let error = output_of_failure(&fail(folder.path(), &[("ROCKET_TLS", &setting)]));
        assert!(error.contains(words), "{certificate}, {key}: {error}");
    }
    for (setting, words) in [
        (
            "{certs=\"chain.pem\",key=\"key.pem\",ciphers=[]}",
            "tls.ciphers is empty",
        ),
        (
            "{certs=\"chain.pem\",key=\"key.pem\",mutual={ca_certs=\"chain.pem\"}}",
            "tls.mutual has no effect",
        ),
        (
            "{certs=\"chain.pem\"}",
            "ROCKET_TLS must be as in {certs=\"chain.pem\",key=\"key.pem\"}",
        ),
    ] {
        let error = output_of_failure(&fail(folder.path(), &[("ROCKET_TLS", setting)]));
        assert!(error.contains(words), "{setting}: {error}");
    }
    assert!(!folder.path().join("robots.db").exists());
}

/// Signs a certificate again, so that it expires in this number of days, or has expired.
fn set_days(certificate: &str, key: &str, days: i32) {
    let days = days.to_string();
    let files = ["-in", certificate, "-signkey", key, "-out", certificate];
    run("openssl", &[&["x509", "-days", &days], &files[..]].concat());
}

#[test]
fn certificate_that_expires_soon_is_reported() {
    for (days, message) in [
        (-1, "has expired, so that clients reject it: at 20"),
        (10, "expires at 20"),
        (30, ""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        write_certificate(&path("chain.pem"), &path("key.pem"));
        set_days(&path("chain.pem"), &path("key.pem"), days);
        let tls = ("ROCKET_TLS", r#"{certs="chain.pem",key="key.pem"}"#);
        let server = Server::start(folder.path(), &[("DATABASE_URL", "memory:"), tls]);
        let (_, log) = server.stop("TERM");
        assert!(log.contains(message), "{days}: {log}");
        assert_eq!(log.is_empty(), message.is_empty(), "{days}: {log}");
    }
}

#[test]
fn reload_refuses_an_expired_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let server = https(&folder, &[("RUST_LOG", "info")]);
    set_days(&path("chain.pem"), &path("key.pem"), -1);
    server.signal("HUP");
    wait_for("the refusal", TIMEOUT, || {
        let log = server.log();
        let mut lines = log.lines();
        lines.any(|line| line.contains("the reload was refused") && line.contains("has expired"))
    });
    set_days(&path("chain.pem"), &path("key.pem"), 60);
    server.signal("HUP");
    wait_for("the reload", TIMEOUT, || {
        server
            .log()
            .contains("tokens and certificates were reloaded")
    });
}

#[cfg(target_os = "linux")]
#[test]
fn expiry_of_the_certificate_is_a_metric() {
    use std::time::{SystemTime, UNIX_EPOCH};

    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    write_certificate(&path("chain.pem"), &path("key.pem"));
    set_days(&path("chain.pem"), &path("key.pem"), 30);
    let tls = ("ROCKET_TLS", r#"{certs="chain.pem",key="key.pem"}"#);
    let (server, address) = scrape::server_in(folder.path(), &[("DATABASE_URL", "memory:"), tls]);
    let days = || {
        let expiry = Scrape::of(address).value("robots_tls_certificate_expiry_time_seconds");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        (expiry - now.as_secs() + 3600) / (24 * 3600)
    };
    assert_eq!(days(), 30);
    set_days(&path("chain.pem"), &path("key.pem"), 60);
    server.signal("HUP");
    wait_for("the reload", TIMEOUT, || days() == 60);
}

#[test]
fn handshake_that_the_client_breaks_off_is_logged() {
    let folder = tempfile::tempdir().unwrap();
    let metrics = free_address();
    let setting = ("ROCKET_METRICS_ADDRESS", &*metrics.to_string());
    let server = https(&folder, &[("RUST_LOG", "info"), setting]);
    // The client does not trust the certificate.
    let url = format!("https://localhost:{}/", server.address().port());
    let status = Command::new("curl").args(["--silent", &url]).status();
    assert!(!status.unwrap().success());
    wait_for("the handshake is logged", TIMEOUT, || {
        server.log().contains("a TLS handshake failed: ")
    });
    wait_for("the handshake is counted", TIMEOUT, || {
        Scrape::of(metrics).value("robots_tls_handshakes_failed_total") == 1
    });
}
