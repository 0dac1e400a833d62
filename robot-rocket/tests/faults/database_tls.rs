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
        Kind::Mariadb => "write ssl_mode=required and ssl_ca=FILE in the URL",
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

    // MariaDB's client library takes `localhost` for a local socket, and ignores the name in the
    // certificate.
    let host = if kind == Kind::Postgres {
        "localhost"
    } else {
        "127.0.0.1"
    };
    let url = |host: &str, authority: &str| {
        let (url, file) = (database.url.replace("127.0.0.1", host), file(authority));
        match kind {
            Kind::Postgres => format!("{url}?sslmode=verify-full&sslrootcert={file}"),
            Kind::Mariadb => format!("{url}?ssl_mode=required&ssl_ca={file}"),
        }
    };
    let (other, missing) = match kind {
        Kind::Postgres => ("certificate verify failed", "missing.pem\" does not exist"),
        Kind::Mariadb => (
            "unable to get local issuer certificate",
            "No such file or directory",
        ),
    };
    assert_refused(kind, &url(host, "other.pem"), other);
    assert_refused(kind, &url(host, "missing.pem"), missing);
    if kind == Kind::Postgres {
        let url = url("127.0.0.1", "authority.pem");
        assert_refused(kind, &url, "does not match host name");
    }
    let server = Server::sqlite(&[("DATABASE_URL", &url(host, "authority.pem"))]);
    assert_eq!(server.add("R2-D2").status, 201);

    // Connections that are opened after the start need TLS, too.
    database.drop_tls();
    let answer = server.get("/api/robots");
    assert_eq!(answer.status, 503, "{}", answer.text());
    let (_, log) = server.stop("TERM");
    assert!(log.contains(remedy(kind)), "{log}");
    let (parameters, cause) = match kind {
        Kind::Postgres => ("sslmode=require", "server does not support SSL"),
        Kind::Mariadb => ("ssl_mode=REQUIRED", "the URL requires TLS"),
    };
    assert_refused(kind, &format!("{}?{parameters}", database.url), cause);
}
