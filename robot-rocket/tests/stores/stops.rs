//! SIGTERM ends the server in time and with success, whatever it and the database are at.

use std::{
    thread::{self, Scope},
    time::{Duration, Instant},
};

use robot_core::conformance::{Call, Client};

use crate::{
    calls::{call, draft},
    database::{Database, Kind, on_every_kind_of_server},
    load::Load,
    process::Server,
};

/// How long it may take to stop: five seconds for the requests under way, and their threads.
const STOP_LIMIT: Duration = Duration::from_secs(10);

#[test]
fn a_stop_under_load_is_a_stop() {
    on_every_kind_of_server(|kind| {
        let database = Database::new(kind);
        let folder = tempfile::tempdir().unwrap();
        let start = || Server::start(folder.path(), &[("DATABASE_URL", &database.url)]);
        for _ in 0..2 {
            let server = start();
            let load = Load::start(&[&server]);
            load.never_fails(&[0], 200, Duration::from_secs(10));
            load.servers_may_end();
            stops(kind, server);
            let record = load.end();
            println!("{kind:?}: {record}");
            record.is_true_of(&start());
        }
    });
}

fn stops(kind: Kind, server: Server) {
    let told = Instant::now();
    let (status, log) = server.stop("TERM");
    let took = told.elapsed();
    println!("{kind:?}: stopped in {took:?}");
    assert!(status.success(), "{status}: {log}");
    assert!(took < STOP_LIMIT, "stopped in {took:?}: {log}");
}

#[test]
fn a_stop_while_connections_are_made_is_a_stop() {
    on_every_kind_of_server(|kind| {
        let database = Database::new(kind);
        let folder = tempfile::tempdir().unwrap();
        let settings = [
            ("DATABASE_URL", database.url.as_str()),
            ("ROCKET_DATABASE_CONNECTIONS", "40"),
            ("ROCKET_SHUTDOWN", "{grace=0,mercy=0}"),
        ];
        for _ in 0..20 {
            let server = Server::start(folder.path(), &settings);
            thread::scope(|scope| {
                // Each wants a connection, and all are served by the first few.
                for _ in 0..40 {
                    scope.spawn(|| call(&server.client(), "GET", "/api/robots/1", ""));
                }
            });
            stops(kind, server);
        }
    });
}

/// Sends some writes at once. Whether answers come depends on how much time there is left.
fn ask<'scope>(scope: &'scope Scope<'scope, '_>, server: &Server, times: usize) {
    for number in 0..times {
        let client = server.client();
        let call = Call {
            method: "POST".to_owned(),
            target: "/api/robots".to_owned(),
            headers: Vec::new(),
            body: draft(&number.to_string()).into_bytes(),
        };
        scope.spawn(move || drop(client.send(&call)));
    }
}

#[test]
fn a_stop_while_the_database_is_frozen_is_a_stop() {
    on_every_kind_of_server(|kind| {
        let database = Database::new(kind);
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path(), &[("DATABASE_URL", &database.url)]);
        database.freeze();
        thread::scope(|scope| {
            ask(scope, &server, 30);
            thread::sleep(Duration::from_millis(300));
            stops(kind, server);
        });
    });
}
