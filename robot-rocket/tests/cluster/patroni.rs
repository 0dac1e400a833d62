//! PostgreSQL cluster that Patroni manages: two nodes, and two servers that have both in their URL.

use std::time::{Duration, Instant};

use fastrand::Rng;
use tempfile::TempDir;

use crate::{
    database_server::Folder,
    followers::Following,
    process::{Server, wait_for},
    workload::{Ledger, Workload, assert_agreement},
};

/// Maximum time from a fault to writes through both servers: six seconds for the lease of the
/// primary, and the rest for the promotion and new connections.
const FAILOVER_LIMIT: Duration = Duration::from_secs(15);

const BOTH: [usize; 2] = [0, 1];

/// A cluster with two servers.
struct Cluster {
    nodes: Folder,
    servers: [Server; 2],
    _folder: TempDir,
}

impl Cluster {
    fn new() -> Self {
        let nodes = Folder::new();
        let url = nodes.run(&["patroni", "nodes"]).concat();
        let folder = tempfile::tempdir().unwrap();
        let start = |_| Server::start(folder.path(), &[("DATABASE_URL", &url)]);
        Self {
            nodes,
            servers: BOTH.map(start),
            _folder: folder,
        }
    }

    /// The number of the node that is the primary.
    fn primary(&self) -> usize {
        let mut primaries = (1..=2).filter(|node| self.role(*node) == "primary");
        primaries.next().unwrap()
    }

    fn role(&self, node: usize) -> String {
        self.nodes.run(&["role", &format!("nodes/{node}")]).concat()
    }

    fn signal(&self, name: &str, node: usize) {
        self.nodes.run(&["signal", name, &format!("nodes/{node}")]);
    }

    /// Waits until a node is a standby that follows the primary.
    fn wait_until_rejoined(&self, node: usize) -> Duration {
        wait_for("the node rejoins", || {
            ["synchronous", "replica"].contains(&self.role(node).as_str())
        })
    }
}

/// Fails the primary under load, waits for the failover, restores the node as a standby, and checks
/// the outcome of every write.
fn fail_over(
    name: &str,
    fail: impl FnOnce(&Cluster, usize),
    restore: impl FnOnce(&Cluster, usize),
) {
    let cluster = Cluster::new();
    let mut random = Rng::new();
    let servers: Vec<_> = cluster.servers.iter().collect();
    let ledger = assert_agreement(&servers, Ledger::default(), &mut random, 0);
    let workload = Workload::start_on(&servers, ledger, &mut random);
    let following = Following::start(&servers, &mut random);
    workload.wait_until_served();
    let primary = cluster.primary();
    let failed = Instant::now();
    fail(&cluster, primary);
    println!("Patroni, {name}: failed in {:?}", failed.elapsed());
    workload.wait_for_writes_on(&BOTH, 10);
    let took = failed.elapsed();
    println!("Patroni, {name}: both servers write again after {took:?}");
    assert!(took < FAILOVER_LIMIT, "{took:?}");
    workload.wait_until_served();
    assert_ne!(cluster.primary(), primary);
    restore(&cluster, primary);
    let took = cluster.wait_until_rejoined(primary);
    println!("Patroni, {name}: the old primary is a standby {took:?} later");
    workload.wait_until_served();
    workload.assert_calls_succeed(&BOTH, 300, 0);
    let mut ledger = workload.stop();
    following.stop(&servers);
    println!("Patroni, {name}: {ledger}");
    for server in &servers {
        ledger.assert_consistent_with(server);
    }
    assert_agreement(&servers, ledger, &mut random, 0);
}

#[test]
fn killed_primary_is_replaced_and_rejoins() {
    fail_over(
        "kill",
        |cluster, node| cluster.signal("KILL", node),
        |cluster, node| {
            cluster.nodes.run(&["join", "nodes", &node.to_string()]);
        },
    );
}

#[test]
fn suspended_primary_is_replaced_and_rejoins() {
    fail_over(
        "suspension",
        |cluster, node| cluster.signal("STOP", node),
        |cluster, node| cluster.signal("CONT", node),
    );
}
