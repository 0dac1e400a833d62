//! Locks that another client of the database holds on a robot, or on the whole table.

use std::{thread, time::Duration};

use tempfile::TempDir;

use crate::{
    calls::draft,
    database_server::Kind,
    options::Run,
    process::{Server, wait_for},
    restarts::wait_until_available,
    workload::assert_unavailable,
};

/// How another client begins a transaction. By default it may only read.
const BEGIN: &str = "START TRANSACTION READ WRITE";

/// A server on an empty database with the robots `locked` (id 1) and `free` (id 2), and another
/// client of the database.
struct Fixture {
    server: Server,
    other: Box<dyn FnMut(&str)>,
    _folder: TempDir,
}

impl Fixture {
    fn new(kind: Kind) -> Self {
        let url = kind.shared_database();
        let folder = tempfile::tempdir().unwrap();
        let settings = [
            ("DATABASE_URL", url.as_str()),
            ("ROCKET_DATABASE_CONNECTIONS", "8"),
        ];
        let server = Server::start(folder.path(), &settings);
        assert_status(&server, "POST", "/api/robots", &draft("locked"), 201);
        assert_status(&server, "POST", "/api/robots", &draft("free"), 201);
        Self {
            server,
            other: kind.connect(&url),
            _folder: folder,
        }
    }

    /// Asserts that no rejected write was stored.
    fn assert_unchanged(&self) {
        let target = "/api/robots/1?fields=name,year";
        let robot = self.server.get(target);
        let unchanged = r#"{"status":"FOUND","data":{"name":"locked","year":1977}}"#;
        assert_eq!(robot.text(), unchanged);
        assert!(!self.server.names().contains(&"pending".to_owned()));
    }
}

#[track_caller]
fn assert_status(server: &Server, method: &str, target: &str, body: &str, status: u16) {
    let answer = server.call(method, target, body);
    let text = answer.text();
    assert_eq!(answer.status, status, "{method} {target} {body}: {text}");
}

/// Sends calls that need locks, each on a thread, and asserts that other calls do not wait. Each
/// locked call must return 503.
fn assert_locked(server: &Server, locked: &[(&str, &str, String)], others: impl FnOnce()) {
    thread::scope(|scope| {
        let waiting: Vec<_> = locked
            .iter()
            .map(|(method, target, body)| {
                scope.spawn(move || {
                    let answer = server.call(method, target, body);
                    assert_unavailable(&answer);
                })
            })
            .collect();
        // Time for those to reach the database.
        thread::sleep(Duration::from_millis(200));
        others();
        wait_for("every locked call is rejected", || {
            waiting.iter().all(thread::ScopedJoinHandle::is_finished)
        });
    });
}

/// Changes are numbered in the order of their commits, so that they wait for the transaction.
pub(crate) fn open_change_of_another_program_rejects_only_writes(_: &Run, kind: Kind) {
    let mut fixture = Fixture::new(kind);
    (fixture.other)(BEGIN);
    (fixture.other)("UPDATE robots SET year = 1 WHERE name = 'locked'");
    (fixture.other)("INSERT INTO robots (name, type, year) VALUES ('pending', 'droid', 1)");
    let locked = [
        ("PUT", "/api/robots/1", draft("renamed")),
        ("PUT", "/api/robots/1", draft("locked")),
        ("DELETE", "/api/robots/1", String::new()),
        ("POST", "/api/robots", draft("pending")),
        ("PUT", "/api/robots/2", draft("free too")),
        ("POST", "/api/robots", draft("other")),
    ];
    let server = &fixture.server;
    assert_locked(server, &locked, || assert_reads_succeed(server));
    (fixture.other)("ROLLBACK");
    fixture.assert_unchanged();
    let server = &fixture.server;
    assert_status(server, "POST", "/api/robots", &draft("pending"), 201);
    assert_status(server, "PUT", "/api/robots/1", &draft("renamed"), 200);
}

/// The lock is held for as long as this runs, so that no call that succeeds has waited for it.
fn assert_reads_succeed(server: &Server) {
    for _ in 0..10 {
        for target in ["/api/robots/1", "/api/robots", "/api/robots/search/lock"] {
            assert_status(server, "GET", target, "", 200);
        }
    }
}

/// There are more writes than connections.
pub(crate) fn writes_to_a_locked_robot_do_not_block_reads(_: &Run, kind: Kind) {
    let mut fixture = Fixture::new(kind);
    (fixture.other)(BEGIN);
    (fixture.other)("UPDATE robots SET year = 1 WHERE name = 'locked'");
    let locked: Vec<_> = (0..40)
        .map(|number| ("PUT", "/api/robots/1", draft(&format!("renamed {number}"))))
        .collect();
    let server = &fixture.server;
    assert_locked(server, &locked, || assert_reads_succeed(server));
    (fixture.other)("ROLLBACK");
    fixture.assert_unchanged();
}

pub(crate) fn locked_table_rejects_every_call(_: &Run, kind: Kind) {
    let mut fixture = Fixture::new(kind);
    let before = fixture.server.names();
    (fixture.other)(match kind {
        Kind::Postgres => "BEGIN; LOCK TABLE robots IN ACCESS EXCLUSIVE MODE",
        Kind::Mariadb => "SET SESSION TRANSACTION READ WRITE; LOCK TABLES robots WRITE",
    });
    let locked: Vec<_> = (0..20)
        .flat_map(|number| {
            [
                ("POST", "/api/robots", draft(&number.to_string())),
                ("GET", "/api/robots", String::new()),
            ]
        })
        .collect();
    let Fixture { server, other, .. } = fixture;
    assert_locked(&server, &locked, || {});
    drop(other);
    wait_until_available(&server);
    assert_eq!(server.names(), before);
    assert_status(&server, "POST", "/api/robots", &draft("after"), 201);
}
