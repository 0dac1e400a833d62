//! Starting, stopping, settings.

use std::{fs, net::TcpListener, process::Command};

use crate::{
    Server,
    process::{command, fail, output_of_failure},
};

#[test]
fn default_start_creates_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let address = server.address();
    assert_eq!(
        server.greeting,
        format!(
            "Robots at http://{address}/api/robots (store sqlite://robots.db, behaviour A; \
             anyone may read and write); for people at http://{address}/; Ctrl-C stops the server\n"
        )
    );
    assert!(address.ip().is_loopback());
    let added = server.add("R2-D2");
    assert_eq!(
        (added.status, added.text().as_str()),
        (
            201,
            r#"{"status":"OK","data":{"name":"R2-D2","type":"droid","year":1977,"id":"1"}}"#
        )
    );
    assert!(folder.path().join("robots.db").is_file());
}

#[test]
fn restart_finds_every_robot() {
    let folder = tempfile::tempdir().unwrap();
    for signal in ["TERM", "INT", "KILL"] {
        let server = Server::start(folder.path(), &[]);
        let added = server.add(signal);
        assert_eq!(added.status, 201);
        let (status, log) = server.stop(signal);
        assert_eq!(status.success(), signal != "KILL", "{signal}: {status}");
        assert_eq!(log, "", "{signal}");
    }
    assert_eq!(
        Server::start(folder.path(), &[]).names(),
        ["INT", "KILL", "TERM"]
    );
}

#[test]
fn settings_are_read_from_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(
        folder.path(),
        &[
            ("ROCKET_BEHAVIOUR", "B"),
            ("DATABASE_URL", "memory:"),
            ("ROCKET_ADDRESS", "::1"),
        ],
    );
    assert!(
        server.greeting.contains("http://[::1]:"),
        "{}",
        server.greeting
    );
    assert!(
        server.greeting.contains("(store memory:, behaviour B;"),
        "{}",
        server.greeting
    );
    let added = server.add("R2-D2");
    assert_eq!(added.status, 200);
    let refused = server.add("R2-D2");
    assert_eq!(refused.status, 500);
    assert!(!folder.path().join("robots.db").exists());
}

#[test]
fn environment_takes_precedence_over_the_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("Rocket.toml"),
        "[default]\nbehaviour = \"B\"\ndatabase_url = \"sqlite://from_file.db\"\n",
    )
    .unwrap();
    let server = Server::start(folder.path(), &[]);
    assert!(
        server
            .greeting
            .contains("(store sqlite://from_file.db, behaviour B;")
    );
    drop(server);
    let server = Server::start(
        folder.path(),
        &[
            ("ROCKET_BEHAVIOUR", "A"),
            ("DATABASE_URL", "sqlite://shared.db"),
        ],
    );
    assert!(
        server
            .greeting
            .contains("(store sqlite://shared.db, behaviour A;")
    );
    drop(server);
    let server = Server::start(
        folder.path(),
        &[
            ("DATABASE_URL", "sqlite://shared.db"),
            ("ROCKET_DATABASE_URL", "memory:"),
        ],
    );
    assert!(server.greeting.contains("(store memory:, behaviour B;"));
}

#[test]
fn port_in_use_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let port = address.port().to_string();
    let error = output_of_failure(&fail(folder.path(), &[("ROCKET_PORT", &port)]));
    assert!(
        error.contains(&format!("cannot listen on {address}")),
        "{error}"
    );
    assert!(error.contains("choose another ROCKET_PORT"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn help_is_printed_and_unknown_arguments_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let run = |argument: &str| -> (Option<i32>, String) {
        let mut command: Command = command(folder.path(), &[]);
        let output = command.arg(argument).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    let (status, help) = run("--help");
    assert_eq!(status, Some(0));
    for word in [
        "ROCKET_PORT",
        "DATABASE_URL",
        "ROCKET_BEHAVIOUR",
        "ROCKET_STATIC_DIR",
        "curl",
    ] {
        assert!(help.contains(word), "{word} is not in {help}");
    }
    let (status, version) = run("--version");
    assert_eq!(
        (status, version),
        (
            Some(0),
            format!("robot-rocket {}\n", env!("CARGO_PKG_VERSION"))
        )
    );
    let (status, error) = run("--port=9000");
    assert_eq!(status, Some(2));
    assert!(error.contains("--port"), "{error}");
}
