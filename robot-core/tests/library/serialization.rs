//! Tests of public values in JSON.

use robot_core::{CatalogueExt, Draft, MemoryCatalogue, Summary};

#[test]
fn own_values_are_members_of_the_object() {
    let mut draft = Draft::new("R2-D2", "droid", 1977);
    draft.set("maker", "ACME \"\u{1f916}\"");
    draft.set("parts", 9_007_199_254_740_993_i64);
    draft.set("rented", false);
    let own = r#""maker":"ACME \"🤖\"","parts":9007199254740993,"rented":false"#;
    let members = format!(r#""name":"R2-D2","type":"droid","year":1977,{own}"#);
    let read: Draft = serde_json::from_str(&format!("{{{members}}}")).unwrap();
    assert_eq!(read, draft);
    // Members that are not values of fields which clients set are ignored.
    let whole = format!(r#"{{"id":"1",{members},"other":[null],"revision":1}}"#);
    let read: Draft = serde_json::from_str(&whole).unwrap();
    assert_eq!(read, draft);
}

#[test]
fn robots_and_summaries_are_objects() {
    let draft = Draft::new("R2-D2", "droid", 1977);
    let robot = MemoryCatalogue::new().add(draft).unwrap();
    let summary = Summary::new([(Some("droid"), Some(1977), 2)]);
    let written = [
        serde_json::to_string(&robot),
        serde_json::to_string(&summary),
    ];
    assert_eq!(
        written.map(Result::unwrap),
        [
            r#"{"id":"1","name":"R2-D2","type":"droid","year":1977,"revision":1}"#,
            r#"{"count":2,"groups":[{"type":"droid","decade":1970,"count":2}]}"#,
        ]
    );
}
