//! Kills of the server while it changes the definition. Each leaves the old definition or the new one, and its indexes
//! are complete after the next start. Values that were acknowledged meanwhile are stored, or a definition has dropped
//! them.

use std::{
    collections::BTreeMap,
    mem,
    sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    thread::{self, ScopedJoinHandle},
    time::{Duration, Instant},
};

use fastrand::Rng;
use robot_core::conformance::{Call, Client, TcpClient};
use serde_json::{Value, json};

#[cfg(all(feature = "postgres", feature = "mysql"))]
use crate::database_server::Kind;
use crate::{
    options::Run,
    process::{Server, assert_status, wait_for, wait_for_progress},
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
        present = found.unwrap();
        assert!(
            kept.contains([r#""kind":7"#, r#""kind":"7""#][present]),
            "{kept}"
        );
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
    ("number", r#","unique":true"#),
    ("string", r#","search":true"#),
    ("string", r#","index":true,"search":true"#),
    ("string", r#","unique":true"#),
];

/// Values that a robot may have: `m` identifies the change.
struct Written {
    m: u32,
    n: Value,
    interval: Interval,
    is_certain: bool,
}

/// The last acknowledged change of each robot, and those after it whose outcome is unknown.
type Ledger = BTreeMap<u64, Vec<Written>>;

#[derive(Default)]
struct Writers {
    next: AtomicU32,
    done: AtomicU32,
    is_over: AtomicBool,
    server_may_end: AtomicBool,
}

impl Writers {
    fn wait_for_changes(&self, count: u32, threads: &[ScopedJoinHandle<'_, ()>]) {
        let enough = self.done.load(Relaxed) + count;
        let look = || {
            let has_ended = threads.iter().any(ScopedJoinHandle::is_finished);
            let may_end = self.server_may_end.load(Relaxed);
            assert!(may_end || !has_ended, "a writer has panicked, see above");
            self.done.load(Relaxed)
        };
        wait_for_progress("acknowledged changes", look, |done| *done >= enough);
    }

    /// Adds and replaces robots until the round is over or the server ends. Only a definition rejects a change.
    fn write(&self, client: &TcpClient, ledger: &mut Ledger, mut random: Rng) {
        let mut kind = 0;
        while !self.is_over.load(Relaxed) {
            let m = self.next.fetch_add(1, Relaxed);
            let texts = [json!(m), json!(format!("t{m}")), json!(f64::from(m) + 0.5)];
            let n = texts.get(kind).cloned().unwrap_or_default();
            let name = format!("robot {m}");
            let mut robot = json!({"name": name, "type": "droid", "year": 1977, "m": m});
            if !n.is_null() {
                robot["n"] = n.clone();
            }
            // A robot whose values are unknown is not changed again: the unknown change might come later.
            let chosen = ledger.iter().nth(random.usize(..=ledger.len()));
            let id = chosen.filter(|(_, writes)| writes.len() == 1);
            let id = id.map(|(id, _)| *id);
            let (method, target) = match id {
                Some(id) => ("PUT", format!("/api/robots/{id}")),
                None => ("POST", "/api/robots".to_owned()),
            };
            // Otherwise a value of a field that the definition does not have is ignored.
            let strict = [("Prefer", "handling=strict")];
            let start = Instant::now();
            let answer = client.send(&Call::new(method, &target, &strict, robot.to_string()));
            let end = Instant::now();
            if let Ok(answer) = &answer
                && matches!(answer.status, 400 | 409)
            {
                let text = answer.text();
                let is_of_kind = text.contains(" is not a field") || text.contains("n must be a");
                assert!(is_of_kind, "{robot}: {text}");
                kind = random.usize(..4);
                continue;
            }
            let outcome = Outcome::of(&answer, &format!("{method} {target} {robot}"));
            let written = Written {
                m,
                n,
                interval: Interval { start, end },
                is_certain: outcome == Outcome::Done,
            };
            if written.is_certain {
                let body: Value = serde_json::from_slice(&answer.unwrap().body).unwrap();
                let added = || body["data"]["id"].as_str().unwrap().parse().unwrap();
                ledger.insert(id.unwrap_or_else(added), vec![written]);
                self.done.fetch_add(1, Relaxed);
                kind = if random.bool() {
                    kind
                } else {
                    random.usize(..4)
                };
            } else {
                assert!(self.server_may_end.load(Relaxed), "{outcome:?}: {robot}");
                if let Some(id) = id.filter(|_| outcome.is_uncertain()) {
                    ledger.entry(id).or_default().push(written);
                }
                if matches!(
                    outcome,
                    Outcome::ConnectionLost | Outcome::ConnectionRefused
                ) {
                    break;
                }
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
            let _over = Over(&writers.is_over);
            let threads = ledgers.iter_mut().enumerate().map(|(number, ledger)| {
                let (client, random) = (servers[number % 2].client(), random.fork());
                scope.spawn(move || writers.write(&client, ledger, random))
            });
            let threads: Vec<_> = threads.collect();
            for change in 0..=last {
                writers.wait_for_changes(random.u32(1..60), &threads);
                let client = servers[random.usize(..2)].client();
                let document = &with_n(STATES[random.usize(..STATES.len())]);
                let start_of_change = Instant::now();
                let outcome = thread::scope(|scope| {
                    let put = scope.spawn(move || send(&client, "PUT", CHANGE, document).outcome);
                    if change == last {
                        writers.server_may_end.store(true, Relaxed);
                        thread::sleep(Duration::from_millis(random.u64(..300)));
                        servers[killed].signal("KILL");
                    }
                    put.join().unwrap()
                });
                assert!(change == last || outcome == Outcome::Done, "{outcome:?}");
                if change == last {
                    servers[killed] = start();
                }
                let before = mem::replace(
                    &mut present,
                    match outcome {
                        Outcome::Done => kind_of_n(document),
                        _ => kind_of_n(&servers[killed].get(TARGET).text()),
                    },
                );
                if present != before {
                    let (start, end) = (start_of_change, Instant::now());
                    drops.push((Interval { start, end }, present.is_null()));
                }
            }
            writers.wait_for_changes(20, &threads);
        });
        let knows = || servers[0].get(TARGET).text() == servers[1].get(TARGET).text();
        wait_for("both servers know the definition", knows);
        for server in &servers {
            assert_accounted(server, &ledgers, &drops);
        }
        println!("{}: {present}, {:?} changes", run.name, writers.done);
    });
}

/// Ends the writers, also if the test panics.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
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

/// Asserts that each robot has its acknowledged values, perhaps as another kind, and is found by them. A definition drops
/// all if it removes the field, or those that it cannot convert.
fn assert_accounted(server: &Server, ledgers: &[Ledger], drops: &[(Interval, bool)]) {
    let list = server.get("/api/robots?fields=*");
    let robots: Vec<Value> = serde_json::from_slice(&list.body).unwrap();
    let by_id = robots
        .iter()
        .map(|robot| (robot["id"].as_str().unwrap(), robot));
    let by_id: BTreeMap<_, _> = by_id.collect();
    for (place, (id, writes)) in ledgers.iter().flatten().enumerate() {
        let robot = by_id[&*id.to_string()];
        let stored = &robot["n"];
        let written = writes.iter().find(|written| robot["m"] == written.m);
        let written = written.unwrap_or_else(|| panic!("a change of {robot} is lost"));
        let Interval { start, end } = written.interval;
        let may_be_dropped = drops.iter().any(|(drop, _)| drop.end >= start);
        let mut after = drops.iter().filter(|(drop, _)| drop.start > end);
        let must_be_dropped = written.is_certain && after.any(|(_, is_removed)| *is_removed);
        let text = |value: &Value| value.to_string().replace('"', "");
        let is_right = match stored {
            Value::Null => written.n.is_null() || may_be_dropped,
            stored => text(stored) == text(&written.n) && !must_be_dropped,
        };
        let context = || {
            format!(
                "{} of {:?}, {:?}",
                written.n,
                written.interval,
                drops.last()
            )
        };
        assert!(is_right, "{robot}, {}", context());
        if !stored.is_null() && place % 16 == 0 {
            let value = text(stored);
            let found = server.get(&format!("/api/robots?n={value}")).text();
            assert!(
                found.contains(&format!(r#""id":"{id}""#)),
                "{robot}: {found}"
            );
        }
    }
}
