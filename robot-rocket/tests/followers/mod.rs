//! Clients that keep a copy of the catalogue by its changes.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
};

use fastrand::Rng;
use robot_core::conformance::{Answer, Call, Client, TcpClient};
use serde_json::Value;

use crate::process::{Server, wait_for};

/// A copy of the catalogue.
#[derive(Default)]
pub(crate) struct Follower {
    position: Option<String>,
    robots: BTreeMap<String, Value>,
}

/// The answer, if it is complete and successful.
fn get(client: &TcpClient, target: &str, headers: &[(&str, &str)]) -> Option<Answer> {
    let answer = client.send(&Call::new("GET", target, headers, "")).ok()?;
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
    pub(crate) fn follow(&mut self, client: &TcpClient, query: &str, streams: bool) -> Option<()> {
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

/// A follower on a thread of its own, which reads from any of several servers.
pub(crate) struct Following {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Follower>,
}

impl Following {
    pub(crate) fn start(servers: &[&Server], random: &mut Rng) -> Self {
        let clients: Vec<_> = servers.iter().map(|server| server.client()).collect();
        let (mut random, is_over) = (random.fork(), Arc::new(AtomicBool::new(false)));
        let ends = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let mut follower = Follower::default();
            while !ends.load(Relaxed) {
                let client = &clients[random.usize(..clients.len())];
                follower.follow(client, "&wait=1&limit=20", random.bool());
            }
            follower
        });
        Self { is_over, thread }
    }

    /// Compares the copy with the robots of each of the servers.
    pub(crate) fn stop(self, servers: &[&Server]) {
        self.is_over.store(true, Relaxed);
        let follower = self.thread.join();
        let follower = follower.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let mut followers = [follower];
        for server in servers {
            assert_copies(server, &mut followers);
        }
    }
}

/// Follows until there are no more changes, and compares the copies with the catalogue. A database may still execute a change
/// of a server that was killed.
pub(crate) fn assert_copies(server: &Server, followers: &mut [Follower]) {
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
