//! HTTPS by Rocket's setting `tls`.

use std::{fs, process::Command};

use crate::{
    Server, draft,
    process::{fail, output_of_failure},
};

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

/// Writes a certificate and its key for `localhost` into two files.
fn write_certificate(certificate: &str, key: &str) {
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
            certificate,
            "-keyout",
            key,
        ],
    );
}

#[test]
fn tls_setting_serves_https() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (certificate, key) = (path("chain.pem"), path("key.pem"));
    write_certificate(&certificate, &key);
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
