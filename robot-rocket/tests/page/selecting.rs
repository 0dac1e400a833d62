//! Robots that are selected, changed and deleted together.

use serde_json::json;

use crate::{
    keys::{DOWN, ENTER, ESCAPE, SPACE},
    visit::Visit,
};

const DELETE: &str = "\u{e017}";
const SHIFT: char = '\u{e008}';

impl Visit {
    /// The names of the robots that are selected in the list.
    fn selected(&self) -> serde_json::Value {
        let script = "return [...document.querySelectorAll('tr:has(.of-select :checked) .name')]\
                      .map((each) => each.textContent)";
        self.run(script)
    }

    fn messages(&self) -> serde_json::Value {
        let script = "return [...document.querySelectorAll('#selection-result li')]\
                      .map((each) => each.textContent)";
        self.run(script)
    }
}

#[test]
fn robots_are_selected_and_deleted_by_keyboard() {
    let visit = Visit::of(&["A", "B", "C", "D", "E"]);
    visit.tab_to("Select A");
    visit.press(&format!("{DOWN}{SPACE}"));
    visit.wait_for_announcement("1 robot selected");
    visit.press(&format!("{DOWN}{DOWN}"));
    visit.press_with(SHIFT, ' ');
    visit.wait_for_text("#selection-count", "3 robots selected");
    assert_eq!(visit.selected(), json!(["B", "C", "D"]));
    let mixed = "return document.querySelector('thead .of-select input').indeterminate";
    assert_eq!(visit.run(mixed), true);
    // Other robots of the same filter stay selected in another order, and none in another filter.
    visit.click("[data-key=name] button");
    visit.wait_for_names(&["E", "D", "C", "B", "A"]);
    assert_eq!(visit.selected(), json!(["D", "C", "B"]));
    visit.tab_to("Select D");
    visit.press(ENTER);
    visit.wait_for_focus("changing-open");
    visit.tab_to("Select D");
    visit.press(&format!("{DELETE}{ENTER}"));
    visit.wait_for_text("#erasing-words", "Delete 3 robots? This cannot be undone.");
    visit.press(ESCAPE);
    visit.wait_for_focus("erasing-open");
    visit.press(&format!("{ENTER}{ENTER}"));
    visit.wait_for_announcement("Deleted 3 robots.");
    visit.wait_for_names(&["E", "A"]);
    visit.wait_for_focus("robots");
    assert_eq!(
        visit.run("return document.querySelector('#selection').hidden"),
        true
    );
    visit.tab_to("Select all on this page");
    visit.press(SPACE);
    assert_eq!(visit.selected(), json!(["E", "A"]));
    visit.press("/A");
    visit.wait_for_names(&["A"]);
    visit.wait_for(
        "no selection",
        "return document.querySelector('#selection').hidden",
    );
}

#[test]
fn selected_robots_are_changed_together_or_not_at_all() {
    let visit = Visit::of(&["A", "B", "C", "D"]);
    visit.run("document.querySelector('thead .of-select input').click()");
    visit.call(
        "PUT",
        "/api/robots/2",
        r#"{"name":"B2","type":"virtual","year":1}"#,
    );
    visit.delete(3);
    let members = "return [...document.querySelectorAll('#changing-member option')]\
                   .map((each) => each.value)";
    assert_eq!(visit.run(members), json!(["type", "year"]));
    visit.press_on("changing-open");
    visit.wait_for_focus("Field");
    visit.press("y");
    visit.press_on("Year");
    visit.wait_for_text("#changing .error", "Year is required.");
    visit.press(&format!("1980{ENTER}"));
    visit.wait_for_text("#selection-result h3", "No robot was changed.");
    visit.wait_for_focus("selection-count");
    assert_eq!(
        visit.messages(),
        json!([
            "B was changed by another user.",
            "C was deleted by another user.",
        ])
    );
    visit.wait_for_names(&["A", "B2", "D"]);
    assert_eq!(visit.selected(), json!(["A", "B2", "D"]));
    visit.assert_stores(r#"{"name":"A","type":"droid","year":1977}"#);
    visit.assert_accessible("failures of a change");
    // The robots are known as they are stored now.
    for (year, outcome) in [
        ("-1", "No robot was changed."),
        ("1980", "Changed 3 robots."),
    ] {
        visit.press_on("changing-open");
        visit.tab_to("Year");
        visit.run("document.activeElement.value = ''");
        visit.press(&format!("{year}{ENTER}"));
        visit.wait_for_announcement(outcome);
        if year == "-1" {
            let message = "The year cannot be less than zero (robots 1, 2, 4)";
            visit.wait_for_text("#selection-result li", message);
        }
    }
    assert_eq!(visit.selected(), json!([]));
    assert_eq!(
        visit.stored(),
        r#"[{"name":"A","type":"droid","year":1980},{"name":"B2","type":"virtual","year":1980},{"name":"D","type":"droid","year":1980}]"#
    );
    // Their new revisions are known, too.
    visit.edit("B2");
    visit.press(&format!("B{ENTER}"));
    visit.wait_for_announcement("Saved B.");
}

#[test]
fn many_robots_are_deleted_by_one_request_also_in_an_outage() {
    let visit = Visit::of_many(60);
    visit.wait_for_rows(60);
    for head in ["thead", "tbody"] {
        visit.run(&format!(
            "document.querySelector('{head} .of-select input').click()"
        ));
    }
    visit.run(
        "const send = window.fetch; window.sent = 0; window.fetch = async (path, options) => { \
         const answer = await send(path, options); \
         if (options.method === 'DELETE' && ++window.sent) throw new TypeError('down'); \
         return answer; }",
    );
    visit.run("document.querySelector('#erasing').requestSubmit()");
    visit.wait_for_text(
        "#selection-result h3",
        "Whether the robots were deleted is unknown.",
    );
    visit.wait_for_text("#count", "1 robot");
    visit.wait_for(
        "no selection",
        "return document.querySelector('#selection-count').textContent === 'no robots selected'",
    );
    assert_eq!(visit.run("return window.sent"), 1);
}
