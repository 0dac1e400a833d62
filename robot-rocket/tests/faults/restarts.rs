//! Database server that starts later than the robot server, and restarts while clients are idle.

use std::{
    thread,
    time::{Duration, Instant},
};

use robot_core::conformance::Answer;

use crate::{
    calls::draft,
    database_server::{DatabaseServer, Kind},
    options::Run,
    process::{Server, wait_for},
    workload::{Outcome, assert_unavailable, send},
};

/// A generous limit for an answer without a database, which takes about 2 s.
const ANSWER_LIMIT: Duration = Duration::from_secs(8);

pub(crate) fn server_starts_before_its_database(run: &Run, kind: Kind) {
    run.repeat(1, |_| {
        let database = DatabaseServer::new(kind);
        database.stop();
        let server = Server::sqlite(&[("DATABASE_URL", &database.url)]);
        assert_every_call_is_unavailable(&server);
        database.start();
        let took = wait_until_available(&server);
        println!("{kind:?}: available {took:?} after the database");
        assert_eq!(id_of(&add(&server, "first")), 1);
        let (status, log) = server.stop("TERM");
        assert!(status.success(), "{status}");
        let redacted = database.url.replace("robots:robots@", "");
        let outage = format!("cannot reach the database {redacted}: ");
        assert!(log.contains(&outage), "{outage} is not in: {log}");
        assert!(log.contains("is available again"), "{log}");
    });
}

/// Waits until a list succeeds; how long that took.
pub(crate) fn wait_until_available(server: &Server) -> Duration {
    wait_for("the database is available", || {
        send(&server.client(), "GET", "/api/robots?limit=1", "").outcome == Outcome::Done
    })
}

fn assert_every_call_is_unavailable(server: &Server) {
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
                let sent = Instant::now();
                assert_unavailable(&server.call(method, target, &draft("early")));
                let took = sent.elapsed();
                assert!(took < ANSWER_LIMIT, "{method} {target}: {took:?}");
            });
        }
    });
}

fn add(server: &Server, name: &str) -> Answer {
    let answer = server.add(name);
    assert_eq!(answer.status, 201, "{name}: {}", answer.text());
    answer
}

fn id_of(answer: &Answer) -> u64 {
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    body["data"]["id"].as_str().unwrap().parse().unwrap()
}

/// Idle clients don't notice a restart. No id is assigned again, even if the newest robot was
/// deleted before.
pub(crate) fn restart_while_idle_is_not_noticed(run: &Run, kind: Kind) {
    run.repeat(1, |_| {
        let database = DatabaseServer::new(kind);
        let server = Server::sqlite(&[("DATABASE_URL", &database.url)]);
        let mut last = 0;
        for (end, name) in [
            (DatabaseServer::stop as fn(&DatabaseServer), "stop"),
            (DatabaseServer::kill, "kill"),
        ] {
            last = add_many(&server, &format!("before a {name}"), last);
            let newest = format!("/api/robots/{last}");
            assert_eq!(server.call("DELETE", &newest, "").status, 200);
            end(&database);
            database.start();
            // A connection that was used within the last second is not validated.
            thread::sleep(Duration::from_millis(1100));
            last = add_many(&server, &format!("after a {name}"), last);
        }
        let (_, log) = server.stop("TERM");
        // The server reads the definition meanwhile, and may find the database away.
        let is_of_outage =
            |line: &str| line.contains("cannot reach the") || line.contains("is available again");
        assert!(log.lines().all(is_of_outage), "{log}");
    });
}

/// Adds more robots at a time than there are connections. All ids must be greater than `last`;
/// returns the greatest.
fn add_many(server: &Server, name: &str, last: u64) -> u64 {
    let ids: Vec<_> = thread::scope(|scope| {
        let adding: Vec<_> = (0..16)
            .map(|number| scope.spawn(move || id_of(&add(server, &format!("{name} {number}")))))
            .collect();
        adding.into_iter().map(|id| id.join().unwrap()).collect()
    });
    assert!(ids.iter().all(|id| *id > last), "{ids:?}, {last}");
    ids.into_iter().max().unwrap()
}
