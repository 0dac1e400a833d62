//! TLS between the server and its database.

use std::path::Path;

use crate::{
    certificates::run as openssl,
    database_server::{DatabaseServer, Kind},
    options::Run,
    process::{Server, fail, output_of_failure},
};

/// Writes the certificate and the key of an authority, or of `localhost` with these options.
fn request(folder: &Path, name: &str, options: &[&str]) {
    let file = |end| folder.join(format!("{name}.{end}")).display().to_string();
    let fixed = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
    let mut arguments: Vec<_> = fixed.split(' ').collect();
    let (subject, certificate, key) = (format!("/CN={name}"), file("pem"), file("key"));
    arguments.extend(["-subj", &subject, "-out", &certificate, "-keyout", &key]);
    arguments.extend(options);
    openssl("openssl", &arguments);
}

/// Asserts that a server does not start with a URL, and reports a cause and a remedy.
fn assert_refused(kind: Kind, url: &str, cause: &str) {
    let folder = tempfile::tempdir().unwrap();
    let message = output_of_failure(&fail(folder.path(), &[("DATABASE_URL", url)]));
    for part in [cause, remedy(kind)] {
        assert!(message.contains(part), "{part} is missing in: {message}");
    }
    assert!(!message.contains("robots:robots"), "{message}");
}

fn remedy(kind: Kind) -> &'static str {
    match kind {
        Kind::Postgres => "check sslmode and sslrootcert in the URL",
        Kind::Mariadb => "check ssl_mode and ssl_ca in the URL",
    }
}

pub(crate) fn connections_are_encrypted_and_certificates_checked(_: &Run, kind: Kind) {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    request(folder.path(), "authority", &[]);
    request(folder.path(), "other", &[]);
    let (certificate, key) = (file("authority.pem"), file("authority.key"));
    let names = ["-addext", "subjectAltName=DNS:localhost"];
    let leaf = ["-addext", "basicConstraints=critical,CA:FALSE"];
    let issuer = ["-CA", &certificate, "-CAkey", &key];
    request(
        folder.path(),
        "localhost",
        &[&issuer[..], &names, &leaf].concat(),
    );
    let database = DatabaseServer::new(kind);
    database.use_tls(
        &folder.path().join("localhost.pem"),
        &folder.path().join("localhost.key"),
    );

    let url = |host: &str, authority: &str| {
        let (url, file) = (database.url.replace("127.0.0.1", host), file(authority));
        match kind {
            Kind::Postgres => format!("{url}?sslmode=verify-full&sslrootcert={file}"),
            Kind::Mariadb => format!("{url}?ssl_mode=verify_identity&ssl_ca={file}"),
        }
    };
    for (host, authority, cause) in [
        ("localhost", "other.pem", "UnknownIssuer"),
        ("localhost", "missing.pem", "No such file or directory"),
        (
            "127.0.0.1",
            "authority.pem",
            "certificate not valid for name",
        ),
    ] {
        assert_refused(kind, &url(host, authority), cause);
    }
    let server = Server::sqlite(&[("DATABASE_URL", &url("localhost", "authority.pem"))]);
    assert_eq!(server.add("R2-D2").status, 201);

    // Connections that are opened after the start need TLS, too.
    database.drop_tls();
    let answer = server.get("/api/robots");
    assert_eq!(answer.status, 503, "{}", answer.text());
    let (_, log) = server.stop("TERM");
    assert!(log.contains(remedy(kind)), "{log}");
    let (parameters, cause) = match kind {
        Kind::Postgres => ("sslmode=require", "server does not support TLS"),
        Kind::Mariadb => ("ssl_mode=REQUIRED", "server does not have this capability"),
    };
    assert_refused(kind, &format!("{}?{parameters}", database.url), cause);
}
