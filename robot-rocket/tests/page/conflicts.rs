//! Robots that another user changes while they are edited or deleted.

use crate::{
    calls::call,
    keys::{ENTER, ESCAPE, TAB},
    visit::Visit,
};

impl Visit {
    /// Starts to edit Marvin, the only robot, and types another name.
    fn type_name(&self, name: &str) {
        self.edit("Marvin");
        self.browser.press(name.chars());
    }

    /// Changes robot 1 as another client.
    fn change(&self, name: &str, kind: &str, year: &str) {
        let draft = format!(r#"{{"name":"{name}","type":"{kind}","year":{year}}}"#);
        let answer = self.call("PUT", "/api/robots/1", &draft);
        assert_eq!(answer.status, 200, "{}", answer.text());
    }

    /// A visit whose edit of Marvin was overtaken.
    fn overtaken() -> Self {
        let visit = Self::of(&["Marvin"]);
        visit.type_name("Arthur");
        visit.change("Zaphod", "droid", "1979");
        visit.browser.press([ENTER]);
        visit.wait_for_text(".conflict h3", "Another user has changed this robot");
        visit
    }

    fn click_in_conflict(&self, title: &str) {
        self.press_on(title);
    }
}

#[test]
fn both_versions_are_shown_side_by_side() {
    let visit = Visit::overtaken();
    visit.wait_for_announcement("Zaphod was changed by another user. Nothing was saved yet.");
    visit.wait_for(
        "the focus",
        "return document.activeElement.className === 'conflict'",
    );
    let script = "return [...document.querySelectorAll('.conflict tbody tr')].map((row) => \
                  [row.className, ...[...row.cells].map((cell) => cell.textContent)].join('|'))";
    assert_eq!(
        visit.run(script),
        serde_json::json!([
            "differs|Name (differs)|Arthur|Zaphod",
            "|Type|droid|droid",
            "differs|Year (differs)|1977|1979"
        ])
    );
    let typed = "return document.querySelector('tr.edited input').value";
    assert_eq!(visit.run(typed), "Arthur");
    visit.assert_stores("Zaphod");
}

#[test]
fn own_version_is_kept() {
    let visit = Visit::overtaken();
    visit.click_in_conflict("Keep mine");
    visit.wait_for_focus("Edit Arthur");
    visit.wait_for_announcement("Saved Arthur.");
    assert_eq!(
        visit.stored(),
        r#"[{"name":"Arthur","type":"droid","year":1977}]"#
    );
    // The new revision is known: the robot can be changed again.
    visit.browser.press([ENTER]);
    visit.wait_for_focus("Name");
    visit.browser.press("Ford".chars().chain([ENTER]));
    visit.wait_for_focus("Edit Ford");
}

#[test]
fn other_version_is_taken() {
    let visit = Visit::overtaken();
    visit.click_in_conflict("Take theirs");
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
    visit.browser.press(" Dent".chars());
    visit.wait_for_text(".conflict td", "Arthur Dent");
    visit.change("Trillian", "virtual", "1980");
    visit.browser.press([ENTER]);
    visit.wait_for_text(".conflict td", "Trillian");
    let count = "return document.querySelectorAll('.conflict').length";
    assert_eq!(visit.run(count), 1);
    visit.run("document.querySelector('tr.edited input').focus()");
    visit.browser.press([TAB, TAB]);
    visit.browser.press("1981".chars().chain([ENTER]));
    visit.wait_for_focus("Edit Arthur Dent");
    assert_eq!(
        visit.stored(),
        r#"[{"name":"Arthur Dent","type":"droid","year":1981}]"#
    );
}

#[test]
fn robot_that_was_deleted_after_a_conflict_can_be_added_again() {
    let visit = Visit::overtaken();
    visit.delete(1);
    visit.click_in_conflict("Keep mine");
    visit.wait_for_text("tr.edited .error", "This robot was deleted meanwhile.");
    visit.browser.press([ENTER]);
    visit.wait_for_focus("Edit Arthur");
}

#[test]
fn typed_text_survives_deletion_and_sorting() {
    let visit = Visit::of(&["Marvin", "R2-D2"]);
    visit.type_name("Arthur");
    visit.delete(1);
    visit.add("BB-8", "droid", "2015");
    visit.browser.click("[data-key=name] button");
    visit.wait_for_names(&["R2-D2", "BB-8"]);
    visit.run("document.querySelector('tr.edited input').focus()");
    visit.browser.press([ENTER]);
    visit.wait_for_text("tr.edited .error", "This robot was deleted meanwhile.");
    visit.browser.press([ENTER]);
    visit.wait_for_focus("Edit Arthur");
    assert_eq!(visit.names(), ["R2-D2", "BB-8", "Arthur"]);
}

#[test]
fn row_of_a_deleted_robot_is_removed_on_cancel() {
    let visit = Visit::of(&["Marvin", "R2-D2"]);
    visit.type_name("Arthur");
    visit.delete(1);
    visit.browser.press([ENTER]);
    visit.wait_for_text("tr.edited .error", "This robot was deleted meanwhile.");
    visit.browser.press([ESCAPE]);
    visit.wait_for_focus("Delete R2-D2");
    assert_eq!(visit.names(), ["R2-D2"]);
}

#[test]
fn same_change_by_another_user_is_no_conflict() {
    let visit = Visit::of(&["Marvin"]);
    visit.type_name("Arthur");
    visit.change("Arthur", "droid", "1977");
    visit.browser.press([ENTER]);
    visit.wait_for_focus("Edit Arthur");
    visit.wait_for_announcement("Saved Arthur.");
}

#[test]
fn changed_robot_is_shown_instead_of_deleted() {
    let visit = Visit::of(&["Marvin"]);
    visit.change("Zaphod", "droid", "1979");
    visit.press_on("Delete Marvin");
    visit.wait_for_text(
        "#undo",
        "Marvin was not deleted: another user has just changed it.",
    );
    visit.wait_for_focus("Delete Zaphod");
    assert_eq!(visit.names(), ["Zaphod"]);
    visit.browser.press([ENTER]);
    visit.wait_for_text("#start", "No robots yet");
    assert_eq!(visit.stored(), "[]");
}
