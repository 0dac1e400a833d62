//! Certificates for tests of HTTPS.

use std::{path::Path, process::Command};

/// Runs a program, which must succeed, and returns its output.
pub(crate) fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("cannot run {program} (Debian package {program}): {error}"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// Writes a certificate and its key for `localhost` into the folder.
pub(crate) fn certify(folder: &Path) {
    write_certificate(folder, "chain.pem", "key.pem");
}

/// Writes a certificate and its key for `localhost` into two files in a folder.
pub(crate) fn write_certificate(folder: &Path, certificate: &str, key: &str) {
    let [certificate, key] = [certificate, key].map(|name| folder.join(name));
    let options = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 90 \
                   -subj /CN=localhost -addext subjectAltName=DNS:localhost \
                   -addext basicConstraints=critical,CA:FALSE -out";
    let mut arguments: Vec<_> = options.split_whitespace().collect();
    arguments.extend([
        certificate.to_str().unwrap(),
        "-keyout",
        key.to_str().unwrap(),
    ]);
    run("openssl", &arguments);
}

/// What a server at a port answers to a client that trusts the certificate in a file, with these arguments
/// of curl; empty if the client does not trust it.
pub(crate) fn curl(port: u16, path: &str, trusted: &Path, arguments: &[&str]) -> String {
    let output = Command::new("curl")
        .args(["--silent", "--max-time", "20", "--cacert"])
        .arg(trusted)
        .arg(format!("https://localhost:{port}{path}"))
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("cannot run curl (Debian package curl): {error}"));
    String::from_utf8(output.stdout).unwrap()
}
