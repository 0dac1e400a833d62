//! Start, arguments and the sources of settings.

use std::{fs, net::TcpListener, path::Path};

use crate::{
    Server,
    process::{command, fail, output_of_failure},
};

#[test]
fn default_start_creates_a_database() {
    let server = Server::sqlite(&[]);
    let address = server.address();
    assert_eq!(
        server.greeting,
        format!(
            "Robots at http://{address}/v1/robots (store sqlite://robots.db, behaviour A; \
             read: anyone, write: anyone, define: anyone); for people at http://{address}/; Ctrl-C stops the server\n"
        )
    );
    assert!(address.ip().is_loopback());
    let added = server.add("R2-D2");
    let robot = r#"{"status":"OK","data":{"name":"R2-D2","type":"droid","year":1977,"id":"1"}}"#;
    assert_eq!((added.status, added.text().as_str()), (201, robot));
    assert!(server.folder().join("robots.db").is_file());
}

#[test]
fn environment_takes_precedence_over_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[default]\nbehaviour = \"B\"\ndatabase_url = \"sqlite://from_file.db\"\n";
    fs::write(folder.path().join("Rocket.toml"), text).unwrap();
    let shared = ("DATABASE_URL", "sqlite://shared.db");
    for (settings, words) in [
        (&[][..], "(store sqlite://from_file.db, behaviour B;"),
        (
            &[shared, ("ROCKET_BEHAVIOUR", "A")],
            "(store sqlite://shared.db, behaviour A;",
        ),
        (
            &[shared, ("ROCKET_DATABASE_URL", "memory:")],
            "(store memory:, behaviour B;",
        ),
        (&[shared, ("ROCKET_ADDRESS", "::1")], "http://[::1]:"),
    ] {
        let server = Server::start(folder.path(), settings);
        assert!(server.greeting.contains(words), "{}", server.greeting);
    }
    let server = Server::start(folder.path(), &[("DATABASE_URL", "memory:")]);
    // As behaviour B answers.
    assert_eq!(
        (server.add("R2-D2").status, server.add("R2-D2").status),
        (200, 500)
    );
}

#[test]
fn address_that_cannot_be_bound_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap();
    let (port, taken) = (taken.port().to_string(), taken.to_string());
    let (metrics, foreign) = ("ROCKET_METRICS_ADDRESS", "192.0.2.1:9100");
    let other = "choose another ROCKET_METRICS_ADDRESS of this machine";
    for (setting, value, address, remedy) in [
        ("ROCKET_PORT", &*port, &*taken, "choose another ROCKET_PORT"),
        (
            metrics,
            &taken,
            &taken,
            "stop the program that uses this port",
        ),
        (metrics, foreign, foreign, other),
    ] {
        let error = output_of_failure(&fail(folder.path(), &[(setting, value)]));
        for words in [&*format!("cannot listen on {address}: "), remedy] {
            assert!(error.contains(words), "{error}");
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn database_that_cannot_be_created_is_named() {
    let url = ("DATABASE_URL", "sqlite:///nonexistent/robots.db");
    let error = output_of_failure(&fail(Path::new("/"), &[url]));
    assert!(error.contains("'/nonexistent/robots.db'"), "{error}");
}

#[test]
fn help_is_printed_and_unknown_arguments_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let version = format!("robot-rocket {}\n", env!("CARGO_PKG_VERSION"));
    for (argument, status, words) in [
        (
            "--help",
            0,
            "ROCKET_PORT|DATABASE_URL|ROCKET_STATIC_DIR|curl",
        ),
        ("--version", 0, &version),
        ("--port=9000", 2, "--port"),
    ] {
        let output = command(folder.path(), &[]).arg(argument).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{argument}");
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(
            words.split('|').all(|word| text.contains(word)),
            "{argument}: {text}"
        );
    }
}
