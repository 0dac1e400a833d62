//! The database is not there yet, stops, is killed, and comes back.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{
    calls::call,
    calls::draft,
    database::{Database, Kind},
    load::Load,
    process::{Server, wait_for},
    record::is_a_refusal,
};

/// How long the server may take to notice that the database is back.
const SOON: Duration = Duration::from_secs(8);

pub(crate) fn the_server_starts_before_the_database_does_and_becomes_ready_when_it_is(kind: Kind) {
    let database = Database::new(kind);
    database.stop();
    let folder = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let server = Server::start(folder.path(), &[("DATABASE_URL", &database.url)]);
    let greeted = started.elapsed();
    assert!(greeted < Duration::from_secs(5), "greeted in {greeted:?}");
    let client = server.client();
    for (method, target) in [
        ("GET", "/api/robots"),
        ("GET", "/api/robots/1"),
        ("POST", "/api/robots"),
        ("DELETE", "/api/robots/1"),
    ] {
        let asked = Instant::now();
        is_a_refusal(&call(&client, method, target, &draft("early")));
        let took = asked.elapsed();
        assert!(took < Duration::from_millis(2500), "{method}: {took:?}");
    }
    assert_eq!(call(&client, "GET", "/nowhere", "").status, 404);
    database.start();
    let is_ready = || call(&client, "GET", "/api/robots", "").status == 200;
    let took = wait_for("the server is ready", SOON, is_ready);
    println!("{kind:?}: ready {took:?} after the database");
    let added = call(&client, "POST", "/api/robots", &draft("first"));
    assert_eq!(added.status, 201, "{}", added.text());
    let (status, log) = server.stop("TERM");
    assert!(status.success(), "{status}");
    let outage = format!("cannot reach the database {}", without_user(&database));
    assert!(log.contains(&outage), "{log}");
    assert!(log.contains("can be reached again"), "{log}");
}

/// The URL as the log has it.
fn without_user(database: &Database) -> String {
    database.url.replace("robots:robots@", "")
}

pub(crate) fn connections_are_replaced_after_the_database_restarts(kind: Kind) {
    let database = Database::new(kind);
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[("DATABASE_URL", &database.url)]);
    let load = Load::start(&[&server]);
    load.is_served(&[0], SOON);
    for ending in ["stop", "KILL", "stop", "KILL"] {
        if ending == "stop" {
            database.stop();
        } else {
            database.signal(ending);
        }
        load.is_refused(&[0], Duration::from_secs(10));
        database.start();
        let took = load.is_served(&[0], SOON);
        println!("{kind:?}: all are served {took:?} after a {ending}");
        load.never_fails(&[0], 300, Duration::from_secs(20));
    }
    // Sooner than anybody can notice that it was away.
    database.signal("KILL");
    database.start();
    load.is_served(&[0], SOON);
    load.never_fails(&[0], 100, Duration::from_secs(20));
    let record = load.end();
    println!("{kind:?}: {record}");
    record.is_true_of(&server);
}

pub(crate) fn a_restart_while_nothing_is_asked_is_noticed_by_nobody(kind: Kind) {
    let database = Database::new(kind);
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[("DATABASE_URL", &database.url)]);
    for ending in ["TERM", "KILL"] {
        all_add(&server, &format!("before {ending}"));
        if ending == "KILL" {
            database.signal(ending);
        } else {
            database.stop();
        }
        database.start();
        // What was used within the last second is not looked at again.
        thread::sleep(Duration::from_millis(1100));
        all_add(&server, &format!("after {ending}"));
    }
    let (_, log) = server.stop("TERM");
    assert_eq!(log, "");
}

/// Adds more robots at a time than there are connections.
fn all_add(server: &Server, name: &str) {
    thread::scope(|scope| {
        for number in 0..16 {
            scope.spawn(move || {
                let robot = draft(&format!("{name} {number}"));
                let answer = call(&server.client(), "POST", "/api/robots", &robot);
                assert_eq!(answer.status, 201, "{}", answer.text());
            });
        }
    });
}
