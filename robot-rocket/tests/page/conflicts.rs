//! Robots that another client changes or deletes meanwhile.

use serde_json::json;

use crate::{
    keys::{ENTER, ESCAPE, TAB},
    visit::Visit,
};

impl Visit {
    /// Starts to edit Marvin, and types another name.
    fn type_name(&self, name: &str) {
        self.edit("Marvin");
        self.press(name);
    }

    /// Changes robot 1 as another client.
    fn change(&self, name: &str, kind: &str, year: &str) {
        let draft = format!(r#"{{"name":"{name}","type":"{kind}","year":{year}}}"#);
        self.call("PUT", "/api/robots/1", &draft);
    }

    /// A visit whose edit of Marvin was overtaken.
    fn overtaken() -> Self {
        let visit = Self::of(&["Marvin"]);
        visit.type_name("Arthur");
        visit.change("Zaphod", "droid", "1979");
        visit.press(ENTER);
        visit.wait_for_text(".conflict h3", "Another user has changed this robot");
        visit
    }
}

#[test]
fn both_versions_are_shown_and_own_one_is_kept() {
    let visit = Visit::overtaken();
    visit.wait_for_announcement("Zaphod was changed by another user. Nothing was saved yet.");
    visit.wait_for(
        "the focus",
        "return document.activeElement.className === 'conflict'",
    );
    let script = "return [...document.querySelectorAll('.conflict tbody tr')].map((row) => \
                  [row.className, ...[...row.cells].map((cell) => cell.textContent)].join('|'))";
    let expected = json!([
        "differs|Name (differs)|Arthur|Zaphod",
        "|Type|droid|droid",
        "differs|Year (differs)|1977|1979"
    ]);
    assert_eq!(visit.run(script), expected);
    let typed = "return document.querySelector('tr.edited input').value";
    assert_eq!(visit.run(typed), "Arthur");
    visit.assert_stores("Zaphod");
    visit.press_on("Keep mine");
    visit.wait_for_focus("Edit Arthur");
    visit.wait_for_announcement("Saved Arthur.");
    assert_eq!(
        visit.stored(),
        r#"[{"name":"Arthur","type":"droid","year":1977}]"#
    );
    // The new revision is known: the robot can be changed again.
    visit.press(ENTER);
    visit.wait_for_focus("Name");
    visit.press(&format!("Ford{ENTER}"));
    visit.wait_for_focus("Edit Ford");
}

#[test]
fn other_version_is_taken() {
    let visit = Visit::overtaken();
    visit.press_on("Take theirs");
    visit.wait_for_focus("Edit Zaphod");
    assert_eq!(visit.names(), ["Zaphod"]);
    assert_eq!(
        visit.stored(),
        r#"[{"name":"Zaphod","type":"droid","year":1979}]"#
    );
}

#[test]
fn editing_continues_and_may_be_overtaken_again() {
    let visit = Visit::overtaken();
    visit.run("document.querySelector('tr.edited input').focus()");
    visit.press(" Dent");
    visit.wait_for_text(".conflict td", "Arthur Dent");
    visit.change("Trillian", "virtual", "1980");
    visit.press(ENTER);
    visit.wait_for_text(".conflict td", "Trillian");
    assert_eq!(
        visit.run("return document.querySelectorAll('.conflict').length"),
        1
    );
    visit.run("document.querySelector('tr.edited input').focus()");
    visit.press(&format!("{TAB}{TAB}1981{ENTER}"));
    visit.wait_for_focus("Edit Arthur Dent");
    assert_eq!(
        visit.stored(),
        r#"[{"name":"Arthur Dent","type":"droid","year":1981}]"#
    );
}

#[test]
fn robot_that_was_deleted_meanwhile_can_be_added_again() {
    let visit = Visit::overtaken();
    visit.delete(1);
    visit.press_on("Keep mine");
    visit.wait_for_text("tr.edited .error", "This robot was deleted meanwhile.");
    visit.press(ENTER);
    visit.wait_for_focus("Edit Arthur");
    // The typed text survives sorting.
    visit.press(ENTER);
    visit.wait_for_focus("Name");
    visit.press("Ford");
    visit.delete(2);
    visit.add("BB-8", "droid", "2015");
    visit.click("[data-key=name] button");
    visit.wait_for_names(&["BB-8"]);
    visit.run("document.querySelector('tr.edited input').focus()");
    visit.press(ENTER);
    visit.wait_for_text("tr.edited .error", "This robot was deleted meanwhile.");
    visit.press(ENTER);
    visit.wait_for_focus("Edit Ford");
    assert_eq!(visit.names(), ["Ford", "BB-8"]);
}

#[test]
fn row_of_a_deleted_robot_is_removed_on_cancel() {
    let visit = Visit::of(&["Marvin", "R2-D2"]);
    visit.type_name("Arthur");
    visit.delete(1);
    visit.press(ENTER);
    visit.wait_for_text("tr.edited .error", "This robot was deleted meanwhile.");
    visit.press(ESCAPE);
    visit.wait_for_focus("Delete R2-D2");
    assert_eq!(visit.names(), ["R2-D2"]);
}

#[test]
fn change_by_another_user_is_a_conflict_only_if_it_differs() {
    let visit = Visit::of(&["Marvin"]);
    visit.type_name("Arthur");
    visit.change("Arthur", "droid", "1977");
    visit.press(ENTER);
    visit.wait_for_focus("Edit Arthur");
    visit.wait_for_announcement("Saved Arthur.");
    // A changed robot is shown instead of deleted.
    visit.change("Zaphod", "droid", "1979");
    visit.press_on("Delete Arthur");
    let message = "Arthur was not deleted: another user has just changed it.";
    visit.wait_for_text("#undo", message);
    visit.wait_for_focus("Delete Zaphod");
    assert_eq!(visit.names(), ["Zaphod"]);
    visit.press(ENTER);
    visit.wait_for_text("#start", "No robots yet");
    assert_eq!(visit.stored(), "[]");
}
