//! URLs of databases that are wrong, and passwords in them.

use std::thread;

use crate::{
    database_server::{Kind, authority},
    options::Run,
    process::Server,
    workload::assert_unavailable,
};

/// Everything that a server prints and logs with a URL, and whether it starts.
fn output(url: &str, level: &str) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    match Server::launch(folder.path(), &[("DATABASE_URL", url), ("RUST_LOG", level)]) {
        Err(output) => {
            assert_eq!(output.status.code(), Some(1), "{url}");
            let text = [output.stdout, output.stderr].concat();
            (false, String::from_utf8(text).unwrap())
        }
        Ok(server) => {
            assert_unavailable(&server.get("/api/robots"));
            let greeting = server.greeting.clone();
            let (status, log) = server.stop("TERM");
            assert!(status.success(), "{status}");
            (true, greeting + &log)
        }
    }
}

pub(crate) fn wrong_password_is_reported_without_passwords(_: &Run, kind: Kind) {
    let url = kind.shared_database();
    // As it is written in the URL, and decoded.
    let (encoded, decoded) = ("wr%3Fng%2Fse%40cret", "wr?ng/se@cret");
    let wrong = url.replace("robots:robots@", &format!("robots:{encoded}@"));
    for level in ["warn", "trace"] {
        let (_, text) = output(&wrong, level);
        for secret in [encoded, decoded, "cret", "ng%2F"] {
            assert!(!text.contains(secret), "{secret} is in: {text}");
        }
        assert!(text.contains(authority(&url)), "{text}");
        // In English or German.
        assert!(text.to_lowercase().contains("passwor"), "{text}");
    }
}

pub(crate) fn missing_database_is_reported(_: &Run, kind: Kind) {
    let url = kind.shared_database();
    let (server, _) = url.rsplit_once('/').unwrap();
    let (_, text) = output(&format!("{server}/robots_nowhere"), "warn");
    let messages = match kind {
        Kind::Postgres => ["existiert nicht", "does not exist"],
        Kind::Mariadb => ["Unbekannte Datenbank", "Unknown database"],
    };
    assert!(
        messages.iter().any(|message| text.contains(message)),
        "{text}"
    );
    assert!(
        text.contains("robots_nowhere") && !text.contains("robots:"),
        "{text}"
    );
}

const UNREADABLE: &str = "\
    postgres://u:p%zzwsecret@127.0.0.1/x postgresql://u:my%00secret@127.0.0.1/x \
    postgres://u:my/secret@127.0.0.1/x postgres://u:secret@127.0.0.1:port/x postgres://u:secret@[]/x \
    postgres://127.0.0.1/x?password=secret&nonsense=1 postgres://127.0.0.1/x?password=my&secret \
    mysql://u:my%00secret@127.0.0.1/x mysql://u:my/secret@127.0.0.1/x mysql://u:my#secret@127.0.0.1/x \
    mysql://u:my?secret@127.0.0.1/x mysql://u:secret@127.0.0.1:port/x mysql://u:secret@[::1/x \
    mysql:secret@127.0.0.1/x";

/// The library that parses these splits them at another character than the user meant.
const AMBIGUOUS: &str = "\
    postgres://u:my@secret@127.0.0.1:1/x postgres://u:12/secret@127.0.0.1:1/x \
    postgres://u:my?secret@127.0.0.1:1/x postgres://u:my#secret@127.0.0.1:1/x \
    mysql://u:p%zzwsecret@127.0.0.1:1/x mysql://u:my@secret@127.0.0.1:1/x mysql://u:12/secret@127.0.0.1:1/x \
    mysql://u:12?secret@127.0.0.1:1/x mysql://u:12#secret@127.0.0.1:1/x";

pub(crate) fn unreadable_url_is_rejected_and_not_repeated(_: &Run) {
    thread::scope(|scope| {
        for url in UNREADABLE.split(' ').chain(AMBIGUOUS.split(' ')) {
            scope.spawn(move || {
                let (has_started, text) = output(url, "warn");
                for secret in ["secret", "u:", "zz"] {
                    assert!(!text.contains(secret), "{url}: {text}");
                }
                if UNREADABLE.split(' ').any(|each| each == url) {
                    let is_reported = text.lines().count() == 1 && text.contains("percent-encoded");
                    assert!(!has_started && is_reported, "{url}: {text}");
                }
            });
        }
    });
}
