//! Adding, editing, deleting and restoring robots, by keyboard.

use crate::{
    keys::{CONTROL, DOWN, ENTER, ESCAPE, TAB},
    visit::Visit,
};

#[test]
fn empty_catalogue_offers_sample_robots() {
    let visit = Visit::of(&[]);
    visit.wait_for_text("#start", "No robots yet");
    visit.wait_for_text("#start", "/api/robots");
    assert_eq!(visit.rows(), []);
    visit.press_on("Add sample robots");
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
    visit.enter_robot("C-3PO", "dr", "1977");
    visit.wait_for_rows(2);
    visit.wait_for_announcement("Added C-3PO, droid, 1977.");
    visit.wait_for_text("#count", "2 robots");
    assert_eq!(visit.names(), ["C-3PO", "Marvin"]);
    visit.wait_for_focus("Name");
    visit.browser.press("BB-8".chars().chain([TAB, TAB]));
    visit.browser.press("2015".chars().chain([ENTER]));
    visit.wait_for_rows(3);
    visit.assert_stores(r#"{"name":"BB-8","type":"droid","year":2015}"#);
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
    visit.assert_stores(r#"{"name":"R3-D3","type":"mechanical","year":1980}"#);
}

#[test]
fn escape_cancels_editing() {
    let visit = Visit::of(&["Marvin"]);
    let before = visit.stored();
    visit.edit("Marvin");
    visit.browser.press("Arthur".chars().chain([ESCAPE]));
    visit.wait_for_focus("Edit Marvin");
    assert_eq!(visit.names(), ["Marvin"]);
    assert_eq!(visit.stored(), before);
}

#[test]
fn edited_robot_that_was_deleted_can_be_added_again() {
    let visit = Visit::of(&["Marvin"]);
    visit.edit("Marvin");
    visit.delete(1);
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
    visit.press_on("Delete Marvin");
    visit.wait_for_rows(2);
    visit.wait_for_focus("Delete R2-D2");
    visit.wait_for_announcement("Deleted Marvin. Control Z restores it.");
    assert!(!visit.stored().contains("Marvin"));
    visit.browser.press_with(CONTROL, 'z');
    visit.wait_for_rows(3);
    visit.wait_for_focus("Edit Marvin");
    visit.wait_for_announcement("Marvin was restored.");
    assert_eq!(visit.names(), ["BB-8", "Marvin", "R2-D2"]);
    visit.assert_stores(r#"{"name":"Marvin","type":"droid","year":1977}"#);
}

#[test]
fn failed_undo_is_explained_and_can_be_retried() {
    let visit = Visit::of(&["Marvin"]);
    visit.press_on("Delete Marvin");
    visit.wait_for_text("#start", "No robots yet");
    visit.add("Marvin", "virtual", "1");
    visit.browser.click("#undo .main");
    visit.wait_for_text("#undo", "Marvin is not back. The robot name must be unique");
    visit.wait_for_focus("Undo");
    visit.delete(2);
    visit.browser.press([ENTER]);
    visit.wait_for_focus("Edit Marvin");
    assert_eq!(
        visit.stored(),
        r#"[{"name":"Marvin","type":"droid","year":1977}]"#
    );
}

#[test]
fn robot_is_deleted_once_and_not_edited_meanwhile() {
    let visit = Visit::of(&["BB-8", "Marvin"]);
    visit.hold("method === 'DELETE'");
    for action in ["Delete", "Delete", "Edit"] {
        let script = format!("document.querySelector('[aria-label=\"{action} Marvin\"]').click()");
        visit.run(&script);
    }
    visit.release();
    visit.wait_for_names(&["BB-8"]);
    let script = "return document.querySelectorAll('.offer, tr.edited').length";
    assert_eq!(visit.run(script), 1);
    // The newest message has nothing to undo.
    visit.delete(1);
    visit.browser.click("[data-action=delete]");
    visit.wait_for_text("#undo .offer", "BB-8");
    visit.wait_for_text("#start", "No robots yet");
    visit.browser.press_with(CONTROL, 'z');
    visit.wait_for_names(&["Marvin"]);
}

#[test]
fn pending_undo_is_shown_until_it_is_answered() {
    let visit = Visit::of(&["BB-8", "Marvin"]);
    visit.browser.click("[data-action=delete]");
    visit.wait_for_names(&["Marvin"]);
    visit.hold("method === 'POST'");
    visit.browser.click("#undo .main");
    // From here on, the time of an offer is over at once.
    visit.run(
        "const start = setTimeout; \
         window.setTimeout = (action, time) => start(action, time === 10_000 ? 0 : time); \
         const offer = document.querySelector('.offer'); \
         offer.dispatchEvent(new MouseEvent('mouseleave')); \
         offer.querySelector('[aria-label=Dismiss]').click()",
    );
    visit
        .browser
        .run_async("setTimeout(arguments[arguments.length - 1], 100)");
    assert_eq!(
        visit.run("return document.querySelectorAll('.offer').length"),
        1
    );
    visit.release();
    visit.wait_for_names(&["BB-8", "Marvin"]);
    visit.wait_for("no offer", "return !document.querySelector('.offer')");
}

#[test]
fn saved_row_leaves_the_focus_in_the_search() {
    let visit = Visit::of(&["Marvin"]);
    visit.edit("Marvin");
    visit.hold("method === 'PUT'");
    visit.browser.press("Arthur".chars().chain([ENTER]));
    visit.run("document.querySelector('#query').focus()");
    visit.release();
    visit.wait_for_announcement("Saved Arthur.");
    assert_eq!(visit.run("return document.activeElement.id"), "query");
}

#[test]
fn restored_robot_leaves_the_focus_in_the_search() {
    let visit = Visit::of(&["BB-8", "Marvin"]);
    visit.browser.click("[data-action=delete]");
    visit.wait_for_names(&["Marvin"]);
    visit.hold("method === 'POST'");
    visit.browser.click("#undo .main");
    visit.run("document.querySelector('#query').focus()");
    visit.release();
    visit.wait_for_announcement("BB-8 was restored.");
    assert_eq!(visit.run("return document.activeElement.id"), "query");
}

#[test]
fn deleted_robot_is_not_in_a_list_read_before() {
    let visit = Visit::of(&["BB-8", "Marvin", "R2-D2"]);
    // The first answer is read before the deletion, and arrives after it.
    visit.run(
        "const send = window.fetch; window.held = 0; \
         const released = new Promise((resolve) => (window.release = resolve)); \
         window.fetch = async (path, options) => { \
         const answer = await send(path, options); \
         if (path.includes('sort=-name') && window.held++ === 0) await released; \
         return answer; }",
    );
    visit.browser.click("[data-key=name] button");
    visit.wait_for("the list", "return window.held === 1");
    visit.browser.click("[aria-label='Delete Marvin']");
    visit.wait_for_names(&["R2-D2", "BB-8"]);
    visit.release();
    visit.browser.press_with(CONTROL, 'z');
    visit.wait_for_names(&["R2-D2", "Marvin", "BB-8"]);
}

#[test]
fn deleted_robot_is_removed_from_a_list_loaded_meanwhile() {
    let visit = Visit::of(&["BB-8", "Marvin", "R2-D2"]);
    visit.hold("method === 'DELETE'");
    visit.browser.click("[aria-label='Delete Marvin']");
    visit.browser.click("[data-key=name] button");
    visit.wait_for_names(&["R2-D2", "Marvin", "BB-8"]);
    visit.release();
    visit.wait_for_names(&["R2-D2", "BB-8"]);
}
