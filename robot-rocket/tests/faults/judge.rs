//! Whether what clients were told is true.

use std::{
    collections::{BTreeMap, HashMap},
    time::Instant,
};

use crate::{
    calls::call,
    ledger::{Conflict, Extent, Ledger, Read, Span, Write},
    look::{Look, Row, listed},
    process::Server,
    told::Told,
};

/// The list of all robots, with all there is to know of them.
pub(crate) const LIST: &str = "/api/robots?fields=id,name,type,year";

/// How many objections a failing test shows.
const SHOWN: usize = 8;

/// A time in which a robot had a name for certain.
#[derive(Debug)]
struct Hold {
    id: u64,
    from: Instant,
    until: Option<Instant>,
}

impl Hold {
    /// Whether two robots cannot both have had the name.
    fn clashes(&self, other: &Self) -> bool {
        self.id != other.id
            && self.until.is_none_or(|until| until > other.from)
            && other.until.is_none_or(|until| until > self.from)
    }
}

/// The robots that a server lists, and when; else what it says.
pub(crate) fn try_list(server: &Server) -> Result<(Vec<Row>, Span), String> {
    let asked = Instant::now();
    let answer = call(&server.client(), "GET", LIST, "");
    let answered = Instant::now();
    match answer.status {
        200 => Ok((listed(&answer), Span { asked, answered })),
        _ => Err(answer.text()),
    }
}

/// Fails where there are objections, and shows the first of them.
pub(crate) fn nobody_objects(after: &str, objections: &[String]) {
    let shown = &objections[..objections.len().min(SHOWN)];
    let count = objections.len();
    assert!(count == 0, "{count} objections after {after}: {shown:#?}");
}

impl Ledger {
    /// Fails unless all that clients were told and have seen goes together with what a server
    /// lists now, while no client is at work. The ledger goes on from that.
    pub(crate) fn is_true_of(&mut self, server: &Server) {
        let (rows, span) = try_list(server).unwrap_or_else(|text| panic!("no list: {text}"));
        self.reads.push(Read {
            span,
            of: Extent::Containing(String::new()),
            seen: rows.clone(),
        });
        nobody_objects(&self.to_string(), &self.objections());
        self.settle(rows, span);
    }

    /// What is wrong with what clients have seen.
    pub(crate) fn objections(&self) -> Vec<String> {
        let mut keys = HashMap::new();
        // What was read last, when all was over, is what the most depends on.
        let reads = self.reads.iter().rev();
        let reads = reads.flat_map(|read| self.objections_to(read, &mut keys));
        let mut objections: Vec<_> = reads.collect();
        let conflicts = self.conflicts.iter();
        let unfounded = conflicts.filter(|conflict| !self.is_founded(conflict));
        objections.extend(unfounded.map(|conflict| format!("the name was free: {conflict:?}")));
        objections.extend(self.shared_names());
        let twice = self.ids_given_twice.iter();
        objections.extend(twice.map(|id| format!("the id {id} was given twice")));
        objections
    }

    /// What is wrong with one read. The ids that strays were seen with are kept.
    fn objections_to(&self, read: &Read, keys: &mut HashMap<u64, u64>) -> Vec<String> {
        let mut objections = Vec::new();
        for (id, look) in &read.seen {
            let is_right = match self.robots.get(id) {
                Some(writes) => {
                    possible(writes, read.span).any(|other| other == Some(look))
                        || self.is_lost(look, read.span, writes)
                }
                None => {
                    self.is_stray(look, read.span) && *keys.entry(look.year).or_insert(*id) == *id
                }
            };
            if !is_right {
                objections.push(format!(
                    "robot {id} was seen as {look:?} ({:?}), of a write that was told {:?}; its writes: {:?}",
                    read.span,
                    self.told_of(look),
                    self.robots.get(id)
                ));
            }
        }
        objections.extend(self.missing_in(read));
        objections
    }

    /// The robots that a read should have seen and has not.
    fn missing_in(&self, read: &Read) -> Vec<String> {
        let seen: BTreeMap<_, _> = read.seen.iter().map(|(id, look)| (*id, look)).collect();
        let is_outside = |look: Option<&Look>| match (&read.of, look) {
            (_, None) => true,
            (Extent::One(_), Some(_)) => false,
            (Extent::Containing(part), Some(look)) => !look.name.contains(part),
        };
        let asked_for = |id: u64| match read.of {
            Extent::One(one) => one == id,
            Extent::Containing(_) => true,
        };
        self.robots
            .iter()
            .filter(|(id, _)| asked_for(**id) && !seen.contains_key(*id))
            .filter(|(_, writes)| !possible(writes, read.span).any(is_outside))
            .map(|(id, writes)| {
                format!(
                    "robot {id} was not seen by a read of {:?}; its writes: {writes:?}",
                    read.of
                )
            })
            .collect()
    }

