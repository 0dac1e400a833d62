//! Consistency check: whether the outcomes and reads in a ledger are possible.

use std::{
    collections::{BTreeMap, HashMap},
    time::Instant,
};

use crate::{calls::call, process::Server};

use super::{
    ledger::{Conflict, Interval, Ledger, Read, Selection, Write},
    outcome::Outcome,
    robot::{Robot, Row, listed},
};

/// The list of all robots with all their fields.
pub(crate) const LIST: &str = "/api/robots?fields=id,name,type,year";

/// How many violations a failing test shows.
const SHOWN: usize = 8;

/// Lists all robots of a server; if that fails, returns the body of the answer.
pub(crate) fn try_list(server: &Server) -> Result<(Vec<Row>, Interval), String> {
    let start = Instant::now();
    let answer = call(&server.client(), "GET", LIST, "");
    let end = Instant::now();
    match answer.status {
        200 => Ok((listed(&answer), Interval { start, end })),
        _ => Err(answer.text()),
    }
}

/// Panics with the first of these violations, if there are any.
#[track_caller]
pub(crate) fn assert_no_violations(context: &str, violations: &[String]) {
    let shown = &violations[..violations.len().min(SHOWN)];
    let count = violations.len();
    assert!(count == 0, "{count} violations, {context}: {shown:#?}");
}

impl Ledger {
    /// Asserts that all outcomes and reads are consistent with what a server lists now, while no
    /// client is running. The ledger continues from that list.
    #[track_caller]
    pub(crate) fn assert_consistent_with(&mut self, server: &Server) {
        let (rows, interval) =
            try_list(server).unwrap_or_else(|text| panic!("the robots cannot be listed: {text}"));
        self.reads.push(Read {
            interval,
            selection: Selection::all(),
            rows: rows.clone(),
        });
        assert_no_violations(&self.to_string(), &self.violations());
        self.continue_from(rows, interval);
    }

    fn violations(&self) -> Vec<String> {
        let mut ids_by_year = HashMap::new();
        // Start with the last read, which decides about most writes.
        let reads = self.reads.iter().rev();
        let reads = reads.flat_map(|read| self.violations_of_read(read, &mut ids_by_year));
        let mut violations: Vec<_> = reads.collect();
        let conflicts = self.conflicts.iter();
        let unjustified = conflicts.filter(|conflict| !self.is_justified(conflict));
        violations.extend(unjustified.map(|conflict| format!("the name was free: {conflict:?}")));
        let twice = self.ids_assigned_twice.iter();
        violations.extend(twice.map(|id| format!("the id {id} was assigned twice")));
        violations
    }

    /// Violations of one read. `ids_by_year` keeps the ids that uncertain additions were read with.
    fn violations_of_read(&self, read: &Read, ids_by_year: &mut HashMap<u64, u64>) -> Vec<String> {
        let mut violations = Vec::new();
        for (id, robot) in &read.rows {
            let is_possible = match self.history.get(id) {
                Some(writes) => {
                    possible(writes, read.interval).any(|other| other == Some(robot))
                        || self.is_lost(robot, read.interval, writes)
                }
                None => {
                    self.is_uncertain_addition(robot, read.interval)
                        && *ids_by_year.entry(robot.year).or_insert(*id) == *id
                }
            };
            if !is_possible {
                violations.push(format!(
                    "robot {id} was read as {robot:?} ({:?}), of a write with outcome {:?}; its writes: {:?}",
                    read.interval,
                    self.outcome_of(robot),
                    self.history.get(id)
                ));
            }
        }
        violations.extend(self.missing_in(read));
        violations
    }

