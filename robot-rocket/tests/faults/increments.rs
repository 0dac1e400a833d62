//! Clients that increase the same years, each only if no other client has changed the robot
//! since.

use std::{
    io::{BufReader, Write},
    net::TcpStream,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use serde_json::Value;

#[cfg(all(feature = "postgres", feature = "mysql"))]
use crate::database_server::{DatabaseServer, Kind};
use crate::{
    options::Run,
    process::{Server, message},
};

const CLIENTS: usize = 64;

/// The number of robots. Fewer, and most requests are stale; more, and few are.
const ROBOTS: usize = 16;

/// The number of increments by default.
const INCREMENTS: u64 = 400;

pub(crate) fn no_increment_is_lost_in_memory(run: &Run) {
    run.repeat(1, |_| increase(run, "memory:", 1));
}

pub(crate) fn no_increment_is_lost_on_sqlite(run: &Run) {
    run.repeat(1, |_| {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/robots.db", folder.path().display());
        increase(run, &url, 2);
    });
}

#[cfg(all(feature = "postgres", feature = "mysql"))]
pub(crate) fn no_increment_is_lost(run: &Run, kind: Kind) {
    run.repeat(1, |_| increase(run, &DatabaseServer::new(kind).url, 2));
}

/// Increases the years of robots through servers on one database, and compares their sum.
fn increase(run: &Run, url: &str, servers: usize) {
    let total = run.options.increments.unwrap_or(INCREMENTS);
    let start = || Server::sqlite(&[("DATABASE_URL", url)]);
    let servers: Vec<_> = (0..servers).map(|_| start()).collect();
    let mut first = Client::of(&servers[0]);
    let paths: Vec<_> = (0..ROBOTS).map(|number| first.add(number)).collect();
    let (begun, stale) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for number in 0..CLIENTS {
            let mut client = Client::of(&servers[number % servers.len()]);
            let (paths, begun, stale) = (&paths, &begun, &stale);
            scope.spawn(move || {
                while begun.fetch_add(1, Ordering::Relaxed) < total {
                    let path = &paths[fastrand::usize(..paths.len())];
                    stale.fetch_add(client.increase(path), Ordering::Relaxed);
                }
            });
        }
    });
    let stale = stale.into_inner();
    println!("{}: {total} increments, {stale} stale requests", run.name);
    for server in &servers {
        let mut client = Client::of(server);
        let states = paths.iter().map(|path| client.state(path));
        let (years, changes) = states.fold((0, 0), |(years, changes), (year, revision)| {
            (years + year, changes + revision - 1)
        });
        assert_eq!((years, changes), (total, total));
    }
    assert!(stale > 0, "the clients did not compete");
}

/// A client with a connection that stays open.
struct Client(BufReader<TcpStream>);

/// The status, head and body of an answer.
struct Answer(u16, String, Value);

impl Client {
    fn of(server: &Server) -> Self {
        let stream = TcpStream::connect(server.address()).unwrap();
        stream.set_nodelay(true).unwrap();
        Self(BufReader::new(stream))
    }

    /// Adds a robot with the year 0, and returns its path.
    fn add(&mut self, number: usize) -> String {
        let body = format!(r#"{{"name":"RX-{number}","type":"droid","year":0}}"#);
        let Answer(_, _, body) = self.send("POST", "/api/robots", "", &body);
        format!("/api/robots/{}", body["data"]["id"].as_str().unwrap())
    }

    /// Increases a year, and returns how often the request was stale before.
    fn increase(&mut self, path: &str) -> u64 {
        let mut stale = 0;
        loop {
            let (year, revision) = self.state(path);
            let headers = format!(
                "Content-Type: application/merge-patch+json\r\nIf-Match: \"{revision}\"\r\n"
            );
            let body = format!("{{\"year\":{}}}", year + 1);
            let answer = self.send("PATCH", path, &headers, &body);
            match answer.0 {
                200 => {
                    assert_eq!(answer.revision(), revision + 1);
                    return stale;
                }
                412 => stale += 1,
                // Nothing was changed.
                503 => {}
                status => panic!("{status}: {}", answer.2),
            }
        }
    }

    /// The year of a robot and its revision.
    fn state(&mut self, path: &str) -> (u64, u64) {
        loop {
            let answer = self.send("GET", &format!("{path}?fields=year"), "", "");
            if answer.0 != 503 {
                return (
                    answer.2["data"]["year"].as_u64().unwrap(),
                    answer.revision(),
                );
            }
        }
    }

    fn send(&mut self, method: &str, target: &str, headers: &str, body: &str) -> Answer {
        let length = body.len();
        let request = format!(
            "{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\
             {headers}\r\n{body}"
        );
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
        let (head, body) = message(&mut self.0).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer(status, head, serde_json::from_slice(&body).unwrap())
    }
}

impl Answer {
    /// The revision in the `ETag`.
    fn revision(&self) -> u64 {
        let (_, tag) = self.1.split_once("\r\netag: \"").unwrap();
        tag.split('"').next().unwrap().parse().unwrap()
    }
}
