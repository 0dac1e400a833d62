//! Tests of public values in JSON.

use std::fmt::Debug;

use robot_core::{
    CatalogueExt, Cursor, Draft, Entry, Field, Filter, MemoryCatalogue, Revision, Robot, RobotId,
    Sort, Summary,
};
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
    assert_round_trip(&Draft::default(), "{}");
    let cursor = Cursor::after(Sort::default(), &robot);
    assert_round_trip(&cursor, r#""name:R2-D2""#);
    assert_round_trip(&Entry::from(robot), r#"{"id":"1","name":"R2-D2"}"#);
    assert_round_trip(
        &Field::ALL.to_vec(),
        r#"["id","name","type","year","revision"]"#,
    );
    for sort in Sort::ALL {
        assert_round_trip(&sort, &format!("\"{sort}\""));
    }
}

#[test]
fn filters_have_the_names_of_parameters() {
    assert_round_trip(&Filter::all(), "{}");
    let filter = Filter::from("R2").named("R2-D2").of_type("droid");
    assert_round_trip(
        &filter.years(1970..1980),
        r#"{"containing":"R2","name":"R2-D2","type":["droid"],"year_from":1970,"year_to":1979}"#,
    );
}

#[test]
fn summary_is_equal_after_a_round_trip() {
    let summary = Summary::new([("droid", 1977, 2)]);
    assert_round_trip(
        &summary,
        r#"{"count":2,"groups":[{"type":"droid","decade":1970,"count":2}]}"#,
    );
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
    assert_rejected::<Field>("\"price\"", "not a field");
    assert_rejected::<Sort>("\"price\"", "sort must be");
    assert_rejected::<Cursor>("\"year:1977\"", "cursor");
    let robot = r#"{"id":"1","name":"","type":"toaster","year":-1}"#;
    assert_rejected::<Robot>(robot, "type");
}
