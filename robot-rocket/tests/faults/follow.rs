//! Clients that keep a copy of the catalogue by its changes, while servers and databases are killed.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::Write as _,
    net::{SocketAddr, TcpStream},
    panic::{self, AssertUnwindSafe},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    thread,
};

use fastrand::Rng;
use robot_core::conformance::{Answer, Client, TcpClient};
use serde_json::Value;

#[cfg(all(feature = "postgres", feature = "mysql"))]
use crate::database_server::{DatabaseServer, Kind};
use crate::{
    calls::{draft, request},
    options::Run,
    process::{Server, wait_for, wait_for_progress},
};

const WRITERS: usize = 16;

/// A copy of the catalogue.
#[derive(Default)]
struct Follower {
    position: Option<String>,
    robots: BTreeMap<String, Value>,
}

/// The answer, if it is complete and successful.
fn get(client: &TcpClient, target: &str, headers: &[(&str, &str)]) -> Option<Answer> {
    let answer = client.send(&request("GET", target, headers, "")).ok()?;
    assert_ne!(answer.status, 410, "{target}: {}", answer.text());
    (answer.status == 200).then_some(answer)
}

/// The robots of an export, by their ids, and the position before it.
fn export(client: &TcpClient) -> Option<(BTreeMap<String, Value>, String)> {
    let answer = get(client, "/v1/robots/export", &[])?;
    let text = answer.text();
    let robots = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let robots = robots.map(|robot| (robot["id"].as_str().unwrap_or_default().to_owned(), robot));
    Some((
        robots.collect(),
        answer.header("changes-cursor")?.to_owned(),
    ))
}

impl Follower {
    /// Applies some changes; `None` if none could be read.
    fn follow(&mut self, client: &TcpClient, query: &str, streams: bool) -> Option<()> {
        let Some(position) = self.position.clone() else {
            let (robots, position) = export(client)?;
            (self.robots, self.position) = (robots, Some(position));
            return Some(());
        };
        let target = format!("/v1/changes?after={position}{query}");
        if streams {
            let answer = get(client, &target, &[("Accept", "text/event-stream")])?;
            for event in answer
                .text()
                .split("\n\n")
                .filter(|event| event.contains("data: "))
            {
                let (id, data) = event.split_once("\ndata: ").unwrap();
                self.apply(&serde_json::from_str(data).unwrap());
                self.position = id.strip_prefix("id: ").map(str::to_owned);
            }
            return Some(());
        }
        let answer = get(client, &target, &[])?;
        let page: Value = serde_json::from_slice(&answer.body).unwrap();
        for change in page["changes"].as_array().unwrap() {
            self.apply(change);
        }
        self.position = page["next"].as_str().map(str::to_owned);
        Some(())
    }

    fn apply(&mut self, change: &Value) {
        let position = self.position.as_ref().unwrap().rsplit_once('-').unwrap().1;
        let revision = change["revision"].as_u64().unwrap();
        assert!(
            revision > position.parse().unwrap(),
            "{change} after {position}"
        );
        let id = change["id"].as_str().unwrap().to_owned();
        match &change["robot"] {
            Value::Null => self.robots.remove(&id),
            robot => self.robots.insert(id, robot.clone()),
        };
    }
}

