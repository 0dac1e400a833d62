//! Robots are added, edited, deleted and brought back, by the keyboard alone.

use crate::{
    calls::call,
    keys::{CONTROL, DOWN, ENTER, ESCAPE, TAB},
    visit::Visit,
};

#[test]
fn an_empty_catalogue_begins_with_sample_robots() {
    let visit = Visit::of(&[]);
    visit.reads("#start", "No robots yet");
    visit.reads("#start", "/api/robots");
    assert_eq!(visit.rows(), []);
    visit.tab_to("Add sample robots");
    visit.browser.press([ENTER]);
    visit.sees_rows(9);
    visit.has_focus("robots");
    visit.hears("Added 9 sample robots.");
    visit.reads("#count", "9 robots");
    visit.reads("#picture h2", "By decade and type");
    assert_eq!(
        visit.ask("return document.querySelector('#start').hidden"),
        true
    );
    let row = ("R2-D2".to_owned(), "droid".to_owned(), "1977".to_owned());
    assert!(visit.rows().contains(&row));
}

#[test]
fn a_robot_is_added_and_told_and_the_next_one_can_be_typed() {
    let visit = Visit::of(&["Marvin"]);
    visit.tab_to("Name");
    visit.browser.press("C-3PO".chars().chain([TAB]));
    visit.browser.press("dr".chars().chain([TAB]));
    visit.browser.press("1977".chars().chain([ENTER]));
    visit.sees_rows(2);
    visit.hears("Added C-3PO, droid, 1977.");
    visit.reads("#count", "2 robots");
    assert_eq!(visit.names(), ["C-3PO", "Marvin"]);
    visit.has_focus("Name");
    visit.browser.press("BB-8".chars().chain([TAB, TAB]));
    visit.browser.press("2015".chars().chain([ENTER]));
    visit.sees_rows(3);
    let stored = visit.stored();
    assert!(
        stored.contains(r#"{"name":"BB-8","type":"droid","year":2015}"#),
        "{stored}"
    );
    visit.browser.reload();
    visit.sees_rows(3);
    assert_eq!(visit.names(), ["BB-8", "C-3PO", "Marvin"]);
}

#[test]
fn each_message_of_a_failed_rule_stands_beside_its_field() {
    let visit = Visit::of(&["Marvin"]);
    visit.tab_to("Name");
    visit.browser.press("Marvin".chars().chain([TAB, TAB]));
    visit.browser.press("-1".chars().chain([ENTER]));
    visit.reads("#add .of-name .error", "The robot name must be unique");
    visit.reads(
        "#add .of-type .error",
        "must be part of list: droid, mechanical, virtual",
    );
    visit.reads("#add .of-year .error", "The year cannot be less than zero");
    visit.has_focus("Name");
    assert_eq!(visit.complaint(), "The robot name must be unique");
    visit.browser.press(" II".chars().chain([TAB]));
    visit.browser.press("v".chars().chain([TAB]));
    visit.browser.press("x".chars().chain([ENTER]));
    visit.reads(
        "#add .of-year .error",
        "year must be an integer from 0 to 9223372036854775807",
    );
    visit.has_focus("Year");
    assert!(visit.complaint().starts_with("year must be an integer"));
    assert_eq!(visit.names(), ["Marvin"]);
}

#[test]
fn a_robot_is_edited_in_its_row() {
    let visit = Visit::of(&["Marvin", "R2-D2"]);
    visit.tab_to("Edit Marvin");
    visit.browser.press([DOWN]);
    visit.has_focus("Edit R2-D2");
    visit.browser.press([ENTER]);
    visit.has_focus("Name");
    visit.browser.press("Marvin".chars().chain([ENTER]));
    visit.reads("tr.edited .error", "The robot name must be unique");
    visit.has_focus("Name");
    assert_eq!(visit.complaint(), "The robot name must be unique");
    visit.browser.press_with(CONTROL, 'a');
    visit.browser.press("R3-D3".chars().chain([TAB]));
    visit.browser.press("m".chars().chain([TAB]));
    visit.browser.press("1980".chars().chain([ENTER]));
    visit.has_focus("Edit R3-D3");
    visit.hears("Saved R3-D3.");
    let row = (
        "R3-D3".to_owned(),
        "mechanical".to_owned(),
        "1980".to_owned(),
    );
    assert_eq!(visit.rows()[1], row);
    let stored = visit.stored();
    assert!(
        stored.contains(r#"{"name":"R3-D3","type":"mechanical","year":1980}"#),
        "{stored}"
    );
}

#[test]
fn escape_leaves_a_robot_as_it_was() {
    let visit = Visit::of(&["Marvin"]);
    let before = visit.stored();
    visit.tab_to("Edit Marvin");
    visit.browser.press([ENTER]);
    visit.has_focus("Name");
    visit.browser.press("Arthur".chars().chain([ESCAPE]));
    visit.has_focus("Edit Marvin");
    assert_eq!(visit.names(), ["Marvin"]);
    assert_eq!(visit.stored(), before);
}

#[test]
fn a_robot_that_was_deleted_meanwhile_can_be_added_again() {
    let visit = Visit::of(&["Marvin"]);
    visit.tab_to("Edit Marvin");
    visit.browser.press([ENTER]);
    visit.has_focus("Name");
    assert_eq!(
        call(&visit.client(), "DELETE", "/api/robots/1", "").status,
        200
    );
    visit.browser.press("Arthur".chars().chain([ENTER]));
    visit.reads("tr.edited .error", "This robot was deleted meanwhile.");
    visit.browser.press([ENTER]);
    visit.has_focus("Edit Arthur");
    assert_eq!(visit.names(), ["Arthur"]);
    assert_eq!(
        visit.stored(),
        r#"[{"name":"Arthur","type":"droid","year":1977}]"#
    );
}

#[test]
fn a_robot_is_deleted_at_once_and_brought_back() {
    let visit = Visit::of(&["BB-8", "Marvin", "R2-D2"]);
    visit.tab_to("Delete Marvin");
    visit.browser.press([ENTER]);
    visit.sees_rows(2);
    visit.has_focus("Delete R2-D2");
    visit.hears("Deleted Marvin. Control Z brings it back.");
    assert!(!visit.stored().contains("Marvin"));
    visit.browser.press_with(CONTROL, 'z');
    visit.sees_rows(3);
    visit.has_focus("Edit Marvin");
    visit.hears("Marvin is back.");
    assert_eq!(visit.names(), ["BB-8", "Marvin", "R2-D2"]);
    assert!(
        visit
            .stored()
            .contains(r#"{"name":"Marvin","type":"droid","year":1977}"#)
    );
}

#[test]
fn the_button_that_undoes_can_be_reached_and_tells_why_it_cannot() {
    let visit = Visit::of(&["Marvin"]);
    visit.tab_to("Delete Marvin");
    visit.browser.press([ENTER]);
    visit.reads("#start", "No robots yet");
    visit.add("Marvin", "virtual", "1");
    visit.browser.click("#undo .main");
    visit.reads("#undo", "Marvin is not back. The robot name must be unique");
    visit.has_focus("Undo");
    assert_eq!(
        call(&visit.client(), "DELETE", "/api/robots/2", "").status,
        200
    );
    visit.browser.press([ENTER]);
    visit.has_focus("Edit Marvin");
    assert_eq!(
        visit.stored(),
        r#"[{"name":"Marvin","type":"droid","year":1977}]"#
    );
}
