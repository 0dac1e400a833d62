//! Database server that hangs: it accepts connections and never answers.

use std::{
    fs,
    net::SocketAddr,
    path::Path,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use crate::{
    calls::draft,
    database_server::{DatabaseServer, Kind},
    options::Run,
    process::{Server, wait_for},
    restarts::wait_until_available,
    scrape::{Scrape, free_address},
    workload::{Ledger, Outcome, Robot, added_id, assert_unavailable, send},
};

/// The number of concurrent calls.
const CALLS: usize = 100;

/// The number of connections that the server may have.
const CONNECTIONS: usize = 8;

/// Limits, twice and more what an idle machine takes: about 2 s for a read, 3 s for a write.
const READ_LIMIT: Duration = Duration::from_secs(8);
const WRITE_LIMIT: Duration = Duration::from_secs(8);

/// The requests of the table "Time limits" in `operations/cluster.md`, with a number in place of each `#`. Those with other
/// limits than reads and writes are checked by [`assert_health_without_database`].
const REQUESTS: [(&str, &str, &str); 8] = [
    ("GET", "/v1/robots/1", ""),
    ("POST", "/v1/robots", ROBOT),
    ("GET", "/v1/robots?limit=3", ""),
    ("GET", "/v1/robots?limit=3&sort=-year&count=true", ""),
    ("GET", "/v1/robots?limit=3&q=robot", ""),
    ("GET", "/v1/robots/summary", ""),
    ("POST", "/v1/robots/import?format=ndjson&atomic=true", ROBOT),
    (
        "PUT",
        "/v1/definition",
        r##"{"title":"#","properties":{"n":{"type":"integer"}}}"##,
    ),
];

const ROBOT: &str = r#"{"name":"robot #","type":"droid","year":1977}"#;

/// The time of a slow statement: longer than requests wait for a server that hangs.
const SLOW: Duration = Duration::from_secs(6);

/// Three times what a check of the health may take.
const HEALTH_LIMIT: Duration = Duration::from_secs(3);

pub(crate) fn frozen_database_blocks_no_other_requests(run: &Run, kind: Kind) {
    run.repeat(1, |_| {
        let database = DatabaseServer::new(kind);
        let folder = tempfile::tempdir().unwrap();
        let metrics = free_address();
        let server = start(folder.path(), &database, metrics);
        let ledger = Mutex::default();
        assert_eq!(crowd(&server, &ledger), CALLS);
        assert_batches_are_counted(metrics);
        database.freeze();
        // The first crowd finds connections that hang, the second finds none.
        for _ in 0..2 {
            assert_eq!(crowd_and_others(&server, &ledger, metrics), 0);
        }
        assert_outage_is_counted(metrics);
        database.resume();
        let took = wait_until_available(&server);
        println!("{kind:?}: available {took:?} after the freeze");
        wait_until_writable(&server, &ledger);
        assert_eq!(server.get("/readyz").status, 200);
        assert_eq!(Scrape::of(metrics).value("robots_ready"), 1);
        assert_eq!(crowd(&server, &ledger), CALLS);
        let mut ledger = ledger.into_inner().unwrap();
        println!("{kind:?}: {ledger}");
        ledger.assert_consistent_with(&server);
    });
}

fn start(folder: &Path, database: &DatabaseServer, metrics: SocketAddr) -> Server {
    fs::create_dir_all(folder.join("files")).unwrap();
    fs::write(folder.join("files/style.css"), "p {}").unwrap();
    let settings = [
        ("DATABASE_URL", database.url.as_str()),
        ("ROCKET_STATIC_DIR", "files"),
        ("ROCKET_DATABASE_CONNECTIONS", &CONNECTIONS.to_string()),
        ("ROCKET_METRICS_ADDRESS", &metrics.to_string()),
    ];
    Server::start(folder, &settings)
}

/// Makes many calls at the same time, half of them writes. Returns how many are done.
fn crowd(server: &Server, ledger: &Mutex<Ledger>) -> usize {
    thread::scope(|scope| {
        let call = |number: usize| match number % 4 {
            0 | 2 => add(server, ledger),
            1 => read(server, "/api/robots/1"),
            _ => read(server, "/api/robots?limit=3"),
        };
        let calls: Vec<_> = (0..CALLS)
            .map(|number| scope.spawn(move || call(number)))
            .collect();
        let outcomes = calls.into_iter().map(|call| call.join().unwrap());
        outcomes.filter(|outcome| *outcome == Outcome::Done).count()
    })
}

fn add(server: &Server, ledger: &Mutex<Ledger>) -> Outcome {
    let year = ledger.lock().unwrap().unused_year();
    let robot = Robot {
        name: format!("robot {year}"),
        kind: "droid".to_owned(),
        year,
    };
    let called = send(&server.client(), "POST", "/api/robots", &robot.body());
    let took = called.interval.end - called.interval.start;
    assert!(took < WRITE_LIMIT, "a write took {took:?}");
    assert_ne!(called.outcome, Outcome::Failed);
    let answer = called.answer.as_ref();
    let id = answer.map(|answer| added_id(&answer.body, &robot));
    let write = called.write(Some(robot));
    ledger.lock().unwrap().record_addition(id, write);
    called.outcome
}

fn read(server: &Server, target: &str) -> Outcome {
    let called = send(&server.client(), "GET", target, "");
    let took = called.interval.end - called.interval.start;
    assert!(took < READ_LIMIT, "a read took {took:?}");
    let expected = [Outcome::Done, Outcome::Unavailable];
    assert!(expected.contains(&called.outcome), "{:?}", called.outcome);
    called.outcome
}

/// Waits until a write succeeds: earlier ones that hung may hold locks for a while.
fn wait_until_writable(server: &Server, ledger: &Mutex<Ledger>) {
    wait_for("a write succeeds", || add(server, ledger) == Outcome::Done);
}

/// A crowd, during which requests that need no database are answered.
fn crowd_and_others(server: &Server, ledger: &Mutex<Ledger>, metrics: SocketAddr) -> usize {
    thread::scope(|scope| {
        let crowd = scope.spawn(|| crowd(server, ledger));
        scope.spawn(|| assert_health_without_database(server, metrics));
        let mut answered_meanwhile = 0;
        while !crowd.is_finished() {
            assert_served_without_database(server);
            // Calls that were answered before the crowd was did not wait for the database.
            answered_meanwhile += usize::from(!crowd.is_finished());
            thread::sleep(Duration::from_millis(50));
        }
        assert!(answered_meanwhile > 3, "{answered_meanwhile}");
        crowd.join().unwrap()
    })
}

/// Each kind of call is executed in batches, on connections that are open.
fn assert_batches_are_counted(metrics: SocketAddr) {
    let scrape = Scrape::of(metrics);
    for queue in ["changes", "lookups", "tasks"] {
        let items = scrape.value(&format!("robots_store_batch_size_sum{{queue=\"{queue}\"}}"));
        assert!(items >= CALLS as u64 / 4, "{queue}: {items}");
    }
    for sample in [
        "robots_store_connections",
        "robots_store_connects_total{result=\"connected\"}",
        "robots_store_commits_total{result=\"committed\"}",
    ] {
        assert!(scrape.value(sample) > 0, "{sample}");
    }
}

fn assert_outage_is_counted(metrics: SocketAddr) {
    wait_for("the server is not ready", || {
        Scrape::of(metrics).value("robots_ready") == 0
    });
    let scrape = Scrape::of(metrics);
    for sample in [
        "robots_store_queue_rejected_total{queue=\"lookups\",reason=\"timeout\"}",
        "robots_store_errors_total{error=\"unavailable\"}",
    ] {
        assert!(scrape.value(sample) > 0, "{sample}");
    }
}

/// The checks of several clients are answered meanwhile, and metrics.
fn assert_health_without_database(server: &Server, metrics: SocketAddr) {
    let asked = Instant::now();
    thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| {
                assert_eq!(server.get("/livez").status, 200);
                let ready = server.get("/readyz");
                let text = ready.text();
                assert!(
                    ready.status == 503 && text.starts_with("the database "),
                    "{text}"
                );
            });
        }
    });
    assert!(Scrape::of(metrics).value("process_threads") > 0);
    assert!(asked.elapsed() < HEALTH_LIMIT, "{:?}", asked.elapsed());
}

