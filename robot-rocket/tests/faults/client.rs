//! One client: it adds, changes and deletes robots and reads them in every way, at random.

use std::{
    ops::ControlFlow,
    sync::{Arc, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use robot_core::conformance::{Answer, Call, Client as _, TcpClient};

use crate::{
    judge::LIST,
    ledger::{Extent, Read, Span, Write},
    look::{Look, Row, added, found, listed},
    told::Told,
    workload::Shared,
};

/// From how many robots on a client deletes more than it adds.
const ENOUGH: usize = 16;

/// How many names there are that clients compete for.
const SHARED_NAMES: u64 = 8;

/// What may be at the end of a name.
const TAILS: &[&str] = &["", " ", "é", " e\u{301}", "🤖🤖", "%_\\*", "'\"<&>", "\t\n"];

/// A client of one server, until that ends or nobody wants more calls.
pub(crate) struct Client {
    pub(crate) number: usize,
    pub(crate) http: TcpClient,
    pub(crate) random: Rng,
    pub(crate) shared: Arc<Shared>,
    /// The robots that nobody else changes.
    pub(crate) robots: Vec<Row>,
}

/// A call that came to its end.
struct Called {
    told: Told,
    /// What was answered, where it was done.
    answer: Option<Answer>,
    span: Span,
}

impl Called {
    fn of(&self, look: Option<Look>) -> Write {
        Write {
            look,
            span: self.span,
            told: self.told,
        }
    }

    /// Whether the server is there for another call.
    fn end(&self) -> ControlFlow<()> {
        match self.told {
            Told::Lost | Told::Away => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

impl Client {
    pub(crate) fn work(mut self) {
        while !self.shared.is_over.load(Ordering::Relaxed) && self.act().is_continue() {
            // All clients, the server and other tests share a few cores.
            thread::sleep(Duration::from_micros(self.random.u64(..4000)));
        }
    }

    fn act(&mut self) -> ControlFlow<()> {
        let surplus = if self.robots.len() > ENOUGH { 5 } else { 0 };
        match (self.robots.is_empty(), self.random.u8(..20 + surplus)) {
            (true, _) | (_, 0..7) => self.add(),
            (_, 7..11) => self.replace(),
            (_, 13..16) => self.get(),
            (_, 16..18) => self.search(),
            (_, 18..20) => self.read(LIST, Extent::Containing(String::new())),
            _ => self.delete(),
        }
    }

    fn add(&mut self) -> ControlFlow<()> {
        let look = self.wish(None);
        let called = self.write("POST", "/api/robots", &look.body());
        let answer = called.answer.as_ref();
        let id = answer.map(|answer| added(answer, &look));
        self.robots.extend(id.map(|id| (id, look.clone())));
        self.shared.ledger().add(id, called.of(Some(look)));
        called.end()
    }

    fn replace(&mut self) -> ControlFlow<()> {
        let chosen = self.random.usize(..self.robots.len());
        let (id, old) = self.robots[chosen].clone();
        let look = self.wish(Some(&old.name));
        let called = self.write("PUT", &format!("/api/robots/{id}"), &look.body());
        if called.told == Told::Done {
            self.robots[chosen].1 = look.clone();
        } else {
            self.leave_where_in_doubt(chosen, called.told);
        }
        self.shared.ledger().change(id, called.of(Some(look)));
        called.end()
    }

    fn delete(&mut self) -> ControlFlow<()> {
        let chosen = self.random.usize(..self.robots.len());
        let (id, _) = self.robots[chosen];
        let called = self.write("DELETE", &format!("/api/robots/{id}"), "");
        if called.told == Told::Done {
            self.robots.remove(chosen);
        } else {
            self.leave_where_in_doubt(chosen, called.told);
        }
        self.shared.ledger().change(id, called.of(None));
        called.end()
    }

    /// Leaves a robot alone of which it does not know how it is.
    fn leave_where_in_doubt(&mut self, chosen: usize, told: Told) {
        if told.is_doubtful() || told == Told::Missing {
            self.robots.remove(chosen);
        }
    }

    /// How a robot is to be: with its old name, one that nobody else has, or one that others
    /// want, too.
    fn wish(&mut self, old: Option<&str>) -> Look {
        let year = self.shared.ledger().year();
        let random = &mut self.random;
        let name = match (random.u8(..6), old) {
            (0..2, Some(old)) => old.to_owned(),
            (2..4, _) => format!("shared {}", random.u64(..SHARED_NAMES)),
            _ => {
                let tail = TAILS[random.usize(..TAILS.len())].repeat(random.usize(..8));
                format!("client {} robot {year}{tail}", self.number)
            }
        };
        let kind = ["droid", "mechanical", "virtual"][random.usize(..3)].to_owned();
        Look { name, kind, year }
    }

    /// Reads one of its robots, or one of the newest, which another client may be changing.
    fn get(&mut self) -> ControlFlow<()> {
        let (own, _) = self.robots[self.random.usize(..self.robots.len())];
        let age = self.random.usize(..40);
        let other = self.shared.ledger().robots.keys().nth_back(age).copied();
        let id = other.unwrap_or(own);
        let target = format!("/api/robots/{id}?fields=id,name,type,year");
        self.read(&target, Extent::One(id))
    }

    /// Searches for a part that an index finds, or for one that takes reading every name.
    fn search(&mut self) -> ControlFlow<()> {
        let part = match self.random.u8(..4) {
            0 => format!("client {} ", self.number),
            1 => "shared".to_owned(),
            2 => format!("robot {}", self.random.u8(1..10)),
            _ => "7".to_owned(),
        };
        let encoded = part.replace(' ', "%20");
        let target = format!("/api/robots/search/{encoded}?fields=id,name,type,year");
        self.read(&target, Extent::Containing(part))
    }

    fn read(&mut self, target: &str, of: Extent) -> ControlFlow<()> {
        let called = self.call("GET", target, "");
        let told = called.told;
        assert!(
            matches!(
                told,
                Told::Done | Told::Refused | Told::Failed | Told::Lost | Told::Away
            ),
            "a read of {target} was told {told:?}"
        );
        self.shared.ledger().count_read(self.number, told);
        if let Some(answer) = &called.answer {
            let seen = match of {
                Extent::One(_) => found(answer).into_iter().collect(),
                Extent::Containing(_) => listed(answer),
            };
            let span = called.span;
            self.shared.ledger().reads.push(Read { span, of, seen });
        }
        called.end()
    }

    fn write(&mut self, method: &str, target: &str, body: &str) -> Called {
        let called = self.call(method, target, body);
        self.shared.ledger().count_write(self.number, called.told);
        called
    }

    fn call(&mut self, method: &str, target: &str, body: &str) -> Called {
        let what = format!("{method} {target} {body}");
        let call = Call {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: Vec::new(),
            body: body.as_bytes().to_vec(),
        };
        let asked = Instant::now();
        let answer = self.http.send(&call);
        let answered = Instant::now();
        let told = Told::by(&answer, &what);
        let may_end = self.shared.server_may_end.load(Ordering::Relaxed);
        assert!(
            may_end || !matches!(told, Told::Lost | Told::Away),
            "{what}: {answer:?}"
        );
        Called {
            told,
            answer: answer.ok().filter(|_| told == Told::Done),
            span: Span { asked, answered },
        }
    }
}
