//! The database is not there yet, stops, is killed, and comes back.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{
    answers::{add, is_a_refusal, recovers},
    calls::{call, draft},
    database::{Database, on_every_kind_of_server},
    load::Load,
    process::Server,
};

/// How long the server may take to notice that the database is back.
const SOON: Duration = Duration::from_secs(8);

#[test]
fn the_server_starts_before_the_database_does_and_becomes_ready_when_it_is() {
    on_every_kind_of_server(|kind| {
        let database = Database::new(kind);
        database.stop();
        let folder = tempfile::tempdir().unwrap();
        let started = Instant::now();
        let server = Server::start(folder.path(), &[("DATABASE_URL", &database.url)]);
        let greeted = started.elapsed();
        assert!(greeted < Duration::from_secs(5), "greeted in {greeted:?}");
        everything_is_refused_soon(&server);
        database.start();
        let took = recovers(&server);
        println!("{kind:?}: ready {took:?} after the database");
        assert!(took < SOON, "ready {took:?} after the database");
        assert_eq!(add(&server, "first"), 1);
        let (status, log) = server.stop("TERM");
        assert!(status.success(), "{status}");
        let redacted = database.url.replace("robots:robots@", "");
        let outage = format!("cannot reach the database {redacted}: ");
        assert!(log.contains(&outage), "{outage} is not in: {log}");
        assert!(log.contains("can be reached again"), "{log}");
    });
}

fn everything_is_refused_soon(server: &Server) {
    thread::scope(|scope| {
        for (method, target) in [
            ("GET", "/api/robots"),
            ("GET", "/api/robots/1"),
            ("GET", "/api/robots/search/x"),
            ("POST", "/api/robots"),
            ("PUT", "/api/robots/1"),
            ("DELETE", "/api/robots/1"),
        ] {
            scope.spawn(move || {
                let asked = Instant::now();
                is_a_refusal(&call(&server.client(), method, target, &draft("early")));
                let took = asked.elapsed();
                assert!(took < Duration::from_millis(2500), "{method}: {took:?}");
            });
        }
    });
}

#[test]
fn connections_are_replaced_after_the_database_restarts() {
    on_every_kind_of_server(|kind| {
        let database = Database::new(kind);
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path(), &[("DATABASE_URL", &database.url)]);
        let load = Load::start(&[&server]);
        load.is_served(&[0], SOON);
        for ending in ["stop", "KILL"] {
            database.end(ending);
            load.is_refused(&[0], SOON);
            database.start();
            let took = load.is_served(&[0], SOON);
            println!("{kind:?}: all are served {took:?} after a {ending}");
            load.never_fails(&[0], 100, SOON);
        }
        for ending in ["stop", "KILL", "KILL"] {
            // At once: some find a connection that was good a moment ago.
            database.end(ending);
            database.start();
            load.is_served(&[0], SOON);
        }
        load.never_fails(&[0], 100, SOON);
        let record = load.end();
        println!("{kind:?}: {record}");
        record.is_true_of(&server);
    });
}

#[test]
fn a_restart_while_nothing_is_asked_is_noticed_by_nobody() {
    on_every_kind_of_server(|kind| {
        let database = Database::new(kind);
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path(), &[("DATABASE_URL", &database.url)]);
        for ending in ["stop", "KILL"] {
            all_add(&server, &format!("before {ending}"));
            database.end(ending);
            database.start();
            // What was used within the last second is not looked at again.
            thread::sleep(Duration::from_millis(1100));
            all_add(&server, &format!("after {ending}"));
        }
        let (_, log) = server.stop("TERM");
        assert_eq!(log, "");
    });
}

/// Adds more robots at a time than there are connections.
fn all_add(server: &Server, name: &str) {
    thread::scope(|scope| {
        for number in 0..16 {
            scope.spawn(move || add(server, &format!("{name} {number}")));
        }
    });
}
