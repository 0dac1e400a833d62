//! Reload of tokens and certificates by SIGHUP.

use std::{fs, io::Write as _, net::TcpStream, path::Path};

use robot_core::http::{AccessToken, Permission};

use crate::{
    Server,
    process::{TIMEOUT, answer, ask, fail, output_of_failure, wait_for},
    scrape::{self, Scrape},
};

const MEMORY: (&str, &str) = ("DATABASE_URL", "memory:");
const FILE: (&str, &str) = ("ROCKET_API_TOKENS_FILE", "tokens");
const LOG: (&str, &str) = ("RUST_LOG", "warn,robot_rocket=info,rocket=off,_=off");
const RELOADED: &str = "tokens and certificates were reloaded";
const REFUSED: &str = "the reload was refused";

/// The entry of the token `robots_NAME`.
fn entry(name: &str) -> String {
    let token = AccessToken::of(&format!("robots_{name}"), Permission::Write);
    token.named(name.parse().unwrap()).to_string()
}

fn write_tokens(folder: &Path, names: &[&str]) {
    let lines: Vec<_> = names.iter().map(|name| entry(name)).collect();
    fs::write(
        folder.join("tokens"),
        format!("# names\r\n\n {}", lines.join("\r\n")),
    )
    .unwrap();
}

/// Sends SIGHUP, and waits until the log has one more line with these words.
fn reload(server: &Server, words: &str) {
    let count = || server.log().matches(words).count();
    let before = count();
    server.signal("HUP");
    wait_for(words, TIMEOUT, || count() > before);
}

/// The status line of a list, on a connection that stays open.
fn list(stream: &mut TcpStream, token: &str) -> String {
    let head = format!(
        "GET /api/robots HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer robots_{token}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    answer(stream).lines().next().unwrap().to_owned()
}

#[test]
fn revoked_token_is_rejected_on_an_open_connection() {
    let folder = tempfile::tempdir().unwrap();
    write_tokens(folder.path(), &["ci", "laptop"]);
    let server = Server::start(folder.path(), &[MEMORY, FILE, LOG]);
    let mut stream = server.connect("");
    for token in ["ci", "laptop"] {
        assert_eq!(list(&mut stream, token), "HTTP/1.1 200 OK");
    }
    write_tokens(folder.path(), &["laptop", "new"]);
    reload(&server, RELOADED);
    for (token, status) in [
        ("ci", "401 Unauthorized"),
        ("laptop", "200 OK"),
        ("new", "200 OK"),
    ] {
        assert_eq!(list(&mut stream, token), format!("HTTP/1.1 {status}"));
    }
    let (status, log) = server.stop("TERM");
    assert!(status.success(), "{status}: {log}");
    assert!(!log.contains("WARN"), "{log}");
    let [added, removed] = ["new", "ci"].map(|name| {
        let token: AccessToken = entry(name).parse().unwrap();
        token.fingerprint()
    });
    let changed = format!("tokens_added=new:{added} tokens_removed=ci:{removed}");
    assert!(log.contains(&changed), "{log}");
    let unknown = format!("unknown_token={removed}");
    let request = log.lines().find(|line| line.contains("status=401"));
    assert!(
        request.is_some_and(|line| line.ends_with(&unknown)),
        "{log}"
    );
}

#[test]
fn wrong_configuration_is_refused_at_a_reload() {
    let folder = tempfile::tempdir().unwrap();
    write_tokens(folder.path(), &["ci"]);
    let server = Server::start(folder.path(), &[MEMORY, FILE]);
    let mut stream = server.connect("");
    let (tokens, rocket) = (
        folder.path().join("tokens"),
        folder.path().join("Rocket.toml"),
    );
    for (path, content, words) in [
        (
            &tokens,
            "write:ci:sha256:0\n".to_owned(),
            "line 1 of the file 'tokens'",
        ),
        (&tokens, String::new(), "has no token"),
        (&tokens, format!("{0}\n{0}\n", entry("ci")), "'ci' twice"),
        (
            &rocket,
            "[default]\nworkers = 0\n".to_owned(),
            "workers in ",
        ),
        (&rocket, "[default".to_owned(), "TOML parse error"),
    ] {
        fs::write(path, content).unwrap();
        reload(&server, REFUSED);
        let log = server.log();
        assert!(log.lines().last().unwrap().contains(words), "{log}");
        assert_eq!(list(&mut stream, "ci"), "HTTP/1.1 200 OK");
        write_tokens(folder.path(), &["ci"]);
    }
    fs::remove_file(&rocket).unwrap();
    fs::remove_file(&tokens).unwrap();
    reload(&server, REFUSED);
    assert_eq!(list(&mut stream, "ci"), "HTTP/1.1 200 OK");
    let error = output_of_failure(&fail(folder.path(), &[MEMORY, FILE]));
    assert!(
        error.contains("the file 'tokens' of api_tokens_file"),
        "{error}"
    );
}

#[test]
fn reloads_are_counted_and_logged_by_default() {
    let folder = tempfile::tempdir().unwrap();
    write_tokens(folder.path(), &["ci"]);
    let (server, metrics) = scrape::server_in(folder.path(), &[MEMORY, FILE]);
    let counts = || {
        let scrape = Scrape::of(metrics);
        let count = |result| scrape.value(&format!("robots_reloads_total{{result=\"{result}\"}}"));
        (count("done"), count("refused"))
    };
    assert_eq!(counts(), (0, 0));
    write_tokens(folder.path(), &["laptop"]);
    reload(&server, RELOADED);
    write_tokens(folder.path(), &[]);
    reload(&server, REFUSED);
    wait_for("the count", TIMEOUT, || counts() == (1, 1));
}

#[test]
fn tokens_and_their_file_exclude_each_other() {
    let folder = tempfile::tempdir().unwrap();
    write_tokens(folder.path(), &["ci"]);
    let settings = [MEMORY, FILE, ("ROCKET_API_TOKENS", &entry("x"))];
    let error = output_of_failure(&fail(folder.path(), &settings));
    assert!(error.contains("are both set"), "{error}");
}

#[test]
fn reload_names_settings_that_need_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let write = |token: &str, rest: &str| {
        let text = format!("[default]\napi_tokens = [\"{}\"]\n{rest}", entry(token));
        fs::write(folder.path().join("Rocket.toml"), text).unwrap();
    };
    write("old", "");
    let server = Server::start(folder.path(), &[MEMORY, LOG]);
    let mut stream = server.connect("");
    assert_eq!(list(&mut stream, "old"), "HTTP/1.1 200 OK");
    write("new", "behaviour = \"B\"\n");
    reload(
        &server,
        "behaviour has changed, which has an effect only after a restart",
    );
    assert_eq!(list(&mut stream, "old"), "HTTP/1.1 401 Unauthorized");
    assert_eq!(list(&mut stream, "new"), "HTTP/1.1 200 OK");
    assert_eq!(server.log().matches("after a restart").count(), 1);
}

