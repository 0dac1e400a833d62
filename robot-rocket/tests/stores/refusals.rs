//! URLs that lead nowhere. What is wrong with them is told, and passwords are not.

use std::{process::Output, thread};

use crate::{
    answers::is_a_refusal,
    calls::call,
    database::{Database, Kind, on_every_kind_of_server},
    process::{Server, fail},
};

#[test]
fn a_wrong_password_is_told_and_no_password_is() {
    on_every_kind_of_server(|kind| {
        let database = Database::new(kind);
        // As it stands in the URL, and as the database gets it.
        let (written, meant) = ("wr%3Fng%2Fse%40cret", "wr?ng/se@cret");
        let url = database
            .url
            .replace("robots:robots@", &format!("robots:{written}@"));
        thread::scope(|scope| {
            for level in ["warn", "trace"] {
                let (database, url) = (&database, &url);
                scope.spawn(move || {
                    let told = tell(url, level, database.place());
                    for secret in [written, meant, "cret", "ng%2F"] {
                        assert!(!told.contains(secret), "{secret} is told: {told}");
                    }
                    // In German, or in the program's own words.
                    assert!(told.to_lowercase().contains("passwor"), "{told}");
                });
            }
        });
    });
}

/// All that a server tells whose database does not let it in.
fn tell(url: &str, level: &str, place: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("DATABASE_URL", url), ("RUST_LOG", level)];
    match Server::launch(folder.path(), &settings) {
        Err(output) => {
            assert_eq!(output.status.code(), Some(1));
            text(&output)
        }
        Ok(server) => {
            let greeting = server.greeting.clone();
            assert!(greeting.contains(&format!("://{place}/")), "{greeting}");
            is_a_refusal(&call(&server.client(), "GET", "/api/robots", ""));
            let (status, log) = server.stop("TERM");
            assert!(status.success(), "{status}");
            assert!(log.contains(place), "{log}");
            greeting + &log
        }
    }
}

fn text(output: &Output) -> String {
    let bytes = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_database_that_is_not_there_is_told() {
    on_every_kind_of_server(|kind| {
        let database = Database::new(kind);
        let (server, _) = database.url.rsplit_once('/').unwrap();
        let told = tell(
            &format!("{server}/robots_nowhere"),
            "warn",
            database.place(),
        );
        let words = match kind {
            Kind::Postgres => ["existiert nicht", "does not exist"],
            Kind::Mariadb => ["Unbekannte Datenbank", "Unknown database"],
        };
        assert!(words.iter().any(|words| told.contains(words)), "{told}");
        assert!(told.contains("robots_nowhere"), "{told}");
        assert!(!told.contains("robots:"), "{told}");
    });
}

#[test]
fn a_url_that_cannot_be_read_is_refused_and_not_repeated() {
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
        let told = text(&output);
        assert_eq!(output.status.code(), Some(1), "{url}: {told}");
        assert_eq!(told.lines().count(), 1, "{url}: {told}");
        assert!(told.contains("percent-encoded"), "{url}: {told}");
        for secret in ["secret", "u:", "zz"] {
            assert!(!told.contains(secret), "{url}: {told}");
        }
    }
}

#[test]
fn a_url_that_is_read_otherwise_than_meant_is_not_repeated() {
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
        let folder = tempfile::tempdir().unwrap();
        let told = match Server::launch(folder.path(), &[("DATABASE_URL", url)]) {
            Ok(server) => server.greeting.clone() + &server.stop("TERM").1,
            Err(output) => text(&output),
        };
        assert!(!told.contains("secret"), "{url}: {told}");
    }
}
