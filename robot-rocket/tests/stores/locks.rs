//! Another client of the database keeps robots locked, or the whole table.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{
    calls::{call, draft, names},
    database::{Database, Kind},
    process::{Server, wait_for},
    record::is_a_refusal,
};

/// How long a write may wait for a lock: two seconds, with some room for a busy machine.
const WRITE_LIMIT: Duration = Duration::from_millis(3200);

/// How long that may take which waits for no lock.
const AT_ONCE: Duration = Duration::from_secs(1);

/// What other clients of the database begin with. By default they may not write here.
const BEGIN: &str = "START TRANSACTION READ WRITE";

/// A call, and the status that is expected.
type Expected<'a> = (&'a str, &'a str, &'a str, u16);

pub(crate) fn writes_of_what_another_client_has_locked_are_refused_and_all_else_goes_on(
    kind: Kind,
) {
    let database = Database::new(kind);
    let (server, _folder) = server_with_robots(&database);
    let mut other = database.other_client();
    other(BEGIN);
    other("UPDATE robots SET year = 1 WHERE name = 'locked'");
    other("INSERT INTO robots (name, type, year) VALUES ('pending', 'droid', 1)");
    thread::scope(|scope| {
        for (method, target, name) in [
            ("PUT", "/api/robots/1", "renamed"),
            ("DELETE", "/api/robots/1", ""),
            ("POST", "/api/robots", "pending"),
        ] {
            let server = &server;
            scope.spawn(move || is_refused_in_time(server, method, target, &draft(name)));
        }
        // Those shall be waiting by now.
        thread::sleep(Duration::from_millis(200));
        for round in 0..10 {
            all_else_goes_on(&server, round);
        }
    });
    other("ROLLBACK");
    let seen = call(
        &server.client(),
        "GET",
        "/api/robots/1?fields=name,year",
        "",
    );
    let unchanged = r#"{"status":"FOUND","data":{"name":"locked","year":1977}}"#;
    assert_eq!(seen.text(), unchanged);
    assert!(!names(&server).contains(&"pending".to_owned()));
    for (method, target) in [("POST", "/api/robots"), ("PUT", "/api/robots/1")] {
        let body = draft(if method == "POST" {
            "pending"
        } else {
            "renamed"
        });
        let answer = call(&server.client(), method, target, &body);
        assert!(matches!(answer.status, 200 | 201), "{}", answer.text());
    }
}

/// A server, its folder, and robots: the first is to be locked.
fn server_with_robots(database: &Database) -> (Server, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        ("DATABASE_URL", database.url.as_str()),
        ("ROCKET_DATABASE_CONNECTIONS", "8"),
    ];
    let server = Server::start(folder.path(), &settings);
    for name in ["locked", "free"] {
        let added = call(&server.client(), "POST", "/api/robots", &draft(name));
        assert_eq!(added.status, 201, "{}", added.text());
    }
    (server, folder)
}

fn is_refused_in_time(server: &Server, method: &str, target: &str, body: &str) {
    let asked = Instant::now();
    let answer = call(&server.client(), method, target, body);
    let took = asked.elapsed();
    assert_eq!(answer.status, 503, "{method} {target}: {}", answer.text());
    is_a_refusal(&answer);
    assert!(took < WRITE_LIMIT, "{method} {target} took {took:?}");
}

fn all_else_goes_on(server: &Server, round: usize) {
    let (free, new) = (
        draft(&format!("free {round}")),
        draft(&format!("a {round}")),
    );
    let expected: [Expected<'_>; 6] = [
        ("GET", "/api/robots/1", "", 200),
        ("GET", "/api/robots", "", 200),
        ("GET", "/api/robots/search/lock", "", 200),
        ("PUT", "/api/robots/2", &free, 200),
        ("POST", "/api/robots", &new, 201),
        ("POST", "/api/robots", &free, 409),
    ];
    for (method, target, body, status) in expected {
        let asked = Instant::now();
        let answer = call(&server.client(), method, target, body);
        let took = asked.elapsed();
        let text = answer.text();
        assert_eq!(answer.status, status, "{method} {target} {body}: {text}");
        assert!(took < AT_ONCE, "{method} {target} {body} took {took:?}");
    }
}

pub(crate) fn many_writes_of_one_locked_robot_hold_up_nobody_else(kind: Kind) {
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
            scope.spawn(move || is_refused_in_time(server, "PUT", "/api/robots/1", &body));
        }
        thread::sleep(Duration::from_millis(200));
        for round in 0..10 {
            all_else_goes_on(&server, round);
        }
    });
    other("ROLLBACK");
    assert!(names(&server).contains(&"locked".to_owned()));
}

pub(crate) fn a_locked_table_refuses_all_and_hurts_nothing(kind: Kind) {
    let database = Database::new(kind);
    let (server, _folder) = server_with_robots(&database);
    let before = names(&server);
    let mut other = database.other_client();
    match kind {
        Kind::Postgres => other("BEGIN; LOCK TABLE robots IN ACCESS EXCLUSIVE MODE"),
        Kind::Mariadb => other("LOCK TABLES robots WRITE"),
    }
    thread::scope(|scope| {
        for number in 0..20 {
            let server = &server;
            let body = draft(&format!("{number}"));
            scope.spawn(move || is_refused_in_time(server, "POST", "/api/robots", &body));
            scope.spawn(move || is_refused_in_time(server, "GET", "/api/robots", ""));
        }
    });
    match kind {
        Kind::Postgres => other("ROLLBACK"),
        Kind::Mariadb => other("UNLOCK TABLES"),
    }
    wait_for("the service recovers", Duration::from_secs(5), || {
        call(&server.client(), "GET", "/api/robots", "").status == 200
    });
    assert_eq!(names(&server), before);
    let added = call(&server.client(), "POST", "/api/robots", &draft("after"));
    assert_eq!(added.status, 201, "{}", added.text());
}