fn assert_served_without_database(server: &Server) {
    for (method, target, body, status) in [
        ("GET", "/style.css", "", 200),
        ("GET", "/nowhere", "", 404),
        ("PATCH", "/api/robots", "", 405),
        ("POST", "/api/robots", "no JSON", 400),
    ] {
        let answer = server.call(method, target, body);
        assert_eq!(answer.status, status, "{method} {target}");
    }
}

/// One server is stopped while its database is frozen, another one is started.
pub(crate) fn server_starts_and_stops_while_database_is_frozen(run: &Run, kind: Kind) {
    run.repeat(1, |_| {
        let database = DatabaseServer::new(kind);
        let folder = tempfile::tempdir().unwrap();
        let old = start(folder.path(), &database, free_address());
        database.freeze();
        stop_with_requests_in_progress(old);
        let server = start(folder.path(), &database, free_address());
        let asked = Instant::now();
        assert_unavailable(&server.get("/api/robots"));
        assert!(asked.elapsed() < READ_LIMIT, "{:?}", asked.elapsed());
        database.resume();
        let took = wait_until_available(&server);
        println!("{kind:?}: available {took:?} after the freeze");
        let ledger = Mutex::default();
        wait_until_writable(&server, &ledger);
        assert_eq!(crowd(&server, &ledger), CALLS);
    });
}