    /// The robots that a read should have returned and did not.
    fn missing_in(&self, read: &Read) -> Vec<String> {
        let found: BTreeMap<_, _> = read.rows.iter().map(|(id, robot)| (*id, robot)).collect();
        let is_not_selected = |robot: Option<&Robot>| match (&read.selection, robot) {
            (_, None) => true,
            (Selection::Id(_), Some(_)) => false,
            (Selection::NameContains(part), Some(robot)) => !robot.name.contains(part),
        };
        let is_requested = |id: u64| match read.selection {
            Selection::Id(one) => one == id,
            Selection::NameContains(_) => true,
        };
        self.history
            .iter()
            .filter(|(id, _)| is_requested(**id) && !found.contains_key(*id))
            .filter(|(_, writes)| !possible(writes, read.interval).any(is_not_selected))
            .map(|(id, writes)| {
                format!(
                    "robot {id} is missing in a read of {:?}; its writes: {writes:?}",
                    read.selection
                )
            })
            .collect()
    }

    /// Whether an uncertain addition may have stored this robot before the end of the interval.
    fn is_uncertain_addition(&self, robot: &Robot, interval: Interval) -> bool {
        self.uncertain_additions.iter().any(|write| {
            write.robot.as_ref() == Some(robot) && write.interval.start <= interval.end
        })
    }

    /// Whether an addition was read and then lost, and its id assigned to another robot.
    fn is_lost(&self, robot: &Robot, interval: Interval, writes: &[Write]) -> bool {
        let first = writes.first();
        self.is_uncertain_addition(robot, interval)
            && self.unsynced_lost.is_some_and(|moment| {
                interval.start < moment && first.is_some_and(|first| first.interval.end > moment)
            })
    }

    /// Whether another robot may have had the name.
    fn is_justified(&self, conflict: &Conflict) -> bool {
        let has_name =
            |robot: Option<&Robot>| robot.is_some_and(|robot| robot.name == conflict.name);
        let others = self.history.iter();
        let mut others = others.filter(|(id, _)| conflict.id != Some(**id));
        others.any(|(_, writes)| possible(writes, conflict.interval).any(has_name))
            || self.uncertain_additions.iter().any(|write| {
                has_name(write.robot.as_ref()) && write.interval.start <= conflict.interval.end
            })
    }

    /// Acknowledged writes since `moment` that are missing in these rows: what a server must not
    /// lose after its files were deleted or replaced.
    pub(crate) fn lost_since(&self, moment: Instant, rows: &[Row]) -> Vec<String> {
        let is_stored = |robot: &Robot| rows.iter().any(|(_, row)| row == robot);
        let mut lost = Vec::new();
        for (id, writes) in &self.history {
            let Some((last, earlier)) = writes.split_last() else {
                continue;
            };
            if last.outcome != Outcome::Done || last.interval.start < moment {
                continue;
            }
            let is_kept = match &last.robot {
                Some(robot) => is_stored(robot),
                None => !earlier
                    .iter()
                    .filter_map(|write| write.robot.as_ref())
                    .any(is_stored),
            };
            if !is_kept {
                lost.push(format!("an acknowledged write to robot {id}: {last:?}"));
            }
        }
        lost
    }

    /// Rows that are stored although their write was rejected.
    pub(crate) fn stored_although_rejected(&self, rows: &[Row]) -> Vec<String> {
        let is_rejected = |robot: &Robot| {
            let outcome = self.outcome_of(robot);
            outcome.is_some_and(|outcome| outcome != Outcome::Done && !outcome.is_uncertain())
        };
        let stored = rows.iter().filter(|(_, robot)| is_rejected(robot));
        stored
            .map(|(id, robot)| format!("a rejected write to robot {id}: {robot:?}"))
            .collect()
    }
}

/// The states of a robot that a read within an interval may return: that of the last write
/// acknowledged before it, and those of later writes sent before its end.
fn possible(writes: &[Write], interval: Interval) -> impl Iterator<Item = Option<&Robot>> {
    let is_past =
        |write: &Write| write.outcome == Outcome::Done && write.interval.end <= interval.start;
    let past = writes.iter().rposition(is_past);
    let before = past.map_or(Some(None), |_| None);
    let later = writes[past.unwrap_or_default()..].iter();
    let later = later.filter(move |write| write.interval.start <= interval.end);
    before
        .into_iter()
        .chain(later.map(|write| write.robot.as_ref()))
}
