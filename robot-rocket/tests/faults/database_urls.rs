//! Database URLs that cannot be used. Messages name the cause and never a password.

use std::{process::Output, thread};

use crate::{
    database_server::{Kind, authority},
    options::Run,
    process::{Server, fail},
    workload::assert_unavailable,
};

pub(crate) fn wrong_password_is_reported_without_passwords(_: &Run, kind: Kind) {
    let url = kind.shared_database();
    // As it is written in the URL, and decoded.
    let (encoded, decoded) = ("wr%3Fng%2Fse%40cret", "wr?ng/se@cret");
    let wrong = url.replace("robots:robots@", &format!("robots:{encoded}@"));
    thread::scope(|scope| {
        for level in ["warn", "trace"] {
            let (url, wrong) = (&url, &wrong);
            scope.spawn(move || {
                let text = output(wrong, level, authority(url));
                for secret in [encoded, decoded, "cret", "ng%2F"] {
                    assert!(!text.contains(secret), "{secret} is in: {text}");
                }
                // In English or German.
                assert!(text.to_lowercase().contains("passwor"), "{text}");
            });
        }
    });
}

/// Everything that a server prints and logs if its database rejects it.
fn output(url: &str, level: &str, authority: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("DATABASE_URL", url), ("RUST_LOG", level)];
    match Server::launch(folder.path(), &settings) {
        Err(output) => {
            assert_eq!(output.status.code(), Some(1));
            text(&output)
        }
        Ok(server) => {
            let greeting = server.greeting.clone();
            assert!(greeting.contains(&format!("://{authority}/")), "{greeting}");
            assert_unavailable(&server.get("/api/robots"));
            let (status, log) = server.stop("TERM");
            assert!(status.success(), "{status}");
            assert!(log.contains(authority), "{log}");
            greeting + &log
        }
    }
}

fn text(output: &Output) -> String {
    let bytes = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8(bytes).unwrap()
}

pub(crate) fn missing_database_is_reported(_: &Run, kind: Kind) {
    let url = kind.shared_database();
    let (server, _) = url.rsplit_once('/').unwrap();
    let text = output(&format!("{server}/robots_nowhere"), "warn", authority(&url));
    let messages = match kind {
        Kind::Postgres => ["existiert nicht", "does not exist"],
        Kind::Mariadb => ["Unbekannte Datenbank", "Unknown database"],
    };
    assert!(
        messages.iter().any(|message| text.contains(message)),
        "{text}"
    );
    assert!(text.contains("robots_nowhere"), "{text}");
    assert!(!text.contains("robots:"), "{text}");
}

pub(crate) fn unreadable_url_is_rejected_and_not_repeated(_: &Run) {
    for url in [
        "postgres://u:p%zzwsecret@127.0.0.1/x",
        "postgresql://u:my%00secret@127.0.0.1/x",
        "postgres://u:my/secret@127.0.0.1/x",
        "postgres://u:secret@127.0.0.1:port/x",
        "postgres://u:secret@[]/x",
        "postgres://u:secret@[::1/x",
        "postgres://127.0.0.1/x?password=secret&nonsense=1",
        "postgres://127.0.0.1/x?password=my&secret",
        "mysql://u:my%00secret@127.0.0.1/x",
        "mysql://u:my/secret@127.0.0.1/x",
        "mysql://u:my#secret@127.0.0.1/x",
        "mysql://u:my?secret@127.0.0.1/x",
        "mysql://u:secret@127.0.0.1:port/x",
        "mysql://u:secret@[::1/x",
        "mysql:secret@127.0.0.1/x",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let output = fail(folder.path(), &[("DATABASE_URL", url)]);
        let text = text(&output);
        assert_eq!(output.status.code(), Some(1), "{url}: {text}");
        assert_eq!(text.lines().count(), 1, "{url}: {text}");
        assert!(text.contains("percent-encoded"), "{url}: {text}");
        for secret in ["secret", "u:", "zz"] {
            assert!(!text.contains(secret), "{url}: {text}");
        }
    }
}

/// The library that parses these splits them at another character than the user meant.
pub(crate) fn ambiguous_url_is_not_repeated(_: &Run) {
    thread::scope(|scope| {
        for url in [
            "postgres://u:my@secret@127.0.0.1:1/x",
            "postgres://u:12/secret@127.0.0.1:1/x",
            "postgres://u:my?secret@127.0.0.1:1/x",
            "postgres://u:my#secret@127.0.0.1:1/x",
            "mysql://u:p%zzwsecret@127.0.0.1:1/x",
            "mysql://u:my@secret@127.0.0.1:1/x",
            "mysql://u:12/secret@127.0.0.1:1/x",
            "mysql://u:12?secret@127.0.0.1:1/x",
            "mysql://u:12#secret@127.0.0.1:1/x",
        ] {
            scope.spawn(move || {
                let folder = tempfile::tempdir().unwrap();
                let text = match Server::launch(folder.path(), &[("DATABASE_URL", url)]) {
                    Ok(server) => server.greeting.clone() + &server.stop("TERM").1,
                    Err(output) => text(&output),
                };
                assert!(!text.contains("secret"), "{url}: {text}");
            });
        }
    });
}
