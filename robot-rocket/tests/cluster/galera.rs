//! Three nodes of Galera, and a server over each.

use std::{
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{agreement, database::Folder, load::Load, pauses, process::Server};

/// How long it may take until all are served again, once a node is gone or back.
const SOON: Duration = Duration::from_secs(20);

/// All servers, and those whose node survives.
const ALL: [usize; 3] = [0, 1, 2];
const SURVIVORS: [usize; 2] = [0, 2];

/// A cluster with a server over each node.
struct Cluster {
    nodes: Folder,
    servers: Vec<Server>,
    _folder: TempDir,
}

impl Cluster {
    /// Starts nodes, and servers over them, all at once or one after the other.
    fn new(at_once: bool) -> Self {
        let nodes = Folder::new();
        let urls = nodes.run(&["galera", "nodes", "3"]);
        let folder = tempfile::tempdir().unwrap();
        let start = |url: &String| Server::start(folder.path(), &[("DATABASE_URL", url)]);
        let servers = if at_once {
            thread::scope(|scope| {
                let start = |url| scope.spawn(move || start(url));
                let starting: Vec<_> = urls.iter().map(start).collect();
                let started = starting.into_iter().map(|server| server.join().unwrap());
                started.collect()
            })
        } else {
            urls.iter().map(start).collect()
        };
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
fn servers_over_different_nodes_agree() {
    // All of them find that there are no tables.
    let cluster = Cluster::new(true);
    agreement::prevails(&cluster.servers(), 60);
}

#[test]
fn a_node_that_is_killed_takes_nothing_with_it_and_comes_back() {
    let cluster = Cluster::new(false);
    let load = Load::start(&cluster.servers());
    load.is_served(&ALL, SOON);
    cluster.nodes.run(&["signal", "KILL", "nodes/2"]);
    let took = load.is_served(&SURVIVORS, SOON);
    println!("Galera: the others serve all of their clients {took:?} after the kill");
    load.is_refused(&[1], SOON);
    load.never_fails(&SURVIVORS, 200, SOON);
    let killed = Instant::now();
    cluster.nodes.run(&["galera-join", "nodes", "2"]);
    println!("Galera: the node took {:?} to come back", killed.elapsed());
    let took = load.is_served(&ALL, SOON);
    println!("Galera: all are served {took:?} later");
    load.never_fails(&ALL, 300, SOON);
    let record = load.end();
    let pause = pauses::longest(&record, &SURVIVORS);
    println!("Galera: {record}; the others paused for {pause:?}");
    for server in cluster.servers() {
        record.is_true_of(server);
    }
    agreement::prevails(&cluster.servers(), 30);
}
