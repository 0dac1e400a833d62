//! Another client of the database keeps robots locked, or the whole table.

use std::{
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{
    answers::{add, is_a_refusal, recovers},
    calls::{call, draft, names},
    database::{Database, Kind, on_every_kind_of_server},
    process::Server,
};

/// How long a write may wait for a lock: two seconds, with some room for a busy machine. In a
/// crowd it may have to wait for a connection before.
const LIMIT: Duration = Duration::from_millis(3200);
const LIMIT_IN_A_CROWD: Duration = Duration::from_millis(4800);

/// How long that may take which waits for no lock.
const AT_ONCE: Duration = Duration::from_secs(1);

/// What another client of the database begins with. By default it may not write here.
const BEGIN: &str = "START TRANSACTION READ WRITE";

#[test]
fn writes_of_what_another_client_has_locked_are_refused_and_all_else_goes_on() {
    on_every_kind_of_server(|kind| {
        let database = Database::new(kind);
        let (server, _folder) = server_with_robots(&database);
        let mut other = database.other_client();
        other(BEGIN);
        other("UPDATE robots SET year = 1 WHERE name = 'locked'");
        other("INSERT INTO robots (name, type, year) VALUES ('pending', 'droid', 1)");
        thread::scope(|scope| {
            for (method, target, name) in [
                ("PUT", "/api/robots/1", "renamed"),
                ("PUT", "/api/robots/1", "locked"),
                ("DELETE", "/api/robots/1", ""),
                ("POST", "/api/robots", "pending"),
            ] {
                let server = &server;
                scope.spawn(move || is_refused(server, method, target, &draft(name), LIMIT));
            }
            // Those shall be waiting by now.
            thread::sleep(Duration::from_millis(200));
            reads_go_on(&server);
            writes_of_others_go_on(&server);
        });
        other("ROLLBACK");
        is_as_before(&server);
        add(&server, "pending");
        let answer = call(&server.client(), "PUT", "/api/robots/1", &draft("renamed"));
        assert_eq!(answer.status, 200, "{}", answer.text());
    });
}

/// A server, its folder, and robots: the first is to be locked.
fn server_with_robots(database: &Database) -> (Server, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        ("DATABASE_URL", database.url.as_str()),
        ("ROCKET_DATABASE_CONNECTIONS", "8"),
    ];
    let server = Server::start(folder.path(), &settings);
    assert_eq!(add(&server, "locked"), 1);
    assert_eq!(add(&server, "free"), 2);
    (server, folder)
}

fn is_refused(server: &Server, method: &str, target: &str, body: &str, limit: Duration) {
    let asked = Instant::now();
    let answer = call(&server.client(), method, target, body);
    let took = asked.elapsed();
    let text = answer.text();
    assert_eq!(answer.status, 503, "{method} {target}: {took:?}, {text}");
    is_a_refusal(&answer);
    assert!(took < limit, "{method} {target} took {took:?}");
}

fn reads_go_on(server: &Server) {
    for _ in 0..10 {
        for target in ["/api/robots/1", "/api/robots", "/api/robots/search/lock"] {
            is_done_at_once(server, "GET", target, "", 200);
        }
    }
}

fn writes_of_others_go_on(server: &Server) {
    for round in 0..5 {
        let name = draft(&format!("free {round}"));
        is_done_at_once(server, "PUT", "/api/robots/2", &name, 200);
        is_done_at_once(server, "POST", "/api/robots", &name, 409);
        let name = draft(&format!("a {round}"));
        is_done_at_once(server, "POST", "/api/robots", &name, 201);
    }
}

fn is_done_at_once(server: &Server, method: &str, target: &str, body: &str, status: u16) {
    let asked = Instant::now();
    let answer = call(&server.client(), method, target, body);
    let took = asked.elapsed();
    let text = answer.text();
    assert_eq!(answer.status, status, "{method} {target} {body}: {text}");
    assert!(took < AT_ONCE, "{method} {target} {body} took {took:?}");
}

/// Nothing that was refused was stored.
fn is_as_before(server: &Server) {
    let target = "/api/robots/1?fields=name,year";
    let seen = call(&server.client(), "GET", target, "");
    let unchanged = r#"{"status":"FOUND","data":{"name":"locked","year":1977}}"#;
    assert_eq!(seen.text(), unchanged);
    assert!(!names(server).contains(&"pending".to_owned()));
}

#[test]
fn many_writes_of_one_locked_robot_hold_up_no_read() {
    on_every_kind_of_server(|kind| {
        let database = Database::new(kind);
        let (server, _folder) = server_with_robots(&database);
        let mut other = database.other_client();
        other(BEGIN);
        other("UPDATE robots SET year = 1 WHERE name = 'locked'");
        thread::scope(|scope| {
            // More of them than there are connections.
            for number in 0..40 {
                let server = &server;
                let body = draft(&format!("renamed {number}"));
                scope.spawn(move || {
                    is_refused(server, "PUT", "/api/robots/1", &body, LIMIT_IN_A_CROWD);
                });
            }
            thread::sleep(Duration::from_millis(200));
            reads_go_on(&server);
        });
        other("ROLLBACK");
        is_as_before(&server);
    });
}

#[test]
fn a_locked_table_refuses_all_and_hurts_nothing() {
    on_every_kind_of_server(|kind| {
        let database = Database::new(kind);
        let (server, _folder) = server_with_robots(&database);
        let before = names(&server);
        let mut other = database.other_client();
        match kind {
            Kind::Postgres => other("BEGIN; LOCK TABLE robots IN ACCESS EXCLUSIVE MODE"),
            Kind::Mariadb => other("SET SESSION TRANSACTION READ WRITE; LOCK TABLES robots WRITE"),
        }
        thread::scope(|scope| {
            for number in 0..20 {
                let server = &server;
                let body = draft(&format!("{number}"));
                scope.spawn(move || {
                    is_refused(server, "POST", "/api/robots", &body, LIMIT_IN_A_CROWD);
                });
                scope.spawn(move || is_refused(server, "GET", "/api/robots", "", LIMIT));
            }
        });
        drop(other);
        recovers(&server);
        assert_eq!(names(&server), before);
        add(&server, "after");
    });
}