/// Changes robots, alone and together, and undoes deletions.
fn write(client: &TcpClient, random: &mut Rng, name: &str) -> bool {
    let id = random.u32(1..400);
    let robot = format!("/v1/robots/{id}");
    let call = match random.u8(..10) {
        0..4 => request("POST", "/v1/robots", &[], &draft(name)),
        4..6 => request("PUT", &robot, &[], &draft(name)),
        6 => {
            let ids = [id, id + 1, id + 2].map(|id| format!("\"{id}\"")).join(",");
            let body = format!(r#"{{"ids":[{ids}],"changes":{{"year":{id}}}}}"#);
            request("PATCH", "/v1/robots", &[], &body)
        }
        7 => request("DELETE", &robot, &[], ""),
        8 => request(
            "POST",
            &format!("{robot}/revert"),
            &[],
            &format!(r#"{{"revision":{id}}}"#),
        ),
        _ => {
            let mut file = "name,type,year\n".to_owned();
            for number in 0..20 {
                writeln!(file, "{name} {number},droid,{number}").unwrap();
            }
            let target = format!("/v1/robots/import?format=csv&atomic={}", random.bool());
            request("POST", &target, &[], &file)
        }
    };
    client.send(&call).is_ok_and(|answer| answer.status < 300)
}

/// Writes until `end` returns, while clients follow.
fn follow_meanwhile(
    servers: &[(TcpClient, SocketAddr)],
    followers: &mut [Follower],
    random: &mut Rng,
    end: impl FnOnce(&AtomicUsize),
) {
    let (is_over, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (is_over, done) = (&is_over, &done);
    thread::scope(|scope| {
        for number in 0..WRITERS {
            let (client, _) = &servers[number % servers.len()];
            let mut random = random.fork();
            scope.spawn(move || {
                while !is_over.load(Relaxed) {
                    let name = format!("{number} {:x}", random.u64(..));
                    if write(client, &mut random, &name) {
                        done.fetch_add(1, Relaxed);
                    }
                }
            });
        }
        for follower in followers {
            let mut random = random.fork();
            scope.spawn(move || {
                while !is_over.load(Relaxed) {
                    let (client, address) = &servers[random.usize(..servers.len())];
                    let query = format!("&wait=1&limit={}", random.u8(1..50));
                    follower.follow(client, &query, random.bool());
                    // A client that does not read what it has requested.
                    let head = "GET /v1/changes HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
                    let lost = TcpStream::connect(address);
                    drop(lost.and_then(|mut lost| lost.write_all(head.as_bytes())));
                }
            });
        }
        // Also if it panics.
        let ended = panic::catch_unwind(AssertUnwindSafe(|| end(done)));
        is_over.store(true, Relaxed);
        ended.unwrap_or_else(|panic| panic::resume_unwind(panic));
    });
}

/// Follows until there are no more changes, and compares the copies with the catalogue. A database may still execute a change
/// of a server that was killed.
fn assert_copies(server: &Server, followers: &mut [Follower]) {
    let client = server.client();
    for follower in followers {
        let mut robots = BTreeMap::new();
        wait_for("the changes were followed", || {
            let now = || Some(export(&client)?.1);
            let is_read = follower.follow(&client, "", false).is_some();
            let Some((exported, position)) = export(&client).filter(|_| is_read) else {
                return false;
            };
            robots = exported;
            follower.position.as_ref() == Some(&position) && now() == Some(position)
        });
        let differs = |(id, robot): &(&String, &Value)| follower.robots.get(*id) != Some(*robot);
        let different: Vec<_> = robots.iter().filter(differs).collect();
        assert!(
            different.is_empty(),
            "{different:?} at {:?}",
            follower.position
        );
        assert_eq!(follower.robots.len(), robots.len());
    }
}

fn wait_for_writes(done: &AtomicUsize, random: &mut Rng) {
    let enough = done.load(Relaxed) + random.usize(20..150);
    wait_for_progress("writes", || done.load(Relaxed), |done| *done >= enough);
}

pub(crate) fn followers_have_the_catalogue_on_sqlite(run: &Run) {
    let folder = tempfile::tempdir().unwrap();
    let mut followers = <[Follower; 3]>::default();
    run.repeat(3, |random| {
        let server = Server::start(folder.path(), &[]);
        let servers = [(server.client(), server.address())];
        let mut other = random.fork();
        follow_meanwhile(&servers, &mut followers, random, |done| {
            wait_for_writes(done, &mut other);
            server.stop("KILL");
        });
        let server = Server::start(folder.path(), &[]);
        assert_copies(&server, &mut followers);
        server.stop("KILL");
    });
}

#[cfg(all(feature = "postgres", feature = "mysql"))]
pub(crate) fn followers_have_the_catalogue(run: &Run, kind: Kind) {
    let database = DatabaseServer::new(kind);
    let start = || Server::sqlite(&[("DATABASE_URL", &database.url)]);
    let mut followers = <[Follower; 3]>::default();
    let mut servers = [start(), start()];
    run.repeat(2, |random| {
        let addresses = servers
            .each_ref()
            .map(|server| (server.client(), server.address()));
        let mut other = random.fork();
        follow_meanwhile(&addresses, &mut followers, random, |done| {
            wait_for_writes(done, &mut other);
            let mut program = kind.connect(&database.url);
            let number = other.u64(..);
            program(match kind {
                // The defaults of the test servers are unusual.
                Kind::Postgres => {
                    "SET lock_timeout = 0; BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
                }
                Kind::Mariadb => {
                    "SET SESSION innodb_lock_wait_timeout = 50; SET SESSION TRANSACTION READ WRITE; BEGIN"
                }
            });
            program(&format!(
                "INSERT INTO robots (name, type, year) VALUES ('psql {number}', 'droid', 1)"
            ));
            program("UPDATE robots SET year = 3 WHERE id = 5");
            program("COMMIT");
            drop(program);
            if other.bool() {
                database.kill();
                database.start();
                wait_for_writes(done, &mut other);
            }
        });
        let killed = random.usize(..2);
        std::mem::replace(&mut servers[killed], start()).stop("KILL");
        for server in &servers {
            assert_copies(server, &mut followers);
        }
    });
}
