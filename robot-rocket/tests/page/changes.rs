//! Adding, editing, deleting and restoring robots.

use serde_json::json;

use crate::{
    keys::{CONTROL, DOWN, ENTER, ESCAPE, TAB},
    visit::Visit,
};

#[test]
fn empty_catalogue_offers_sample_robots() {
    let visit = Visit::of(&[]);
    visit.wait_for_text("#start", "No robots yet");
    visit.wait_for_text("#start", "/v1/robots");
    assert_eq!(visit.names(), [""; 0]);
    visit.press_on("Add sample robots");
    visit.wait_for_rows(9);
    visit.wait_for_focus("robots");
    visit.wait_for_announcement("Added 9 sample robots.");
    visit.wait_for_text("#count", "9 robots");
    visit.wait_for_text("#picture h2", "By year and type");
    assert_eq!(
        visit.run("return document.querySelector('#start').hidden"),
        true
    );
    let row = ["R2-D2", "droid", "1977"].map(str::to_owned);
    assert!(visit.rows().contains(&row));
}

#[test]
fn added_robot_is_announced_and_form_is_cleared() {
    let visit = Visit::of(&["Marvin"]);
    visit.enter_robot("C-3PO", "dr", "1977");
    visit.wait_for_names(&["C-3PO", "Marvin"]);
    visit.wait_for_announcement("Added C-3PO, droid, 1977.");
    visit.wait_for_text("#count", "2 robots");
    visit.wait_for_focus("Name");
    visit.press(&format!("BB-8{TAB}{TAB}2015{ENTER}"));
    visit.wait_for_rows(3);
    visit.assert_stores(r#"{"name":"BB-8","type":"droid","year":2015}"#);
    visit.reload();
    visit.wait_for_names(&["BB-8", "C-3PO", "Marvin"]);
}

#[test]
fn form_opens_by_button_or_key_and_keeps_typed_text() {
    let visit = Visit::of(&["Marvin"]);
    visit.set_width(360);
    visit.reload();
    visit.wait_for_rows(1);
    let script = "const [form, list] = [document.querySelector('#add'), document.querySelector('#robots')]; \
                  return [form.checkVisibility(), list.getBoundingClientRect().top < innerHeight / 2, \
                  document.querySelector('#adding-open').ariaExpanded]";
    assert_eq!(visit.run(script), json!([false, true, "false"]));
    visit.press_on("adding-open");
    visit.wait_for_focus("Name");
    assert_eq!(visit.run(script), json!([true, false, "true"]));
    visit.press(&format!("a{ESCAPE}"));
    visit.wait_for_focus("adding-open");
    assert_eq!(visit.run(script), json!([false, true, "false"]));
    visit.press("a");
    visit.wait_for_focus("Name");
    assert_eq!(visit.run("return document.activeElement.value"), "a");
    visit.press_on("adding-close");
    visit.wait_for_focus("adding-open");
    // The key can be switched off.
    visit.run("document.querySelector('#shortcuts').click()");
    visit.press("a");
    assert_eq!(visit.focus(), "adding-open");
}

#[test]
fn each_violation_is_shown_beside_its_field() {
    let visit = Visit::of(&["Marvin"]);
    visit.press("a");
    visit.press(&format!("Marvin{TAB}{TAB}-1{ENTER}"));
    for (field, message) in [
        ("name", "The robot name must be unique"),
        ("type", "type is required"),
        ("year", "The year cannot be less than zero"),
    ] {
        visit.wait_for_text(&format!("#add .of-{field} .error"), message);
    }
    visit.wait_for_focus("Name");
    assert_eq!(visit.error_message(), "The robot name must be unique");
    visit.press(&format!(" II{TAB}v{TAB}x{ENTER}"));
    visit.wait_for_focus("Year");
    let message = "year must be an integer from 0 to 9223372036854775807";
    visit.wait_for_text("#add .of-year .error", message);
    assert!(visit.error_message().starts_with(message));
    assert_eq!(visit.names(), ["Marvin"]);
}

#[test]
fn robot_is_edited_in_its_row() {
    let visit = Visit::of(&["Marvin", "R2-D2"]);
    let before = visit.stored();
    visit.edit("Marvin");
    visit.press(&format!("Arthur{ESCAPE}"));
    visit.wait_for_focus("Edit Marvin");
    assert_eq!(visit.names(), ["Marvin", "R2-D2"]);
    assert_eq!(visit.stored(), before);
    visit.press(DOWN);
    visit.wait_for_focus("Edit R2-D2");
    visit.press(ENTER);
    visit.wait_for_focus("Name");
    visit.press(&format!("Marvin{ENTER}"));
    visit.wait_for_text("tr.edited .error", "The robot name must be unique");
    visit.wait_for_focus("Name");
    assert_eq!(visit.error_message(), "The robot name must be unique");
    visit.press_with(CONTROL, 'a');
    visit.press(&format!("R3-D3{TAB}m{TAB}1980{ENTER}"));
    visit.wait_for_focus("Edit R3-D3");
    visit.wait_for_announcement("Saved R3-D3.");
    assert_eq!(visit.rows()[1], ["R3-D3", "mechanical", "1980"]);
    visit.assert_stores(r#"{"name":"R3-D3","type":"mechanical","year":1980}"#);
}

#[test]
fn deleted_robot_can_be_restored() {
    let visit = Visit::of(&["BB-8", "Marvin", "R2-D2"]);
    visit.press_on("Delete Marvin");
    visit.wait_for_rows(2);
    visit.wait_for_focus("Delete R2-D2");
    visit.wait_for_announcement("Deleted Marvin. Control Z restores it.");
    assert!(!visit.stored().contains("Marvin"));
    visit.press_with(CONTROL, 'z');
    visit.wait_for_names(&["BB-8", "Marvin", "R2-D2"]);
    visit.wait_for_focus("Edit Marvin");
    visit.wait_for_announcement("Marvin was restored.");
    visit.assert_stores(r#"{"name":"Marvin","type":"droid","year":1977}"#);
    // A failed undo is explained and can be retried.
    visit.press_on("Delete Marvin");
    visit.wait_for_rows(2);
    visit.add("Marvin", "virtual", "1");
    visit.click("#undo .main");
    visit.wait_for_text("#undo", "Marvin is not back. The robot name must be unique");
    visit.wait_for_focus("Undo");
    visit.delete(5);
    visit.press(ENTER);
    visit.wait_for_focus("Edit Marvin");
    visit.assert_stores(r#"{"name":"Marvin","type":"droid","year":1977}"#);
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
    visit.click("[data-action=delete]");
    visit.wait_for_text("#undo .offer", "BB-8");
    visit.wait_for_text("#start", "No robots yet");
    visit.press_with(CONTROL, 'z');
    visit.wait_for_names(&["Marvin"]);
}

#[test]
fn pending_undo_is_shown_until_it_is_answered() {
    let visit = Visit::of(&["BB-8", "Marvin"]);
    visit.click("[data-action=delete]");
    visit.wait_for_names(&["Marvin"]);
    visit.hold("method === 'POST'");
    visit.click("#undo .main");
    // From here on, the time of an offer is over at once.
    visit.run(
        "const start = setTimeout; \
         window.setTimeout = (action, time) => start(action, time === 10_000 ? 0 : time); \
         const offer = document.querySelector('.offer'); \
         offer.dispatchEvent(new MouseEvent('mouseleave')); \
         offer.querySelector('[aria-label=Dismiss]').click()",
    );
    let wait = "setTimeout(arguments[arguments.length - 1], 100)";
    visit.browser.run_async(wait);
    assert_eq!(
        visit.run("return document.querySelectorAll('.offer').length"),
        1
    );
    visit.release();
    visit.wait_for_names(&["BB-8", "Marvin"]);
    visit.wait_for("no offer", "return !document.querySelector('.offer')");
}

#[test]
fn late_answer_leaves_the_focus_in_the_search() {
    let visit = Visit::of(&["BB-8", "Marvin"]);
    let release_in_search = |message: &str| {
        visit.run("document.querySelector('#query').focus()");
        visit.release();
        visit.wait_for_announcement(message);
        assert_eq!(visit.run("return document.activeElement.id"), "query");
    };
    visit.edit("Marvin");
    visit.hold("method === 'PUT'");
    visit.press(&format!("Arthur{ENTER}"));
    release_in_search("Saved Arthur.");
    visit.click("[data-action=delete]");
    visit.wait_for_rows(1);
    visit.hold("method === 'POST'");
    visit.click("#undo .main");
    release_in_search("was restored.");
}

#[test]
fn deleted_robot_is_in_no_list_read_before_or_meanwhile() {
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
    visit.click("[data-key=name] button");
    visit.wait_for("the list", "return window.held === 1");
    visit.click("[aria-label='Delete Marvin']");
    visit.wait_for_names(&["R2-D2", "BB-8"]);
    visit.release();
    visit.press_with(CONTROL, 'z');
    visit.wait_for_names(&["R2-D2", "Marvin", "BB-8"]);
    visit.hold("method === 'DELETE'");
    visit.click("[aria-label='Delete Marvin']");
    visit.click("[data-key=name] button");
    visit.wait_for_names(&["BB-8", "Marvin", "R2-D2"]);
    visit.release();
    visit.wait_for_names(&["BB-8", "R2-D2"]);
}