#[test]
fn reload_never_opens_the_server_to_everyone() {
    let folder = tempfile::tempdir().unwrap();
    let write = |text: &str| fs::write(folder.path().join("Rocket.toml"), text).unwrap();
    let token = format!("api_tokens = [\"{}\"]\n", entry("ci"));
    for address in ["127.0.0.1", "0.0.0.0"] {
        write(&format!("[default]\naddress = \"{address}\"\n{token}"));
        let server = Server::start(folder.path(), &[MEMORY, LOG]);
        let mut stream = server.connect("");
        // As for a later start on the loopback address.
        write("[default]\naddress = \"127.0.0.1\"\n");
        reload(&server, REFUSED);
        assert_eq!(list(&mut stream, "other"), "HTTP/1.1 401 Unauthorized");
        assert_eq!(list(&mut stream, "ci"), "HTTP/1.1 200 OK");
        write("[default]\nallow_anonymous = true\n");
        reload(&server, RELOADED);
        assert_eq!(list(&mut stream, "other"), "HTTP/1.1 200 OK");
    }
}

#[test]
fn tokens_of_the_environment_are_not_called_reloaded() {
    let token = entry("ci");
    let server = Server::with(&[LOG, ("ROCKET_API_TOKENS", &token)]);
    reload(&server, "but not the tokens of ROCKET_API_TOKENS");
    assert!(!server.log().contains(RELOADED), "{}", server.log());
}

#[test]
fn hangup_without_tokens_keeps_the_server_running() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[MEMORY, LOG]);
    let mut stream = server.connect("");
    for _ in 0..3 {
        reload(&server, RELOADED);
        let listed = ask(&mut stream, "GET", "/api/robots", "");
        assert!(listed.starts_with("HTTP/1.1 200 OK"), "{listed}");
    }
    let hangup = ("ROCKET_SHUTDOWN", "{signals=[\"hup\"]}");
    let server = Server::start(folder.path(), &[MEMORY, LOG, hangup]);
    let (status, log) = server.stop("HUP");
    assert!(status.success(), "{status}: {log}");
    assert!(!log.contains(RELOADED), "{log}");
}

