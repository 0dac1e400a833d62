//! Galera cluster of three nodes, with a server on each.

use std::{thread, time::Instant};

use fastrand::Rng;
use tempfile::TempDir;

use crate::{
    database_server::Folder,
    followers::Following,
    process::Server,
    workload::{Ledger, Workload, assert_agreement},
};

/// The servers whose node survives.
const SURVIVORS: [usize; 2] = [0, 2];

/// How many calls may fail of those that are counted: changes of different nodes conflict, and the clients of all nodes
/// change robots all the time.
const CONFLICTS: usize = 20;

/// A cluster with a server on each node.
struct Cluster {
    nodes: Folder,
    servers: Vec<Server>,
    _folder: TempDir,
}

impl Cluster {
    /// Starts the nodes, and all servers at the same time.
    fn new() -> Self {
        let nodes = Folder::new();
        let urls = nodes.run(&["galera", "nodes", "3"]);
        let folder = tempfile::tempdir().unwrap();
        let start = |url: &String| Server::start(folder.path(), &[("DATABASE_URL", url)]);
        let servers = thread::scope(|scope| {
            let start = |url| scope.spawn(move || start(url));
            let starting: Vec<_> = urls.iter().map(start).collect();
            let started = starting.into_iter().map(|server| server.join().unwrap());
            started.collect()
        });
        Self {
            nodes,
            servers,
            _folder: folder,
        }
    }

    fn servers(&self) -> Vec<&Server> {
        self.servers.iter().collect()
    }
}

#[test]
fn killed_node_loses_nothing_and_rejoins() {
    let cluster = Cluster::new();
    let mut random = Rng::new();
    let servers = cluster.servers();
    let ledger = assert_agreement(&servers, Ledger::default(), &mut random, CONFLICTS);
    let workload = Workload::start_on(&servers, ledger, &mut random);
    let following = Following::start(&servers, &mut random);
    workload.wait_until_served();
    cluster.nodes.run(&["signal", "KILL", "nodes/2"]);
    let took = workload.wait_until_served_by(&SURVIVORS);
    println!("Galera: the other servers serve all clients {took:?} after the kill");
    workload.wait_until_failing_on(&[1]);
    workload.assert_calls_succeed(&SURVIVORS, 200, CONFLICTS);
    let killed = Instant::now();
    cluster.nodes.run(&["join", "nodes", "2"]);
    println!("Galera: the node rejoined in {:?}", killed.elapsed());
    let took = workload.wait_until_served();
    println!("Galera: all clients are served {took:?} later");
    workload.assert_calls_succeed(&[0, 1, 2], 300, CONFLICTS);
    let mut ledger = workload.stop();
    following.stop(&servers);
    println!("Galera: {ledger}");
    for server in &servers {
        ledger.assert_consistent_with(server);
    }
    assert_agreement(&servers, ledger, &mut random, CONFLICTS);
}
