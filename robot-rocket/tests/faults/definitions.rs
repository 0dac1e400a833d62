//! Kills of the server while it changes the definition. Each leaves the old definition or the new one, and its indexes
//! are complete after the next start. Values that were acknowledged meanwhile are stored, or a definition has dropped
//! them.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread::{self, ScopedJoinHandle},
    time::{Duration, Instant},
};

use fastrand::Rng;
use robot_core::conformance::{Client, TcpClient};
use serde_json::{Value, json};

#[cfg(all(feature = "postgres", feature = "mysql"))]
use crate::database_server::Kind;
use crate::{
    calls::request,
    options::Run,
    process::{Server, assert_status, wait_for},
    workload::{Interval, Outcome, send},
};

const TARGET: &str = "/api/definition";

/// Each change of the definition drops the values of `kind`.
const CHANGE: &str = "/api/definition?drop_values=true";

pub(crate) fn kill_leaves_a_complete_definition_on_sqlite(run: &Run) {
    kill_definitions(run, &[]);
}

#[cfg(all(feature = "postgres", feature = "mysql"))]
pub(crate) fn kill_leaves_a_complete_definition(run: &Run, kind: Kind) {
    kill_definitions(run, &[("DATABASE_URL", &kind.shared_database())]);
}

fn kill_definitions(run: &Run, settings: &[(&str, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path(), settings);
    let documents = [0, 1].map(|turn| {
        let answer = server.call("PUT", CHANGE, &definition(turn));
        assert_eq!(answer.status, 200, "{}", answer.text());
        server.get(TARGET).text()
    });
    let robots: Vec<_> = (0..2000).map(|robot| draft(robot, robot)).collect();
    let import = "/api/robots/import?format=json&atomic=true";
    let answer = server.call("POST", import, &format!("[{}]", robots.join(",")));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let begin = Instant::now();
    server.call("PUT", CHANGE, &definition(0));
    let (mut present, duration) = (0, begin.elapsed());
    run.repeat(8, |random| {
        let values = [r#"{"kind":7}"#, r#"{"kind":"7"}"#][present];
        let headers = "Host: localhost\r\nContent-Type: application/merge-patch+json\r\n";
        assert_status(
            &server.ask("PATCH /v1/robots?type=droid", headers, values),
            200,
        );
        let (client, next) = (server.client(), definition(1 - present));
        let change = thread::spawn(move || send(&client, "PUT", CHANGE, &next).outcome);
        thread::sleep(duration.mul_f64(2.0 * random.f64()));
        server.signal("KILL");
        let outcome = change.join().unwrap();
        server = Server::start(folder.path(), settings);
        let document = server.get(TARGET).text();
        let found = documents.iter().position(|one| *one == document);
        println!("{}: {present} became {found:?}, {outcome:?}", run.name);
        assert!(outcome != Outcome::Done || found == Some(1 - present));
        let kept = server.get("/v1/robots?kind=7&limit=1000").text();
        assert_eq!(kept.contains(r#""kind":"#), found == Some(present));
        present = found.unwrap();
        for number in 0..8 {
            let found = server.get(&format!("/api/robots?f{number}=7")).text();
            assert!(found.contains(r#""name":"7"}"#), "f{number}: {found}");
        }
        let taken = [0, 2, 4, 6].map(|even| format!("\"The f{} must be unique\"", even + present));
        let answer = server.call("POST", "/api/robots", &draft(2000, 7)).text();
        assert!(answer.contains(&taken.join(",")), "{answer}");
    });
}

/// Half of the fields are unique, and the others have an index, in turn. The type of `kind` changes.
fn definition(turn: usize) -> String {
    let keyword = |number| ["unique", "index"][(number + turn) % 2];
    let field = |number| {
        format!(
            r#""f{number}":{{"type":"integer","{}":true}}"#,
            keyword(number)
        )
    };
    let fields = [0, 1, 2, 3, 4, 5, 6, 7].map(field).join(",");
    let kind = ["number", "string"][turn];
    format!(r#"{{"properties":{{{fields},"kind":{{"type":"{kind}","index":true}}}}}}"#)
}

fn draft(name: usize, value: usize) -> String {
    let values = [0, 1, 2, 3, 4, 5, 6, 7].map(|number| format!(r#","f{number}":{value}"#));
    let values = values.concat();
    format!(r#"{{"name":"{name}","type":"droid","year":1977{values}}}"#)
}

/// The states of the field `n`: its type, if there is the field, and its other keywords.
const STATES: [(&str, &str); 9] = [
    ("", ""),
    ("integer", ""),
    ("integer", r#","index":true"#),
    ("integer", r#","unique":true"#),
    ("number", r#","index":true"#),
    ("string", r#","search":true"#),
    ("string", r#","index":true,"search":true"#),
    ("string", r#","unique":true"#),
    ("number", r#","unique":true"#),
];

/// How long something may take on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Values that a robot may have: the last acknowledged ones, and those of a change after it whose outcome is unknown.
struct Written {
    m: u64,
    n: Value,
    interval: Interval,
    is_certain: bool,
}

type Ledger = BTreeMap<u64, Vec<Written>>;

/// What the writers of a round share with the test.
#[derive(Default)]
struct Writers {
    next: AtomicU64,
    done: AtomicU64,
    unavailable: AtomicU64,
    is_over: AtomicBool,
    server_may_end: AtomicBool,
}

impl Writers {
    fn wait_for_changes(&self, count: u64, threads: &[ScopedJoinHandle<'_, ()>]) {
        let enough = self.done.load(Relaxed) + count;
        wait_for("acknowledged changes", TIMEOUT, || {
            let has_ended = threads.iter().any(ScopedJoinHandle::is_finished);
            let may_end = self.server_may_end.load(Relaxed);
            assert!(may_end || !has_ended, "a writer has panicked, see above");
            self.done.load(Relaxed) >= enough
        });
    }

    /// Adds and changes robots until the round is over or the server ends.
    fn write(&self, client: &TcpClient, ledger: &mut Ledger, mut random: Rng) {
        let mut kind = 0;
        while !self.is_over.load(Relaxed) {
            let m = self.next.fetch_add(1, Relaxed);
            let n = [
                json!(m),
                json!(format!("t{m}")),
                json!(format!("{m}.5").parse::<f64>().unwrap()),
                Value::Null,
            ];
            let n = n[kind].clone();
            let mut robot =
                json!({"name": format!("robot {m}"), "type": "droid", "year": 1977, "m": m});
            if !n.is_null() {
                robot["n"] = n.clone();
            }
            // A robot whose values are unknown is not changed again: that change might come later.
            let certain = ledger.iter().filter(|(_, writes)| writes.len() == 1);
            let mut certain: Vec<_> = certain.map(|(id, _)| Some(*id)).collect();
            certain.push(None);
            let id = certain[random.usize(..certain.len())];
            let method = match id {
                None => "POST",
                Some(_) if n.is_null() || random.bool() => "PUT",
                Some(_) => "PATCH",
            };
            let target = id.map_or("/api/robots".to_owned(), |id| format!("/api/robots/{id}"));
            let content_type = if method == "PATCH" {
                "merge-patch+json"
            } else {
                "json"
            };
            // Otherwise a value of a field that the definition does not have is ignored.
            let headers = [
                ("Content-Type", &*format!("application/{content_type}")),
                ("Prefer", "handling=strict"),
            ];
            let start = Instant::now();
            let answer = client.send(&request(method, &target, &headers, &robot.to_string()));
            if let Ok(answer) = &answer
                && matches!(answer.status, 400 | 409)
            {
                // The definition has another kind of `n`, or none.
                assert!(
                    answer.text().contains("n must be ")
                        || answer.text().contains(" is not a field"),
                    "{robot}: {}",
                    answer.text()
                );
                kind = random.usize(..4);
                continue;
            }
            let outcome = Outcome::of(&answer, &format!("{method} {target} {robot}"));
            let written = Written {
                m,
                n,
                interval: Interval {
                    start,
                    end: Instant::now(),
                },
                is_certain: outcome == Outcome::Done,
            };
            match outcome {
                Outcome::Done => {
                    let body: Value = serde_json::from_slice(&answer.unwrap().body).unwrap();
                    let added = || body["data"]["id"].as_str().unwrap().parse().unwrap();
                    ledger.insert(id.unwrap_or_else(added), vec![written]);
                    self.done.fetch_add(1, Relaxed);
                }
                Outcome::Unavailable => _ = self.unavailable.fetch_add(1, Relaxed),
                Outcome::ConnectionRefused => break,
                outcome => {
                    assert!(
                        outcome.is_uncertain() && self.server_may_end.load(Relaxed),
                        "{outcome:?}: {robot}"
                    );
                    if let Some(id) = id {
                        ledger.entry(id).or_default().push(written);
                    }
                    if outcome == Outcome::ConnectionLost {
                        break;
                    }
                }
            }
            if random.u8(..8) == 0 {
                kind = random.usize(..4);
            }
        }
    }
}

pub(crate) fn values_beside_definitions_and_kills_on_sqlite(run: &Run) {
    assert_values_survive(run, &[]);
}

#[cfg(all(feature = "postgres", feature = "mysql"))]
pub(crate) fn values_beside_definitions_and_kills_are_kept(run: &Run, kind: Kind) {
    assert_values_survive(run, &[("DATABASE_URL", &kind.shared_database())]);
}

/// Two servers on one database, of which one is killed in each round, while the definition changes.
fn assert_values_survive(run: &Run, settings: &[(&str, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    let start = || Server::start(folder.path(), settings);
    let first = start();
    let defined = first.call("PUT", CHANGE, &with_n(STATES[0]));
    assert_eq!(defined.status, 200, "{}", defined.text());
    let mut servers = [first, start()];
    let mut ledgers = [const { Ledger::new() }; 4];
    let (mut writers, mut drops, mut present) = (Writers::default(), Vec::new(), Value::Null);
    run.repeat(3, |random| {
        (writers.is_over, writers.server_may_end) = Default::default();
        let (killed, last) = (random.usize(..2), random.usize(1..5));
        thread::scope(|scope| {
            let writers = &writers;
            let _over = Over(writers);
            let threads = ledgers.iter_mut().enumerate().map(|(number, ledger)| {
                let (client, random) = (servers[number % 2].client(), random.fork());
                scope.spawn(move || writers.write(&client, ledger, random))
            });
            let threads: Vec<_> = threads.collect();
            for change in 0..=last {
                writers.wait_for_changes(random.u64(1..60), &threads);
                let client = servers[random.usize(..2)].client();
                let document = with_n(STATES[random.usize(..STATES.len())]);
                let start_time = Instant::now();
                let put = scope.spawn({
                    let document = document.clone();
                    move || send(&client, "PUT", CHANGE, &document).outcome
                });
                if change == last {
                    writers.server_may_end.store(true, Relaxed);
                    thread::sleep(Duration::from_millis(random.u64(..300)));
                    servers[killed].signal("KILL");
                }
                let outcome = put.join().unwrap();
                if change == last {
                    servers[killed] = start();
                }
                let kind = match outcome {
                    Outcome::Done => kind_of_n(&document),
                    _ => kind_of_n(&servers[killed].get(TARGET).text()),
                };
                assert!(change == last || outcome == Outcome::Done, "{outcome:?}");
                if kind != present {
                    drops.push(Interval {
                        start: start_time,
                        end: Instant::now(),
                    });
                    present = kind;
                }
            }
            writers.wait_for_changes(20, &threads);
        });
        let knows = || servers[0].get(TARGET).text() == servers[1].get(TARGET).text();
        wait_for("both servers know the definition", TIMEOUT, knows);
        for server in &servers {
            assert_accounted(server, &ledgers, &drops);
        }
        let count = |number: &AtomicU64| number.load(Relaxed);
        let (done, unavailable) = (count(&writers.done), count(&writers.unavailable));
        println!(
            "{}: {present}, {done} changes, {unavailable} unavailable",
            run.name
        );
    });
}

/// Ends the writers, also if the test panics.
struct Over<'a>(&'a Writers);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Relaxed);
    }
}

fn with_n((kind, keywords): (&str, &str)) -> String {
    let n = match kind {
        "" => String::new(),
        kind => format!(r#","n":{{"type":"{kind}"{keywords}}}"#),
    };
    format!(r#"{{"properties":{{"m":{{"type":"integer","index":true}}{n}}}}}"#)
}

fn kind_of_n(document: &str) -> Value {
    let document: Value = serde_json::from_str(document).unwrap();
    document["properties"]["n"]["type"].clone()
}

/// Asserts that each robot has its acknowledged values, except those that a definition has dropped, and is found by them.
fn assert_accounted(server: &Server, ledgers: &[Ledger], drops: &[Interval]) {
    let list = server.get("/api/robots?fields=*");
    let robots: Vec<Value> = serde_json::from_slice(&list.body).unwrap();
    let ids = robots
        .iter()
        .map(|robot| robot["id"].as_str().unwrap().parse().unwrap());
    let robots: BTreeMap<u64, &Value> = ids.zip(&robots).collect();
    for (place, (id, writes)) in ledgers.iter().flatten().enumerate() {
        let robot = robots[id];
        let written = writes.iter().find(|written| robot["m"] == written.m);
        let Written {
            n,
            interval,
            is_certain,
            ..
        } = written.unwrap_or_else(|| panic!("a change of {robot} is lost"));
        let may_be_dropped = drops.iter().any(|drop| drop.end >= interval.start);
        let must_be_dropped = *is_certain && drops.iter().any(|drop| drop.start > interval.end);
        let is_right = match &robot["n"] {
            Value::Null => n.is_null() || may_be_dropped,
            stored => stored == n && !must_be_dropped,
        };
        assert!(is_right, "{n} became {robot}, {interval:?}, {drops:?}");
        if !robot["n"].is_null() && place % 16 == 0 {
            let value = robot["n"].to_string();
            let found = server
                .get(&format!("/v1/robots?n={}", value.trim_matches('"')))
                .text();
            assert!(
                found.contains(&format!(r#""id":"{id}""#)),
                "{robot}: {found}"
            );
        }
    }
}
