//! Robots in requests and answers.

use robot_core::conformance::Answer;
use serde_json::{Value, json};

/// A robot without its id. Each write has a year of its own, which identifies the write in later
/// reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Robot {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) year: u64,
}

/// A robot with its id.
pub(crate) type Row = (u64, Robot);

impl Robot {
    /// The request body that adds this robot.
    pub(crate) fn body(&self) -> String {
        json!({"name": self.name, "type": self.kind, "year": self.year}).to_string()
    }
}

/// Parses `{"id":"1","name":"R2-D2","type":"droid","year":1977}`.
fn row(value: &Value) -> Option<Row> {
    let robot = Robot {
        name: value["name"].as_str()?.to_owned(),
        kind: value["type"].as_str()?.to_owned(),
        year: value["year"].as_u64()?,
    };
    Some((value["id"].as_str()?.parse().ok()?, robot))
}

/// The robot in the answer to a read by id; `None` if the answer says NOT-FOUND.
pub(crate) fn found(answer: &Answer) -> Option<Row> {
    let text = answer.text();
    if text == r#"{"status":"NOT-FOUND"}"# {
        return None;
    }
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let row = row(&body["data"]).filter(|_| body["status"] == "FOUND");
    Some(row.unwrap_or_else(|| panic!("not an answer to a read: {text}")))
}

/// The robots of a list. Panics unless each name is listed once, in order.
pub(crate) fn listed(answer: &Answer) -> Vec<Row> {
    let rows = serde_json::from_slice::<Vec<Value>>(&answer.body)
        .ok()
        .and_then(|robots| robots.iter().map(row).collect::<Option<Vec<_>>>());
    let rows = rows.unwrap_or_else(|| panic!("not a list: {}", answer.text()));
    let is_ordered = rows.is_sorted_by(|(_, one), (_, next)| one.name < next.name);
    assert!(is_ordered, "names are out of order: {}", answer.text());
    rows
}

/// The id in the body of the answer to an addition of this robot.
pub(crate) fn added_id(body: &[u8], robot: &Robot) -> u64 {
    let text = String::from_utf8_lossy(body);
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    match row(&body["data"]) {
        Some((id, added)) if added == *robot && body["status"] == "OK" => id,
        _ => panic!("{robot:?} was to be added, but the answer is {text}"),
    }
}
