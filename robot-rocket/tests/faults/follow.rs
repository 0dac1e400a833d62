//! Clients that keep a copy of the catalogue by its changes, while servers and databases are killed.

use std::{
    fmt::Write as _,
    io::Write as _,
    net::{SocketAddr, TcpStream},
    panic::{self, AssertUnwindSafe},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    thread,
};

use fastrand::Rng;
use robot_core::conformance::{Call, Client, TcpClient};

#[cfg(all(feature = "postgres", feature = "mysql"))]
use crate::database_server::{DatabaseServer, Kind};
use crate::{
    calls::draft,
    followers::{Follower, assert_copies},
    options::Run,
    process::{Server, wait_for_progress},
};

const WRITERS: usize = 16;

/// Changes robots, alone and together, and undoes deletions.
fn write(client: &TcpClient, random: &mut Rng, name: &str) -> bool {
    let id = random.u32(1..400);
    let robot = format!("/v1/robots/{id}");
    let call = match random.u8(..10) {
        0..4 => Call::new("POST", "/v1/robots", &[], draft(name)),
        4..6 => Call::new("PUT", &robot, &[], draft(name)),
        6 => {
            let ids = [id, id + 1, id + 2].map(|id| format!("\"{id}\"")).join(",");
            let body = format!(r#"{{"ids":[{ids}],"changes":{{"year":{id}}}}}"#);
            Call::new("PATCH", "/v1/robots", &[], body)
        }
        7 => Call::new("DELETE", &robot, &[], ""),
        8 => Call::new(
            "POST",
            &format!("{robot}/revert"),
            &[],
            format!(r#"{{"revision":{id}}}"#),
        ),
        _ => {
            // Few names, so that long runs compare small copies.
            let mut file = "name,type,year\n".to_owned();
            for number in 0..20 {
                writeln!(file, "{} {number},droid,{}", id / 4, random.u16(..)).unwrap();
            }
            let target = format!(
                "/v1/robots/import?format=csv&on_conflict=replace&atomic={}",
                random.bool()
            );
            Call::new("POST", &target, &[], file)
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
