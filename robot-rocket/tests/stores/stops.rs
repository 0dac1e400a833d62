//! SIGTERM ends the server in time and with success, whatever it and the database are at.

use std::{
    thread::{self, Scope},
    time::{Duration, Instant},
};

use robot_core::conformance::{Call, Client};

use crate::{
    calls::draft,
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
        for _ in 0..3 {
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
        let start = || Server::start(folder.path(), &[("DATABASE_URL", &database.url)]);
        // Several at a time, so that each goes at another pace, with the tables all there.
        stops(kind, start());
        for round in 0..4 {
            thread::scope(|scope| {
                for _ in 0..6 {
                    let server = start();
                    ask(scope, &server, 12);
                    scope.spawn(move || {
                        thread::sleep(Duration::from_millis(10 * round));
                        stops(kind, server);
                    });
                }
            });
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
        database.signal("STOP");
        thread::scope(|scope| {
            ask(scope, &server, 30);
            thread::sleep(Duration::from_millis(300));
            stops(kind, server);
        });
    });
}
