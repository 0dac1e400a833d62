//! The database server hangs: it takes connections, and says nothing.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use crate::{
    answers::{Told, is_a_refusal, recovers},
    calls::{call, draft},
    database::{Database, on_every_kind_of_server},
    process::{Server, wait_for},
    record::{Fate, Record},
};

/// How many ask at a time.
const CROWD: usize = 100;

/// How many connections the server may have.
const CONNECTIONS: usize = 8;

/// How long a read and a write may be left without an answer.
const READ_LIMIT: Duration = Duration::from_millis(3500);
const WRITE_LIMIT: Duration = Duration::from_millis(4500);

/// How long that may take which needs no database.
const AT_ONCE: Duration = Duration::from_secs(1);

#[test]
fn a_database_that_is_frozen_answers_nobody_and_stalls_nobody() {
    on_every_kind_of_server(|kind| {
        let database = Database::new(kind);
        let folder = tempfile::tempdir().unwrap();
        let server = start(folder.path(), &database);
        let mut record = crowd(&server, "before");
        assert!(record.is_all_done(), "{record}");
        database.freeze();
        // At first there are connections that hang, and then none.
        for round in ["first", "second"] {
            let crowd = crowd_and_others(&server, round);
            println!("{kind:?}: {crowd}");
            assert!(crowd.is_none_done(), "{crowd}");
            record = record.and(crowd);
        }
        database.signal("CONT");
        let took = recovers(&server);
        println!("{kind:?}: served {took:?} after the database went on");
        let took = takes_writes(&server);
        println!("{kind:?}: and writes {took:?} later");
        let after = crowd(&server, "after");
        assert!(after.is_all_done(), "{after}");
        record.and(after).is_true_of(&server);
    });
}

fn start(folder: &Path, database: &Database) -> Server {
    fs::create_dir(folder.join("files")).unwrap();
    fs::write(folder.join("files/style.css"), "p {}").unwrap();
    let settings = [
        ("DATABASE_URL", database.url.as_str()),
        ("ROCKET_STATIC_DIR", "files"),
        ("ROCKET_DATABASE_CONNECTIONS", &CONNECTIONS.to_string()),
    ];
    Server::start(folder, &settings)
}

/// Many clients at once, of which every other one writes.
fn crowd(server: &Server, name: &str) -> Record {
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CROWD)
            .map(|number| scope.spawn(move || ask(server, &format!("{name} {number}"), number)))
            .collect();
        let records = clients.into_iter().map(|client| client.join().unwrap());
        records.fold(Record::default(), Record::and)
    })
}

fn ask(server: &Server, name: &str, number: usize) -> Record {
    let (method, target, limit) = match number % 4 {
        0 | 2 => ("POST", "/api/robots", WRITE_LIMIT),
        1 => ("GET", "/api/robots/1", READ_LIMIT),
        _ => ("GET", "/api/robots?limit=3", READ_LIMIT),
    };
    let asked = Instant::now();
    let answer = call(&server.client(), method, target, &draft(name));
    let took = asked.elapsed();
    assert!(took < limit, "{method} took {took:?}: {}", answer.text());
    let told = Told::by(&answer, method, target);
    let mut record = Record::default();
    record.count(told);
    if method == "POST" {
        let mut fate = Fate::default();
        fate.is_told(told, Some(name));
        record.fates.push(fate);
    } else {
        assert_ne!(told, Told::Unknown, "{target} has an outcome");
    }
    record
}

/// Waits until a write is taken; how long that took. Until those have ended that hung, there may
/// be reads alone.
fn takes_writes(server: &Server) -> Duration {
    let mut times = 0;
    wait_for("writes are taken", Duration::from_secs(5), || {
        times += 1;
        let name = draft(&format!("thawed {times}"));
        let answer = call(&server.client(), "POST", "/api/robots", &name);
        Told::by(&answer, "POST", "/api/robots") == Told::Done
    })
}

/// A crowd. All the while, what needs no database is answered at once, and threads are few.
fn crowd_and_others(server: &Server, name: &str) -> Record {
    thread::scope(|scope| {
        let crowd = scope.spawn(|| crowd(server, name));
        let mut times = 0;
        while !crowd.is_finished() {
            what_needs_no_database_is_quick(server);
            threads_are_few(server);
            times += 1;
            thread::sleep(Duration::from_millis(50));
        }
        assert!(times > 5, "others asked only {times} times");
        crowd.join().unwrap()
    })
}

fn what_needs_no_database_is_quick(server: &Server) {
    for (method, target, body, status) in [
        ("GET", "/style.css", "", 200),
        ("GET", "/nowhere", "", 404),
        ("PATCH", "/api/robots", "", 405),
        ("POST", "/api/robots", "no JSON", 400),
    ] {
        let asked = Instant::now();
        let answer = call(&server.client(), method, target, body);
        let took = asked.elapsed();
        assert_eq!(answer.status, status, "{method} {target}");
        assert!(took < AT_ONCE, "{method} {target} took {took:?}");
    }
}

/// There are one or two threads for each request, and for each connection, and some more of the
/// libraries.
fn threads_are_few(server: &Server) {
    let tasks = fs::read_dir(format!("/proc/{}/task", server.id())).unwrap();
    let mut threads = BTreeMap::new();
    for task in tasks {
        // It may have ended.
        if let Ok(name) = fs::read_to_string(task.unwrap().path().join("comm")) {
            *threads.entry(name).or_insert(0) += 1;
        }
    }
    let sessions = threads.get("robot-session\n").copied().unwrap_or_default();
    // The pool connects on three threads, which may pass the limit together.
    assert!(sessions <= 2 * CONNECTIONS + 2, "{threads:?}");
    let all: usize = threads.values().sum();
    assert!(all <= 2 * (CROWD + CONNECTIONS) + 20, "{threads:?}");
}

#[test]
fn a_server_that_starts_while_the_database_is_frozen_becomes_ready_when_it_goes_on() {
    on_every_kind_of_server(|kind| {
        let database = Database::new(kind);
        database.freeze();
        let folder = tempfile::tempdir().unwrap();
        let started = Instant::now();
        let server = start(folder.path(), &database);
        let greeted = started.elapsed();
        println!("{kind:?}: greeted in {greeted:?}");
        assert!(greeted < Duration::from_secs(12), "greeted in {greeted:?}");
        let asked = Instant::now();
        is_a_refusal(&call(&server.client(), "GET", "/api/robots", ""));
        let took = asked.elapsed();
        assert!(took < READ_LIMIT, "a read took {took:?}");
        database.signal("CONT");
        let took = recovers(&server);
        println!("{kind:?}: served {took:?} after the database went on");
        takes_writes(&server);
        assert!(crowd(&server, "after").is_all_done());
    });
}
