//! Two server processes share one database.

use std::thread;

use crate::{
    agreement,
    answers::{add, recovers, robots},
    calls::call,
    database::{Database, on_every_kind_of_server},
    process::Server,
};

#[test]
fn two_server_processes_on_one_database_agree() {
    on_every_kind_of_server(|kind| {
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
    });
}

#[test]
fn no_id_comes_twice_although_the_database_is_killed() {
    on_every_kind_of_server(|kind| {
        let database = Database::new(kind);
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path(), &[("DATABASE_URL", &database.url)]);
        let mut last = 0;
        for ending in ["KILL", "stop", "KILL", "stop"] {
            let id = add(&server, ending);
            assert!(id > last, "{id} comes after {last}");
            let target = format!("/api/robots/{id}");
            assert_eq!(call(&server.client(), "DELETE", &target, "").status, 200);
            last = id;
            database.end(ending);
            database.start();
            recovers(&server);
        }
    });
}
