//! TLS between the server and its database, with certificates of a private authority.

use std::path::{Path, PathBuf};

use crate::{
    certificates::run as openssl,
    database_server::{DatabaseServer, Kind},
    options::Run,
    process::{Server, fail, output_of_failure},
};

/// An authority, with its certificate and key in a folder.
struct Authority {
    certificate: PathBuf,
    key: PathBuf,
}

impl Authority {
    fn new(folder: &Path, name: &str) -> Self {
        let file = |end| folder.join(format!("{name}.{end}"));
        let authority = Self {
            certificate: file("pem"),
            key: file("key"),
        };
        request(name, &authority.certificate, &authority.key, &[]);
        authority
    }

    /// Writes a certificate for `localhost` and its key into two files.
    fn issue(&self, certificate: &Path, key: &Path) {
        let options = [
            "-CA",
            self.certificate.to_str().unwrap(),
            "-CAkey",
            self.key.to_str().unwrap(),
            "-addext",
            "subjectAltName=DNS:localhost",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
        ];
        request("localhost", certificate, key, &options);
    }

    /// The parameters of a URL that accepts only certificates of this authority.
    fn parameters(&self, kind: Kind) -> String {
        let file = self.certificate.display();
        match kind {
            Kind::Postgres => format!("sslmode=verify-full&sslrootcert={file}"),
            Kind::Mariadb => format!("ssl_mode=required&ssl_ca={file}"),
        }
    }
}

fn request(name: &str, certificate: &Path, key: &Path, options: &[&str]) {
    let subject = format!("/CN={name}");
    let (certificate, key) = (certificate.to_str().unwrap(), key.to_str().unwrap());
    let fixed = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
    let mut arguments: Vec<_> = fixed.split(' ').collect();
    arguments.extend(["-subj", &subject, "-out", certificate, "-keyout", key]);
    arguments.extend(options);
    openssl("openssl", &arguments);
}

/// A database server with a certificate for `localhost`.
struct Database {
    server: DatabaseServer,
    authority: Authority,
    other: Authority,
    folder: tempfile::TempDir,
}

impl Database {
    fn new(kind: Kind) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::new(folder.path(), "authority");
        let other = Authority::new(folder.path(), "other");
        let file = |name: &str| folder.path().join(name);
        let (certificate, key) = (file("server.pem"), file("server.key"));
        authority.issue(&certificate, &key);
        let server = DatabaseServer::new(kind);
        server.use_tls(&certificate, &key);
        Self {
            server,
            authority,
            other,
            folder,
        }
    }

    /// The URL with a host and parameters.
    fn url(&self, host: &str, parameters: &str) -> String {
        let url = self.server.url.replace("127.0.0.1", host);
        format!("{url}?{parameters}")
    }

    /// The host in the certificate. MariaDB's client library takes `localhost` for a local socket, and
    /// ignores the name in the certificate.
    fn host(&self) -> &'static str {
        match self.server.kind {
            Kind::Postgres => "localhost",
            Kind::Mariadb => "127.0.0.1",
        }
    }

    fn start(&self, url: &str) -> Server {
        Server::start(self.folder.path(), &[("DATABASE_URL", url)])
    }
}

/// Asserts that a server does not start with a URL, and reports a cause and a remedy.
fn assert_refused(url: &str, cause: &str, remedy: &str) {
    let folder = tempfile::tempdir().unwrap();
    let message = output_of_failure(&fail(folder.path(), &[("DATABASE_URL", url)]));
    for part in [cause, remedy] {
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

pub(crate) fn trusted_certificate_is_accepted(_: &Run, kind: Kind) {
    let database = Database::new(kind);
    let url = database.url(database.host(), &database.authority.parameters(kind));
    let server = database.start(&url);
    let answer = server.add("R2-D2");
    assert_eq!(answer.status, 201, "{}", answer.text());
    assert_eq!(server.names(), ["R2-D2"]);
}

pub(crate) fn certificate_of_another_authority_is_refused(_: &Run, kind: Kind) {
    let database = Database::new(kind);
    let url = database.url(database.host(), &database.other.parameters(kind));
    let cause = match kind {
        Kind::Postgres => "certificate verify failed",
        Kind::Mariadb => "unable to get local issuer certificate",
    };
    assert_refused(&url, cause, remedy(kind));
}

pub(crate) fn missing_certificate_file_is_reported(_: &Run, kind: Kind) {
    let database = Database::new(kind);
    let url = database.url(database.host(), &database.authority.parameters(kind));
    let url = url.replace("authority.pem", "missing.pem");
    let cause = match kind {
        Kind::Postgres => "missing.pem\" does not exist",
        Kind::Mariadb => "No such file or directory",
    };
    assert_refused(&url, cause, remedy(kind));
}

pub(crate) fn server_without_tls_is_refused(_: &Run, kind: Kind) {
    let database = DatabaseServer::new(kind);
    let (parameters, cause) = match kind {
        Kind::Postgres => ("sslmode=require", "server does not support SSL"),
        Kind::Mariadb => ("ssl_mode=REQUIRED", "the URL requires TLS"),
    };
    let url = format!("{}?{parameters}", database.url);
    assert_refused(&url, cause, remedy(kind));
}

pub(crate) fn certificate_for_another_host_is_refused(_: &Run) {
    let kind = Kind::Postgres;
    let database = Database::new(kind);
    let url = database.url("127.0.0.1", &database.authority.parameters(kind));
    assert_refused(&url, "does not match host name", remedy(kind));
}

/// Connections that are opened after the start need TLS, too.
pub(crate) fn database_that_loses_tls_is_not_used(_: &Run, kind: Kind) {
    let database = Database::new(kind);
    let url = database.url(database.host(), &database.authority.parameters(kind));
    let server = database.start(&url);
    assert_eq!(server.names(), [""; 0]);
    database.server.drop_tls();
    let answer = server.get("/api/robots");
    assert_eq!(answer.status, 503, "{}", answer.text());
    let (_, log) = server.stop("TERM");
    assert!(log.contains(remedy(kind)), "{log}");
}
