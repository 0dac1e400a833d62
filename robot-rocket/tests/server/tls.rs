//! HTTPS by Rocket's setting `tls`.

use std::process::Command;

use crate::{Server, draft};

/// Runs a program, which must succeed, and returns its output.
fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("cannot run {program} (Debian package {program}): {error}"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn tls_setting_serves_https() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (certificate, key) = (path("chain.pem"), path("key.pem"));
    run(
        "openssl",
        &[
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
            "-out",
            &certificate,
            "-keyout",
            &key,
        ],
    );
    let setting = format!("{{certs=\"{certificate}\",key=\"{key}\"}}");
    let server = Server::start(
        folder.path(),
        &[("DATABASE_URL", "memory:"), ("ROCKET_TLS", &setting)],
    );
    assert!(server.greeting.contains(" https://"), "{}", server.greeting);
    let url = format!("https://localhost:{}/api/robots", server.address().port());
    let curl = |arguments: &[&str]| {
        let common = ["--silent", "--show-error", "--max-time", "20"];
        let trust = ["--cacert", certificate.as_str(), url.as_str()];
        run("curl", &[&common[..], &trust, arguments].concat())
    };
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
