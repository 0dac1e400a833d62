//! Servers over one database say the same, whoever asks which of them.

use std::{
    collections::HashSet,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use robot_core::conformance::{Answer, TcpClient};
use serde_json::{Value, json};

use crate::{answers::id, calls::call, process::Server};

/// How many clients there are, who compete for how many names.
const CLIENTS: u64 = 8;
const NAMES: u64 = 6;

/// A span of time.
type Span = (Instant, Instant);

/// A name that a robot had.
struct Hold {
    name: String,
    client: u64,
    /// When it was asked for and got.
    taken: Span,
    /// When it was asked to be given up, and was.
    given_up: Option<Span>,
}

/// A name that was refused as one that another robot has.
struct Refusal {
    name: String,
    client: u64,
    asked: Span,
}

/// All that clients were told.
#[derive(Default)]
struct History {
    ids: HashSet<String>,
    holds: Vec<Hold>,
    refusals: Vec<Refusal>,
}

/// A client, who has one robot at a time, and looks at it through another server than the one
/// that changed it.
struct Client<'a> {
    number: u64,
    random: u64,
    servers: Vec<TcpClient>,
    history: &'a Mutex<History>,
    /// Its robot: the id, and the hold on its name.
    robot: Option<(String, Hold)>,
}

/// Lets clients add, rename, change and delete robots of few names, each so many times, by all
/// of the servers. Whatever one server has acknowledged, the others see at once; no two robots
/// have a name at a time, and none is refused a name that is free; no id comes twice.
pub(crate) fn prevails(servers: &[&Server], times: usize) {
    let history = Mutex::new(History::default());
    thread::scope(|scope| {
        for number in 0..CLIENTS {
            let mut client = Client {
                number,
                random: number + 1,
                servers: servers.iter().map(|server| server.client()).collect(),
                history: &history,
                robot: None,
            };
            scope.spawn(move || {
                for _ in 0..times {
                    client.act();
                }
                client.delete();
            });
        }
    });
    let history = history.into_inner().unwrap();
    history.is_consistent();
    println!(
        "{} robots had {} names, and {} were refused one",
        history.ids.len(),
        history.holds.len(),
        history.refusals.len()
    );
    assert!(history.ids.len() > 20 && history.refusals.len() > 20);
}