    /// Whether this is of an addition that may have been made by then.
    fn is_stray(&self, look: &Look, span: Span) -> bool {
        self.strays
            .iter()
            .any(|write| write.look.as_ref() == Some(look) && write.span.asked <= span.answered)
    }

    /// Whether this is of an addition that was seen and lost, and its id given to another robot.
    fn is_lost(&self, look: &Look, span: Span, writes: &[Write]) -> bool {
        let first = writes.first();
        self.is_stray(look, span)
            && self.unsynced_lost.is_some_and(|moment| {
                span.asked < moment && first.is_some_and(|first| first.span.answered > moment)
            })
    }

    /// Whether another robot may have had the name.
    fn is_founded(&self, conflict: &Conflict) -> bool {
        let has_name = |look: Option<&Look>| look.is_some_and(|look| look.name == conflict.name);
        let others = self.robots.iter();
        let mut others = others.filter(|(id, _)| conflict.robot != Some(**id));
        others.any(|(_, writes)| possible(writes, conflict.span).any(has_name))
            || self.strays.iter().any(|write| {
                has_name(write.look.as_ref()) && write.span.asked <= conflict.span.answered
            })
    }

    /// Names that two robots had at a time, for certain.
    fn shared_names(&self) -> Vec<String> {
        let mut holds: HashMap<&str, Vec<Hold>> = HashMap::new();
        for (id, writes) in &self.robots {
            for (number, write) in writes.iter().enumerate() {
                if let (Some(look), Told::Done) = (&write.look, write.told) {
                    holds.entry(&look.name).or_default().push(Hold {
                        id: *id,
                        from: write.span.answered,
                        until: writes.get(number + 1).map(|next| next.span.asked),
                    });
                }
            }
        }
        let mut shared = Vec::new();
        for (name, holds) in holds {
            for (number, hold) in holds.iter().enumerate() {
                let clashes = holds[..number].iter().filter(|other| other.clashes(hold));
                shared.extend(clashes.map(|other| format!("{name}: {other:?} and {hold:?}")));
            }
        }
        shared
    }

    /// What was acknowledged of the calls made after a moment, and is not in these robots of a
    /// file: the promise where files are taken away or exchanged.
    pub(crate) fn lost_since(&self, moment: Instant, rows: &[Row]) -> Vec<String> {
        let is_there = |look: &Look| rows.iter().any(|(_, row)| row == look);
        let mut lost = Vec::new();
        for (id, writes) in &self.robots {
            let Some((last, earlier)) = writes.split_last() else {
                continue;
            };
            if last.told != Told::Done || last.span.asked < moment {
                continue;
            }
            let is_kept = match &last.look {
                Some(look) => is_there(look),
                None => !earlier
                    .iter()
                    .filter_map(|write| write.look.as_ref())
                    .any(is_there),
            };
            if !is_kept {
                lost.push(format!(
                    "robot {id} is not as it was acknowledged: {last:?}"
                ));
            }
        }
        lost
    }

    /// What is among these robots of a file although the write of it was refused.
    pub(crate) fn stored_in_secret(&self, rows: &[Row]) -> Vec<String> {
        let is_refused = |look: &Look| {
            let told = self.told_of(look);
            told.is_some_and(|told| told != Told::Done && !told.is_doubtful())
        };
        let secret = rows.iter().filter(|(_, look)| is_refused(look));
        secret
            .map(|(id, look)| format!("robot {id} is there as {look:?}, which was refused"))
            .collect()
    }
}

/// How a robot may have looked within a span: as the last write made it that was acknowledged
/// before, or a later one that was asked for before the end.
fn possible(writes: &[Write], span: Span) -> impl Iterator<Item = Option<&Look>> {
    let is_past = |write: &Write| write.told == Told::Done && write.span.answered <= span.asked;
    let past = writes.iter().rposition(is_past);
    let before = past.map_or(Some(None), |_| None);
    let later = writes[past.unwrap_or_default()..].iter();
    let later = later.filter(move |write| write.span.asked <= span.answered);
    before
        .into_iter()
        .chain(later.map(|write| write.look.as_ref()))
}