fn stop_with_requests_in_progress(server: Server) {
    thread::scope(|scope| {
        for number in 0..30 {
            let client = server.client();
            // There may be no answer: that depends on how much time is left.
            scope.spawn(move || {
                send(&client, "POST", "/api/robots", &draft(&number.to_string())).outcome
            });
        }
        thread::sleep(Duration::from_millis(300));
        let (status, log) = server.stop("TERM");
        assert!(status.success(), "{status}: {log}");
    });
}

/// Each request finds a connection that hangs.
pub(crate) fn each_request_ends_within_its_time_limit(run: &Run, kind: Kind) {
    run.repeat(1, |_| {
        let database = DatabaseServer::new(kind);
        let folder = tempfile::tempdir().unwrap();
        let server = start(folder.path(), &database, free_address());
        let mut number = 0;
        let mut call = |(method, target, body): (&str, &str, &str)| {
            number += 1;
            let sent = Instant::now();
            let body = body.replace('#', &number.to_string());
            let answer = server.call(method, target, &body);
            (answer.status, sent.elapsed(), answer.text())
        };
        assert_eq!(call(("POST", "/v1/robots", ROBOT)).0, 201);
        for request in REQUESTS {
            let (status, _, text) = call(request);
            assert!(status < 300, "{request:?}: {text}");
            database.freeze();
            let (status, took, text) = call(request);
            database.resume();
            assert!(matches!(status, 500 | 503), "{request:?}: {text}");
            println!("{kind:?}: {request:?} got {status} after {took:?}");
            assert!(took < WRITE_LIMIT, "{request:?} took {took:?}");
            wait_until_available(&server);
            wait_for("a write succeeds", || {
                call(("POST", "/v1/robots", ROBOT)).0 == 201
            });
        }
        slow_down(&database);
        let (method, target, body) = REQUESTS[6];
        let (status, took, text) = call((method, target, &body.replace("robot", "slow")));
        assert_eq!(status, 200, "{text}");
        assert!(took >= SLOW, "{took:?}");
    });
}

/// Makes an insert of a robot whose name begins with "slow" take this time.
fn slow_down(database: &DatabaseServer) {
    let mut run = database.kind.connect(&database.url);
    let seconds = SLOW.as_secs();
    let trigger = "CREATE TRIGGER slow BEFORE INSERT ON robots FOR EACH ROW";
    run(match database.kind {
        Kind::Postgres => "SET default_transaction_read_only = off",
        Kind::Mariadb => "SET SESSION TRANSACTION READ WRITE",
    });
    run(&match database.kind {
        Kind::Postgres => format!(
            "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
                 'BEGIN PERFORM pg_sleep({seconds}); RETURN NEW; END';
             {trigger} WHEN (NEW.name LIKE 'slow%') EXECUTE FUNCTION slow()"
        ),
        Kind::Mariadb => format!("{trigger} DO IF(NEW.name LIKE 'slow%', SLEEP({seconds}), 0)"),
    });
}