#[cfg(feature = "tls")]
mod certificates {
    use std::{
        io::{BufRead as _, BufReader},
        process::{Child, ChildStdout, Command, Stdio},
    };

    use super::*;
    use crate::certificates::write_certificate;

    /// A TLS connection by openssl, killed on drop.
    struct Tls {
        child: Child,
        output: BufReader<ChildStdout>,
    }

    impl Tls {
        fn connect(server: &Server) -> Self {
            let address = server.address().to_string();
            let mut child = Command::new("openssl")
                .args(["s_client", "-quiet", "-connect", &address])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let output = BufReader::new(child.stdout.take().unwrap());
            Self { child, output }
        }

        /// The status line of an answer without a body.
        fn status(&mut self) -> String {
            let request = b"HEAD /api/robots HTTP/1.1\r\nHost: localhost\r\n\r\n";
            self.child
                .stdin
                .as_mut()
                .unwrap()
                .write_all(request)
                .unwrap();
            let (mut status, mut line) = (String::new(), String::new());
            self.output.read_line(&mut status).unwrap();
            while line != "\r\n" {
                line.clear();
                let length = self.output.read_line(&mut line).unwrap();
                assert_ne!(length, 0, "the connection ended after {status}");
            }
            status.trim_end().to_owned()
        }
    }

    impl Drop for Tls {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    /// Whether a new connection is served with the certificate in a file.
    fn is_served(server: &Server, certificate: &str) -> bool {
        let url = format!("https://localhost:{}/api/robots", server.address().port());
        let arguments = [
            "--silent",
            "--max-time",
            "20",
            "--cacert",
            certificate,
            &url,
        ];
        let output = Command::new("curl").args(arguments).output().unwrap();
        output.stdout == b"[]"
    }

    #[test]
    fn renewed_certificate_is_served_to_new_connections() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        write_certificate(&path("chain.pem"), &path("key.pem"));
        write_certificate(&path("new.pem"), &path("new_key.pem"));
        fs::copy(path("chain.pem"), path("old.pem")).unwrap();
        let tls = ("ROCKET_TLS", r#"{certs="chain.pem",key="key.pem"}"#);
        let server = Server::start(folder.path(), &[MEMORY, LOG, tls]);
        let mut open = Tls::connect(&server);
        assert_eq!(open.status(), "HTTP/1.1 200 OK");
        assert!(is_served(&server, &path("old.pem")));

        // The certificate does not belong to the key yet.
        fs::copy(path("new.pem"), path("chain.pem")).unwrap();
        reload(&server, REFUSED);
        assert!(
            server.log().contains("does not belong to"),
            "{}",
            server.log()
        );
        assert!(is_served(&server, &path("old.pem")));
        assert!(!is_served(&server, &path("new.pem")));

        fs::copy(path("new_key.pem"), path("key.pem")).unwrap();
        reload(&server, RELOADED);
        assert!(is_served(&server, &path("new.pem")));
        assert!(!is_served(&server, &path("old.pem")));
        assert_eq!(open.status(), "HTTP/1.1 200 OK");
    }

    #[test]
    fn reload_uses_changed_paths_of_the_certificate() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let write = |name: &str, token: &str| {
            let tls = format!("tls = {{ certs = \"{name}.pem\", key = \"{name}_key.pem\" }}");
            let text = format!(
                "[default]\nallow_anonymous = \"read\"\napi_tokens = [\"{}\"]\n{tls}\n",
                entry(token)
            );
            fs::write(folder.path().join("Rocket.toml"), text).unwrap();
            write_certificate(
                &path(&format!("{name}.pem")),
                &path(&format!("{name}_key.pem")),
            );
        };
        write("old", "ci");
        let server = Server::start(folder.path(), &[MEMORY, LOG]);
        assert!(is_served(&server, &path("old.pem")));
        write("new", "laptop");
        for old in ["old.pem", "old_key.pem"] {
            fs::remove_file(path(old)).unwrap();
        }
        reload(&server, RELOADED);
        assert!(is_served(&server, &path("new.pem")));
        // HTTPS itself cannot be turned off without a restart.
        fs::write(
            folder.path().join("Rocket.toml"),
            format!(
                "[default]\nallow_anonymous = \"read\"\napi_tokens = [\"{}\"]\n",
                entry("laptop")
            ),
        )
        .unwrap();
        reload(
            &server,
            "tls has changed, which has an effect only after a restart",
        );
        assert!(is_served(&server, &path("new.pem")));
        assert_eq!(server.log().matches("after a restart").count(), 1);
    }
}