impl Client<'_> {
    fn act(&mut self) {
        let name = format!("name {}", self.random_below(NAMES));
        match (self.robot.is_some(), self.random_below(4)) {
            (false, _) => self.add(name),
            (true, 0) => self.delete(),
            (true, 1) => self.rename(None),
            (true, _) => self.rename(Some(name)),
        }
        if self.random_below(4) == 0 {
            self.nobody_is_listed_twice();
        }
    }

    fn add(&mut self, name: String) {
        let year = self.random_below(3000);
        let server = self.any_server();
        let body = json!({"name": name, "type": "droid", "year": year});
        let (answer, asked) = self.send(server, "POST", "/api/robots", &body);
        if self.is_refused(&answer, &name, asked) {
            return;
        }
        assert_eq!(answer.status, 201, "{}", answer.text());
        let id = id(&answer);
        let is_new = self.history.lock().unwrap().ids.insert(id.clone());
        assert!(is_new, "the id {id} was given twice");
        self.sees(server, &id, Some(&body));
        self.robot = Some((id, self.hold(name, asked)));
    }

    /// Changes the year, and the name if there is another one.
    fn rename(&mut self, name: Option<String>) {
        let (id, mut hold) = self.robot.take().unwrap();
        let new = name.filter(|name| *name != hold.name);
        let year = self.random_below(3000);
        let server = self.any_server();
        let wish = new.as_ref().unwrap_or(&hold.name);
        let body = json!({"name": wish, "type": "virtual", "year": year});
        let (answer, asked) = self.send(server, "PUT", &format!("/api/robots/{id}"), &body);
        if !self.is_refused(&answer, wish, asked) {
            assert_eq!(answer.status, 200, "{}", answer.text());
            self.sees(server, &id, Some(&body));
            if let Some(new) = new {
                hold.given_up = Some(asked);
                self.history.lock().unwrap().holds.push(hold);
                hold = self.hold(new, asked);
            }
        }
        self.robot = Some((id, hold));
    }

    fn delete(&mut self) {
        let Some((id, mut hold)) = self.robot.take() else {
            return;
        };
        let server = self.any_server();
        let target = format!("/api/robots/{id}");
        let (answer, asked) = self.send(server, "DELETE", &target, &Value::Null);
        assert_eq!(answer.status, 200, "{}", answer.text());
        self.sees(server, &id, None);
        hold.given_up = Some(asked);
        self.history.lock().unwrap().holds.push(hold);
    }

    fn hold(&self, name: String, taken: Span) -> Hold {
        Hold {
            name,
            client: self.number,
            taken,
            given_up: None,
        }
    }

    /// Whether a name was refused, which is noted.
    fn is_refused(&self, answer: &Answer, name: &str, asked: Span) -> bool {
        let is_refused = answer.status == 409;
        if is_refused {
            self.history.lock().unwrap().refusals.push(Refusal {
                name: name.to_owned(),
                client: self.number,
                asked,
            });
        }
        is_refused
    }

    /// Looks at its robot through the other servers.
    fn sees(&self, server: usize, id: &str, robot: Option<&Value>) {
        let target = format!("/api/robots/{id}?fields=name,type,year");
        for (number, other) in self.servers.iter().enumerate() {
            if number == server {
                continue;
            }
            let answer = call(other, "GET", &target, "");
            assert_eq!(answer.status, 200, "{}", answer.text());
            let seen: Value = serde_json::from_slice(&answer.body).unwrap();
            assert_eq!(
                seen.get("data"),
                robot,
                "server {number} of what server {server} has acknowledged: {}",
                answer.text()
            );
        }
    }

    fn nobody_is_listed_twice(&mut self) {
        let server = self.any_server();
        // There may be other robots, so many that a list of all has several pages, between which
        // one may be renamed.
        let target = "/api/robots/search/name%20";
        let answer = call(&self.servers[server], "GET", target, "");
        let robots: Vec<Value> = serde_json::from_slice(&answer.body).unwrap();
        for member in ["id", "name"] {
            let values: HashSet<_> = robots.iter().map(|robot| &robot[member]).collect();
            assert_eq!(values.len(), robots.len(), "{}", answer.text());
        }
    }

    fn send(&self, server: usize, method: &str, target: &str, body: &Value) -> (Answer, Span) {
        let asked = Instant::now();
        let answer = call(&self.servers[server], method, target, &body.to_string());
        (answer, (asked, Instant::now()))
    }

    fn any_server(&mut self) -> usize {
        let count = u64::try_from(self.servers.len()).unwrap();
        usize::try_from(self.random_below(count)).unwrap()
    }

    /// Marsaglia's xorshift, the same in each run.
    fn random_below(&mut self, end: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % end
    }
}

impl Hold {
    /// When the robot must have had the name.
    fn certain(&self) -> Span {
        (self.taken.1, self.given_up.unwrap().0)
    }

    /// When the robot may have had the name.
    fn possible(&self) -> Span {
        (self.taken.0, self.given_up.unwrap().1)
    }
}

impl History {
    fn is_consistent(&self) {
        for (number, hold) in self.holds.iter().enumerate() {
            let clash = self.holds[..number]
                .iter()
                .find(|other| other.name == hold.name && meet(other.certain(), hold.certain()));
            assert!(clash.is_none(), "two robots had the name {}", hold.name);
        }
        for refusal in &self.refusals {
            let is_right = self.holds.iter().any(|hold| {
                hold.name == refusal.name
                    && hold.client != refusal.client
                    && meet(hold.possible(), refusal.asked)
            });
            assert!(is_right, "{} was refused while it was free", refusal.name);
        }
    }
}

/// Whether two spans have a moment in common.
fn meet(one: Span, other: Span) -> bool {
    one.0.max(other.0) + Duration::from_nanos(1) < one.1.min(other.1)
}
