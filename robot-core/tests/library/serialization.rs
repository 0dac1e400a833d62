//! Tests of public values in JSON.

use std::fmt::Debug;

use robot_core::{CatalogueExt, Draft, Entry, MemoryCatalogue, Revision, Robot, RobotId};
use serde::{Serialize, de::DeserializeOwned};

fn assert_round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, json: &str) {
    assert_eq!(serde_json::to_string(value).unwrap(), json);
    assert_eq!(&serde_json::from_str::<T>(json).unwrap(), value);
}

fn assert_rejected<T: DeserializeOwned + Debug>(json: &str, message: &str) {
    let error = serde_json::from_str::<T>(json).unwrap_err().to_string();
    assert!(error.contains(message), "{json}: {error}");
}

fn robot() -> Robot {
    let catalogue = MemoryCatalogue::new();
    catalogue.add(Draft::new("R2-D2", "droid", 1977)).unwrap()
}

#[test]
fn values_are_equal_after_a_round_trip() {
    let robot = robot().with_revision(Revision::FIRST.next());
    let text = r#"{"id":"1","name":"R2-D2","type":"droid","year":1977,"revision":2}"#;
    assert_round_trip(&robot, text);
    let draft = r#"{"name":"R2-D2","type":"droid","year":1977}"#;
    assert_round_trip(&Draft::from(robot.clone()), draft);
    let read: Draft = serde_json::from_str(text).unwrap();
    assert_eq!(read, Draft::from(robot.clone()));
    assert_round_trip(&Draft::default(), "{}");
    assert_round_trip(&Entry::from(robot), r#"{"id":"1","name":"R2-D2"}"#);
}

#[test]
fn robot_without_a_revision_has_the_first() {
    let text = r#"{"id":"1","name":"R2-D2","type":"droid","year":1977}"#;
    assert_eq!(serde_json::from_str::<Robot>(text).unwrap(), robot());
}

#[test]
fn invalid_values_are_rejected() {
    assert_rejected::<RobotId>("\"0\"", "no robot can have this id");
    assert_rejected::<RobotId>("1", "expected a string");
    assert_rejected::<Revision>("0", "a revision is an integer from 1");
    let robot = r#"{"id":"1","name":"","type":"toaster","year":-1}"#;
    assert_rejected::<Robot>(robot, "type");
}
