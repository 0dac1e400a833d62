//! Database server that is frozen, stopped and killed under the workload, connections to it that are cut, and a stop
//! of the robot server under the same load.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;

use crate::{
    database_server::{DatabaseServer, Kind, authority},
    options::Run,
    process::Server,
    workload::{Ledger, Outcome, Workload},
};

/// A generous limit for a stop: five seconds for requests in progress, and more for their threads.
const STOP_LIMIT: Duration = Duration::from_secs(15);

/// Each round has a database of its own: one that was frozen may apply a write much later, so
/// that no ledger can continue from there.
pub(crate) fn every_fault_keeps_acknowledged_writes(run: &Run, kind: Kind) {
    run.repeat(1, |random| {
        let database = DatabaseServer::new(kind);
        let relay = Relay::start(authority(&database.url), random.fork());
        let url = database
            .url
            .replace(authority(&database.url), &relay.address);
        let start = || Server::sqlite(&[("DATABASE_URL", &url)]);
        let server = start();
        let workload = Workload::start(&server, Ledger::default(), random);
        workload.wait_until_served();
        let mut faults = [freeze, stop, kill, cut];
        random.shuffle(&mut faults);
        for fault in faults {
            workload.wait_for_writes_on(&[0], random.usize(1..100));
            fault(&database, &relay, &workload, random);
            workload.wait_until_served();
            workload.assert_calls_succeed(&[0], 100, 0);
        }
        assert_eq!(workload.writes(Outcome::Failed), 0);
        workload.allow_server_end();
        let signalled = Instant::now();
        let (status, log) = server.stop("TERM");
        assert!(status.success(), "{status}: {log}");
        assert!(signalled.elapsed() < STOP_LIMIT, "{log}");
        let mut ledger = workload.join();
        ledger.assert_consistent_with(&start());
        println!("{kind:?}: {ledger}");
    });
}

fn freeze(database: &DatabaseServer, _: &Relay, workload: &Workload, _: &mut Rng) {
    database.freeze();
    workload.wait_for_failed_writes(3);
    database.resume();
}

fn stop(database: &DatabaseServer, _: &Relay, workload: &Workload, _: &mut Rng) {
    database.stop();
    workload.wait_until_failing();
    database.start();
}

/// Restarts the database either immediately, when pooled connections still count as valid, or after
/// every client has failed.
fn kill(database: &DatabaseServer, _: &Relay, workload: &Workload, random: &mut Rng) {
    database.kill();
    // MariaDB shows a commit to other sessions while it still waits for the disk.
    if database.kind == Kind::Mariadb {
        workload.lose_unsynced();
    }
    if random.bool() {
        workload.wait_until_failing();
    }
    database.start();
}

/// Connections end at random bytes, of requests and of answers.
fn cut(_: &DatabaseServer, relay: &Relay, workload: &Workload, random: &mut Rng) {
    relay.cuts.store(true, Ordering::Relaxed);
    workload.wait_for_failed_writes(random.usize(1..10));
    relay.cuts.store(false, Ordering::Relaxed);
    // A connection that was cut after its last answer was read is noticed by its age.
    thread::sleep(Duration::from_millis(1100));
}

/// Forwards connections to a database server.
struct Relay {
    /// Host and port.
    address: String,
    /// Whether it ends connections.
    cuts: Arc<AtomicBool>,
}

impl Relay {
    fn start(database: &str, mut random: Rng) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let relay = Self {
            address: listener.local_addr().unwrap().to_string(),
            cuts: Arc::default(),
        };
        let (database, cuts) = (database.to_owned(), Arc::clone(&relay.cuts));
        thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(&database)) else {
                    continue;
                };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    to.set_nodelay(true).unwrap();
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let (cuts, random) = (Arc::clone(&cuts), random.fork());
                    thread::spawn(move || forward(from, to, &cuts, random));
                }
            }
        });
        relay
    }
}

/// Forwards bytes in one direction. One in twenty reads ends the connection, within the bytes that were read.
fn forward(mut from: TcpStream, mut to: TcpStream, cuts: &AtomicBool, mut random: Rng) {
    let mut bytes = [0; 4096];
    while let Ok(mut length @ 1..) = from.read(&mut bytes) {
        let is_cut = cuts.load(Ordering::Relaxed) && random.u8(..20) == 0;
        if is_cut {
            length = random.usize(..length);
        }
        if to.write_all(&bytes[..length]).is_err() || is_cut {
            break;
        }
    }
    for stream in [from, to] {
        // The other direction may have done it.
        let _ = stream.shutdown(Shutdown::Both);
    }
}
