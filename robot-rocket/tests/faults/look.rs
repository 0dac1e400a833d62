//! Robots as clients see them.

use robot_core::conformance::Answer;
use serde_json::{Value, json};

/// All of a robot but its id. The year is another one in each write, so that whoever sees a
/// robot knows of which write it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) year: u64,
}

/// A robot of an id.
pub(crate) type Row = (u64, Look);

impl Look {
    /// The body of a request that wishes for this.
    pub(crate) fn body(&self) -> String {
        json!({"name": self.name, "type": self.kind, "year": self.year}).to_string()
    }
}

/// Reads `{"id":"1","name":"R2-D2","type":"droid","year":1977}`.
fn row(robot: &Value) -> Option<Row> {
    let look = Look {
        name: robot["name"].as_str()?.to_owned(),
        kind: robot["type"].as_str()?.to_owned(),
        year: robot["year"].as_u64()?,
    };
    Some((robot["id"].as_str()?.parse().ok()?, look))
}

/// The robot in the answer to a read by id; `None` where there is none.
pub(crate) fn found(answer: &Answer) -> Option<Row> {
    let text = answer.text();
    if text == r#"{"status":"NOT-FOUND"}"# {
        return None;
    }
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let row = row(&body["data"]).filter(|_| body["status"] == "FOUND");
    Some(row.unwrap_or_else(|| panic!("this is no answer to a read: {text}")))
}

/// The robots of a list, whose names must be in order, each there once.
pub(crate) fn listed(answer: &Answer) -> Vec<Row> {
    let rows = serde_json::from_slice::<Vec<Value>>(&answer.body)
        .ok()
        .and_then(|robots| robots.iter().map(row).collect::<Option<Vec<_>>>());
    let rows = rows.unwrap_or_else(|| panic!("this is no list: {}", answer.text()));
    let is_in_order = rows.is_sorted_by(|(_, one), (_, next)| one.name < next.name);
    assert!(is_in_order, "names are out of order: {}", answer.text());
    rows
}

/// The id in the answer to an addition of this robot.
pub(crate) fn added(answer: &Answer, look: &Look) -> u64 {
    added_in(&answer.body, look)
}

/// The id in the body of such an answer.
pub(crate) fn added_in(body: &[u8], look: &Look) -> u64 {
    let text = String::from_utf8_lossy(body);
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    match row(&body["data"]) {
        Some((id, added)) if added == *look && body["status"] == "OK" => id,
        _ => panic!("{look:?} was to be added, not {text}"),
    }
}
