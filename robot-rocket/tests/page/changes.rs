//! Adding, editing, deleting and restoring robots, by keyboard.

use crate::{
    calls::call,
    keys::{CONTROL, DOWN, ENTER, ESCAPE, TAB},
    visit::Visit,
};

#[test]
fn empty_catalogue_offers_sample_robots() {
    let visit = Visit::of(&[]);
    visit.wait_for_text("#start", "No robots yet");
    visit.wait_for_text("#start", "/api/robots");
    assert_eq!(visit.rows(), []);
    visit.tab_to("Add sample robots");
    visit.browser.press([ENTER]);
    visit.wait_for_rows(9);
    visit.wait_for_focus("robots");
    visit.wait_for_announcement("Added 9 sample robots.");
    visit.wait_for_text("#count", "9 robots");
    visit.wait_for_text("#picture h2", "By decade and type");
    assert_eq!(
        visit.run("return document.querySelector('#start').hidden"),
        true
    );
    let row = ("R2-D2".to_owned(), "droid".to_owned(), "1977".to_owned());
    assert!(visit.rows().contains(&row));
}

#[test]
fn added_robot_is_announced_and_form_is_cleared() {
    let visit = Visit::of(&["Marvin"]);
    visit.tab_to("Name");
    visit.browser.press("C-3PO".chars().chain([TAB]));
    visit.browser.press("dr".chars().chain([TAB]));
    visit.browser.press("1977".chars().chain([ENTER]));
    visit.wait_for_rows(2);
    visit.wait_for_announcement("Added C-3PO, droid, 1977.");
    visit.wait_for_text("#count", "2 robots");
    assert_eq!(visit.names(), ["C-3PO", "Marvin"]);
    visit.wait_for_focus("Name");
    visit.browser.press("BB-8".chars().chain([TAB, TAB]));
    visit.browser.press("2015".chars().chain([ENTER]));
    visit.wait_for_rows(3);
    let stored = visit.stored();
    assert!(
        stored.contains(r#"{"name":"BB-8","type":"droid","year":2015}"#),
        "{stored}"
    );
    visit.browser.reload();
    visit.wait_for_rows(3);
    assert_eq!(visit.names(), ["BB-8", "C-3PO", "Marvin"]);
}

#[test]
fn each_violation_is_shown_beside_its_field() {
    let visit = Visit::of(&["Marvin"]);
    visit.tab_to("Name");
    visit.browser.press("Marvin".chars().chain([TAB, TAB]));
    visit.browser.press("-1".chars().chain([ENTER]));
    visit.wait_for_text("#add .of-name .error", "The robot name must be unique");
    visit.wait_for_text(
        "#add .of-type .error",
        "must be part of list: droid, mechanical, virtual",
    );
    visit.wait_for_text("#add .of-year .error", "The year cannot be less than zero");
    visit.wait_for_focus("Name");
    assert_eq!(visit.error_message(), "The robot name must be unique");
    visit.browser.press(" II".chars().chain([TAB]));
    visit.browser.press("v".chars().chain([TAB]));
    visit.browser.press("x".chars().chain([ENTER]));
    visit.wait_for_text(
        "#add .of-year .error",
        "year must be an integer from 0 to 9223372036854775807",
    );
    visit.wait_for_focus("Year");
    assert!(visit.error_message().starts_with("year must be an integer"));
    assert_eq!(visit.names(), ["Marvin"]);
}

#[test]
fn robot_is_edited_in_its_row() {
    let visit = Visit::of(&["Marvin", "R2-D2"]);
    visit.tab_to("Edit Marvin");
    visit.browser.press([DOWN]);
    visit.wait_for_focus("Edit R2-D2");
    visit.browser.press([ENTER]);
    visit.wait_for_focus("Name");
    visit.browser.press("Marvin".chars().chain([ENTER]));
    visit.wait_for_text("tr.edited .error", "The robot name must be unique");
    visit.wait_for_focus("Name");
    assert_eq!(visit.error_message(), "The robot name must be unique");
    visit.browser.press_with(CONTROL, 'a');
    visit.browser.press("R3-D3".chars().chain([TAB]));
    visit.browser.press("m".chars().chain([TAB]));
    visit.browser.press("1980".chars().chain([ENTER]));
    visit.wait_for_focus("Edit R3-D3");
    visit.wait_for_announcement("Saved R3-D3.");
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
fn escape_cancels_editing() {
    let visit = Visit::of(&["Marvin"]);
    let before = visit.stored();
    visit.tab_to("Edit Marvin");
    visit.browser.press([ENTER]);
    visit.wait_for_focus("Name");
    visit.browser.press("Arthur".chars().chain([ESCAPE]));
    visit.wait_for_focus("Edit Marvin");
    assert_eq!(visit.names(), ["Marvin"]);
    assert_eq!(visit.stored(), before);
}

#[test]
fn edited_robot_that_was_deleted_can_be_added_again() {
    let visit = Visit::of(&["Marvin"]);
    visit.tab_to("Edit Marvin");
    visit.browser.press([ENTER]);
    visit.wait_for_focus("Name");
    assert_eq!(
        call(&visit.client(), "DELETE", "/api/robots/1", "").status,
        200
    );
    visit.browser.press("Arthur".chars().chain([ENTER]));
    visit.wait_for_text("tr.edited .error", "This robot was deleted meanwhile.");
    visit.browser.press([ENTER]);
    visit.wait_for_focus("Edit Arthur");
    assert_eq!(visit.names(), ["Arthur"]);
    assert_eq!(
        visit.stored(),
        r#"[{"name":"Arthur","type":"droid","year":1977}]"#
    );
}

#[test]
fn deleted_robot_can_be_restored() {
    let visit = Visit::of(&["BB-8", "Marvin", "R2-D2"]);
    visit.tab_to("Delete Marvin");
    visit.browser.press([ENTER]);
    visit.wait_for_rows(2);
    visit.wait_for_focus("Delete R2-D2");
    visit.wait_for_announcement("Deleted Marvin. Control Z restores it.");
    assert!(!visit.stored().contains("Marvin"));
    visit.browser.press_with(CONTROL, 'z');
    visit.wait_for_rows(3);
    visit.wait_for_focus("Edit Marvin");
    visit.wait_for_announcement("Marvin was restored.");
    assert_eq!(visit.names(), ["BB-8", "Marvin", "R2-D2"]);
    assert!(
        visit
            .stored()
            .contains(r#"{"name":"Marvin","type":"droid","year":1977}"#)
    );
}

#[test]
fn failed_undo_is_explained_and_can_be_retried() {
    let visit = Visit::of(&["Marvin"]);
    visit.tab_to("Delete Marvin");
    visit.browser.press([ENTER]);
    visit.wait_for_text("#start", "No robots yet");
    visit.add("Marvin", "virtual", "1");
    visit.browser.click("#undo .main");
    visit.wait_for_text("#undo", "Marvin is not back. The robot name must be unique");
    visit.wait_for_focus("Undo");
    assert_eq!(
        call(&visit.client(), "DELETE", "/api/robots/2", "").status,
        200
    );
    visit.browser.press([ENTER]);
    visit.wait_for_focus("Edit Marvin");
    assert_eq!(
        visit.stored(),
        r#"[{"name":"Marvin","type":"droid","year":1977}]"#
    );
}
