//! Client of the workload: adds, changes, deletes and reads robots at random.

use std::{
    ops::ControlFlow,
    sync::{Arc, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use robot_core::conformance::{Answer, Call, Client as _, TcpClient};

use super::{
    Shared,
    check::LIST,
    ledger::{Interval, Read, Selection, Write},
    outcome::Outcome,
    robot::{Robot, Row, added_id, found, listed},
};

/// The number of robots above which a client deletes more than it adds.
const ENOUGH_ROBOTS: usize = 16;

/// The number of names that clients compete for.
const SHARED_NAMES: u64 = 8;

/// Suffixes of names.
const SUFFIXES: &[&str] = &["", " ", "é", " e\u{301}", "🤖🤖", "%_\\*", "'\"<&>", "\t\n"];

/// A client, which runs until the workload or its server ends.
pub(crate) struct Client {
    pub(crate) number: usize,
    pub(crate) server: TcpClient,
    pub(crate) random: Rng,
    pub(crate) shared: Arc<Shared>,
    /// The robots that only this client changes.
    pub(crate) robots: Vec<Row>,
}

/// A call that has ended.
pub(crate) struct Called {
    pub(crate) outcome: Outcome,
    /// The answer, if the call was done.
    pub(crate) answer: Option<Answer>,
    pub(crate) interval: Interval,
}

impl Called {
    pub(crate) fn write(&self, robot: Option<Robot>) -> Write {
        Write {
            robot,
            interval: self.interval,
            outcome: self.outcome,
        }
    }

    /// Breaks if the server has ended.
    fn flow(&self) -> ControlFlow<()> {
        match self.outcome {
            Outcome::ConnectionLost | Outcome::ConnectionRefused => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

impl Client {
    pub(crate) fn run(mut self) {
        while !self.shared.is_over.load(Ordering::Relaxed) && self.act().is_continue() {
            // Leave time on the CPUs to other clients, the server and other tests.
            thread::sleep(Duration::from_micros(self.random.u64(..4000)));
        }
    }

    fn act(&mut self) -> ControlFlow<()> {
        let surplus = if self.robots.len() > ENOUGH_ROBOTS {
            5
        } else {
            0
        };
        match (self.robots.is_empty(), self.random.u8(..20 + surplus)) {
            (true, _) | (_, 0..7) => self.add(),
            (_, 7..11) => self.replace(),
            (_, 13..16) => self.get(),
            (_, 16..18) => self.search(),
            (_, 18..20) => self.read(LIST, Selection::all()),
            _ => self.delete(),
        }
    }

    fn add(&mut self) -> ControlFlow<()> {
        let robot = self.random_robot(None);
        let called = self.write("POST", "/api/robots", &robot.body());
        let answer = called.answer.as_ref();
        let id = answer.map(|answer| added_id(&answer.body, &robot));
        self.robots.extend(id.map(|id| (id, robot.clone())));
        let write = called.write(Some(robot));
        self.shared.ledger().record_addition(id, write);
        called.flow()
    }

    fn replace(&mut self) -> ControlFlow<()> {
        let chosen = self.random.usize(..self.robots.len());
        let (id, old) = self.robots[chosen].clone();
        let robot = self.random_robot(Some(&old.name));
        let called = self.write("PUT", &format!("/api/robots/{id}"), &robot.body());
        if called.outcome == Outcome::Done {
            self.robots[chosen].1 = robot.clone();
        } else {
            self.forget_if_uncertain(chosen, called.outcome);
        }
        let write = called.write(Some(robot));
        self.shared.ledger().record_change(id, write);
        called.flow()
    }

    fn delete(&mut self) -> ControlFlow<()> {
        let chosen = self.random.usize(..self.robots.len());
        let (id, _) = self.robots[chosen];
        let called = self.write("DELETE", &format!("/api/robots/{id}"), "");
        if called.outcome == Outcome::Done {
            self.robots.remove(chosen);
        } else {
            self.forget_if_uncertain(chosen, called.outcome);
        }
        self.shared.ledger().record_change(id, called.write(None));
        called.flow()
    }

    /// Stops changing a robot whose state is unknown.
    fn forget_if_uncertain(&mut self, chosen: usize, outcome: Outcome) {
        if outcome.is_uncertain() || outcome == Outcome::NotFound {
            self.robots.remove(chosen);
        }
    }

    /// A robot with the old name, a name of this client, or one that other clients use, too.
    fn random_robot(&mut self, old: Option<&str>) -> Robot {
        let year = self.shared.ledger().unused_year();
        let random = &mut self.random;
        let name = match (random.u8(..6), old) {
            (0..2, Some(old)) => old.to_owned(),
            (2..4, _) => format!("shared {}", random.u64(..SHARED_NAMES)),
            _ => {
                let suffix = SUFFIXES[random.usize(..SUFFIXES.len())].repeat(random.usize(..8));
                format!("client {} robot {year}{suffix}", self.number)
            }
        };
        let kind = ["droid", "mechanical", "virtual"][random.usize(..3)].to_owned();
        Robot { name, kind, year }
    }

    /// Reads one of its own robots, or a recent one that another client may be changing.
    fn get(&mut self) -> ControlFlow<()> {
        let (own, _) = self.robots[self.random.usize(..self.robots.len())];
        let age = self.random.usize(..40);
        let recent = self.shared.ledger().history.keys().nth_back(age).copied();
        let id = recent.unwrap_or(own);
        let target = format!("/api/robots/{id}?fields=id,name,type,year");
        self.read(&target, Selection::Id(id))
    }

    /// Searches for a text that an index finds, or for one that takes a full scan.
    fn search(&mut self) -> ControlFlow<()> {
        let part = match self.random.u8(..4) {
            0 => format!("client {} ", self.number),
            1 => "shared".to_owned(),
            2 => format!("robot {}", self.random.u8(1..10)),
            _ => "7".to_owned(),
        };
        let encoded = part.replace(' ', "%20");
        let target = format!("/api/robots/search/{encoded}?fields=id,name,type,year");
        self.read(&target, Selection::NameContains(part))
    }

    fn read(&mut self, target: &str, selection: Selection) -> ControlFlow<()> {
        let called = self.call("GET", target, "");
        let outcome = called.outcome;
        assert!(
            !matches!(
                outcome,
                Outcome::Unknown | Outcome::NameTaken | Outcome::NotFound
            ),
            "a read of {target} has the outcome {outcome:?}"
        );
        self.shared.count_read(self.number, outcome);
        if let Some(answer) = &called.answer {
            let rows = match selection {
                Selection::Id(_) => found(answer).into_iter().collect(),
                Selection::NameContains(_) => listed(answer),
            };
            self.shared.ledger().reads.push(Read {
                interval: called.interval,
                selection,
                rows,
            });
        }
        called.flow()
    }

    fn write(&self, method: &str, target: &str, body: &str) -> Called {
        let called = self.call(method, target, body);
        self.shared.count_write(self.number, called.outcome);
        called
    }

    fn call(&self, method: &str, target: &str, body: &str) -> Called {
        let called = send(&self.server, method, target, body);
        let may_end = self.shared.server_may_end.load(Ordering::Relaxed);
        assert!(
            may_end || called.flow().is_continue(),
            "{method} {target} {body}: {:?}",
            called.outcome
        );
        called
    }
}

/// Sends a call and classifies its outcome.
pub(crate) fn send(server: &TcpClient, method: &str, target: &str, body: &str) -> Called {
    let call = Call::new(method, target, &[], body);
    let start = Instant::now();
    let answer = server.send(&call);
    let end = Instant::now();
    let outcome = Outcome::of(&answer, &format!("{method} {target} {body}"));
    Called {
        outcome,
        answer: answer.ok().filter(|_| outcome == Outcome::Done),
        interval: Interval { start, end },
    }
}
