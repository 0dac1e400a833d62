//! What a thousand times as many robots cost each kind of request: one connection, which sends
//! the kinds in turn and takes any robot, so that the number of robots stays the same.

use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::{
    http::Client,
    plan::{Plan, UNTIL_THE_LOG_HAS_GROWN, url},
    requests,
    rounds::{Bound, Series, Unit, thousands},
    subject::Subject,
    table::Row,
};

/// How many robots the small store has.
const FEW: u64 = 1000;

const KINDS: [&str; 4] = ["GET by id", "POST", "PUT", "DELETE"];

/// A figure of each kind.
type OfEach = [Series; KINDS.len()];

pub(super) fn over_sqlite(plan: &Plan) -> Result<Vec<Row>, String> {
    let mut large = User::start(plan, plan.many)?;
    let mut small = User::start(plan, FEW)?;
    take_turns(&mut large, &mut small, UNTIL_THE_LOG_HAS_GROWN)?;
    let [mut many, mut few]: [OfEach; 2] = Default::default();
    for round in 0..plan.rounds {
        let [of_many, of_few] = take_turns(&mut large, &mut small, plan.run * 2)?;
        add_medians(&mut many, &of_many);
        add_medians(&mut few, &of_few);
        plan.say(&format!("round {} of {}", round + 1, plan.rounds));
    }
    let row = |(kind, (many, few)): (&&str, (&Series, &Series))| {
        Row::compared(
            format!(
                "{kind}, SQLite, {} robots: median time",
                thousands(plan.many)
            ),
            Unit::Time,
            many,
            ("1,000 robots", few),
            &many.over(few),
            Bound::AtMost(2.0),
        )
    };
    Ok(KINDS.iter().zip(many.iter().zip(&few)).map(row).collect())
}

/// Lets both users work for some time, by turns of one request of each kind: a sync is fast or
/// slow for seconds at a time, as whatever else uses the disk comes and goes.
fn take_turns(one: &mut User, other: &mut User, length: Duration) -> Result<[OfEach; 2], String> {
    let mut times: [OfEach; 2] = Default::default();
    let end = Instant::now() + length;
    while Instant::now() < end {
        one.work(&mut times[0])?;
        other.work(&mut times[1])?;
    }
    Ok(times)
}

fn add_medians(all: &mut OfEach, round: &OfEach) {
    for (all, round) in all.iter_mut().zip(round) {
        all.push(round.median());
    }
}

/// The user of one server.
struct User {
    subject: Subject,
    client: Client,
    /// The ids of all robots.
    ids: Vec<u64>,
    chance: fastrand::Rng,
}

impl User {
    fn start(plan: &Plan, robots: u64) -> Result<Self, String> {
        let subject = Subject::start(&url(&plan.own_store(robots)?), &[])?;
        Ok(Self {
            client: subject.client()?,
            subject,
            ids: (1..=robots).collect(),
            // The same robots for both stores, as far as they have them.
            chance: fastrand::Rng::with_seed(1),
        })
    }

    /// Sends a request of each kind, and notes how long it took.
    fn work(&mut self, times: &mut OfEach) -> Result<(), String> {
        for (kind, times) in times.iter_mut().enumerate() {
            times.push(self.request(kind)?);
        }
        Ok(())
    }

    /// Sends a request of a kind; how many seconds it took.
    fn request(&mut self, kind: usize) -> Result<f64, String> {
        let address = self.subject.address;
        let index = self.chance.usize(..self.ids.len());
        let request = match KINDS[kind] {
            "POST" => requests::post(address),
            "PUT" => requests::put(address, self.ids[index]),
            "DELETE" => requests::delete(address, self.ids.swap_remove(index)),
            _ => requests::get(address, &requests::robot(self.ids[index])),
        };
        let mut body = Vec::new();
        let exchange = self
            .client
            .exchange(&request, |piece| body.extend_from_slice(piece))?;
        exchange.succeeded()?;
        if KINDS[kind] == "POST" {
            self.ids.push(added(&body)?);
        }
        Ok(exchange.whole.as_secs_f64())
    }
}

/// The id of the robot that was added.
fn added(body: &[u8]) -> Result<u64, String> {
    #[derive(Deserialize)]
    struct Answer<'a> {
        #[serde(borrow)]
        data: Data<'a>,
    }
    #[derive(Deserialize)]
    struct Data<'a> {
        id: &'a str,
    }
    let answer: Answer<'_> = serde_json::from_slice(body)
        .map_err(|error| format!("the answer to a POST cannot be read: {error}"))?;
    let id = answer.data.id.parse();
    id.map_err(|_| "the answer to a POST has no id".to_owned())
}
