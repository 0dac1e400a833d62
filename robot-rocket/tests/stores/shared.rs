//! Two server processes share one database.

use std::thread;

use crate::{
    agreement,
    calls::{call, draft},
    database::{Database, Kind},
    process::{Server, wait_for},
    record::robots,
};

pub(crate) fn two_server_processes_on_one_database_agree(kind: Kind) {
    let database = Database::new(kind);
    let folder = tempfile::tempdir().unwrap();
    let start = || Server::start(folder.path(), &[("DATABASE_URL", &database.url)]);
    // Both find that there are no tables.
    let (one, other) = thread::scope(|scope| {
        let one = scope.spawn(start);
        (start(), one.join().unwrap())
    });
    agreement::prevails(&[&one, &other], 60);
    for server in [one, other] {
        assert!(robots(&server).is_empty());
        let (status, log) = server.stop("TERM");
        assert!(status.success(), "{status}");
        assert_eq!(log, "");
    }
}

pub(crate) fn no_id_comes_twice_although_the_database_is_killed(kind: Kind) {
    let database = Database::new(kind);
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[("DATABASE_URL", &database.url)]);
    let mut last = 0;
    for round in 0..4 {
        let id = add(&server, &format!("{round}"));
        assert!(id > last, "{id} comes after {last}");
        let target = format!("/api/robots/{id}");
        assert_eq!(call(&server.client(), "DELETE", &target, "").status, 200);
        last = id;
        if round % 2 == 0 {
            database.signal("KILL");
        } else {
            database.stop();
        }
        database.start();
        wait_for(
            "the service recovers",
            std::time::Duration::from_secs(10),
            || call(&server.client(), "GET", "/api/robots", "").status == 200,
        );
    }
}

fn add(server: &Server, name: &str) -> u64 {
    let answer = call(&server.client(), "POST", "/api/robots", &draft(name));
    assert_eq!(answer.status, 201, "{}", answer.text());
    let answer: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    answer["data"]["id"].as_str().unwrap().parse().unwrap()
}
