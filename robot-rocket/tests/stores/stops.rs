//! SIGTERM ends the server in time and with success, whatever it and the database are at.

use std::{
    thread,
    time::{Duration, Instant},
};

use robot_core::conformance::{Call, Client};

use crate::{
    calls::draft,
    database::{Database, Kind},
    load::Load,
    process::Server,
};

/// How long it may take to stop: five seconds for the requests under way, and their threads.
const STOP_LIMIT: Duration = Duration::from_secs(10);

pub(crate) fn a_stop_under_load_is_a_stop(kind: Kind) {
    let database = Database::new(kind);
    let folder = tempfile::tempdir().unwrap();
    let start = || Server::start(folder.path(), &[("DATABASE_URL", &database.url)]);
    for _ in 0..3 {
        let server = start();
        let load = Load::start(&[&server]);
        load.is_served(&[0], Duration::from_secs(10));
        load.servers_may_end();
        stops(kind, server);
        let record = load.end();
        println!("{kind:?}: {record}");
        record.is_true_of(&start());
    }
}

fn stops(kind: Kind, server: Server) {
    let told = Instant::now();
    let (status, log) = server.stop("TERM");
    let took = told.elapsed();
    println!("{kind:?}: stopped in {took:?}");
    assert!(status.success(), "{status}: {log}");
    assert!(took < STOP_LIMIT, "stopped in {took:?}: {log}");
}

pub(crate) fn a_stop_while_the_database_is_frozen_is_a_stop(kind: Kind) {
    let database = Database::new(kind);
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[("DATABASE_URL", &database.url)]);
    database.signal("STOP");
    thread::scope(|scope| {
        for number in 0..30 {
            let client = server.client();
            let call = Call {
                method: "POST".to_owned(),
                target: "/api/robots".to_owned(),
                headers: Vec::new(),
                body: draft(&number.to_string()).into_bytes(),
            };
            // Whether an answer comes depends on how much time there is left.
            scope.spawn(move || drop(client.send(&call)));
        }
        thread::sleep(Duration::from_millis(300));
        stops(kind, server);
    });
}
