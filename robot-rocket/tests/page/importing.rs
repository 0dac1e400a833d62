//! Import of files.

use std::{fmt::Write, fs};

use serde_json::json;

use crate::{
    keys::{DOWN, ENTER, SPACE},
    process::{TIMEOUT, wait_for},
    visit::Visit,
};

/// Two records, and two that fail.
const FILE: &str = "name,type,year\nBender,mechanical,1999\n,droid,1978\n<b>,droid,1\n,droid,1\n";

impl Visit {
    /// Opens the form, and chooses a file with this name and content.
    pub(crate) fn choose(&self, name: &str, content: &str) {
        let path = self.folder().join(name);
        fs::write(&path, content).unwrap();
        self.open_panel("importing");
        self.browser.choose_file("#file", &path);
    }

    /// Chooses a file, waits for its plan, and imports the records that do not fail.
    pub(crate) fn import(&self, name: &str, content: &str) {
        self.choose(name, content);
        self.wait_for_text("#plan-counts", "Nothing is stored yet.");
        self.run("if (!document.querySelector('#plan-others').hidden) document.querySelector('#keep-going').click()");
        self.submit_import();
    }

    pub(crate) fn submit_import(&self) {
        self.run("document.querySelector('#import-submit').focus()");
        self.press(ENTER);
    }

    /// Changes a choice of the plan.
    fn choose_in(&self, selector: &str, value: &str) {
        let script = "const box = document.querySelector(arguments[0]); \
                      box.value = arguments[1]; box.dispatchEvent(new Event('change'))";
        self.browser.run(script, &[selector.into(), value.into()]);
    }

    /// The columns of the plan: heading, field, kind if it is new, and the reason.
    fn columns(&self) -> serde_json::Value {
        self.run(
            "return [...document.querySelectorAll('#plan tbody tr')].map(({ cells }) => [cells[0].textContent, \
             ...[...cells[1].querySelectorAll('select')].map(({ value }) => value), cells[2].textContent].join('|'))",
        )
    }

    /// The messages about records in an element.
    fn problems(&self, place: &str) -> serde_json::Value {
        let script = "return [...document.querySelectorAll(`${arguments[0]} .problems li`)]\
                      .map((each) => each.textContent)";
        self.browser.run(script, &[place.into()])
    }
}

#[test]
fn plan_with_failing_records_is_imported_if_that_is_chosen() {
    let visit = Visit::of(&["R2-D2"]);
    visit.press_on("importing-open");
    visit.wait_for_focus("File (or drop one on this page)");
    visit.choose("robots.csv", FILE);
    let plan = "Would add 2 robots, fail 2. Nothing is stored yet.";
    visit.wait_for_announcement(plan);
    visit.wait_for_text("#plan-counts", plan);
    let failures = json!(["line 3 name is required", "line 5 name is required"]);
    assert_eq!(visit.problems("#plan"), failures);
    visit.wait_for_text("#import-submit", "Import 2 robots");
    visit.submit_import();
    visit.wait_for_text("#plan-error", "2 of 4 records fail. Correct the file");
    visit.wait_for_focus("Import the others, and leave out 2 records that fail");
    assert_eq!(visit.names(), ["R2-D2"]);
    visit.press(SPACE);
    visit.submit_import();
    visit.wait_for_text("#import-outcome", "Added 2 robots, failed 2.");
    visit.wait_for_announcement("Added 2 robots, failed 2. line 3: name is required");
    assert_eq!(visit.problems("#import-result"), failures);
    visit.wait_for_names(&["<b>", "Bender", "R2-D2"]);
    visit.wait_for_text("#count", "3 robots");
    // The file is corrected, and chosen again.
    visit.choose("robots.csv", "name,type,year\nHAL,virtual,1968\n");
    visit.wait_for_text("#plan-counts", "Would add 1 robot.");
    // Another client changes the catalogue after the plan.
    visit.add("HAL", "virtual", "1968");
    visit.submit_import();
    visit.wait_for_text(
        "#plan-error",
        "The catalogue has changed: look at the new plan.",
    );
    visit.wait_for_text("#plan-counts", "Would add no robots, fail 1.");
    visit.submit_import();
    visit.wait_for_text(
        "#plan-error",
        "1 of 1 records fail. Correct the file and choose it again.",
    );
}

#[test]
fn robots_that_exist_are_skipped_or_changed() {
    let visit = Visit::of(&["R2-D2"]);
    let robot = r#"{"name":"R2-D2","type":"virtual","year":1}"#;
    visit.choose("robots.ndjson", robot);
    visit.wait_for_text("#plan", "To change these robots, find records by Name");
    visit.choose_in("#on-conflict", "skip");
    visit.wait_for_text("#plan-counts", "Would add no robots, skip 1.");
    visit.choose_in("#on-conflict", "");
    visit.choose_in("#import-match", "name");
    visit.wait_for_text("#plan-counts", "Would add no robots, change 1.");
    visit.submit_import();
    visit.wait_for_text("#import-outcome", "Added no robots, changed 1.");
    visit.wait_for_text("#table tbody", "virtual");
    visit.choose("robots.json", &format!("[{robot}"));
    visit.wait_for_text("#plan-error", "record 1: What begins here does not end");
    // Equal robots of a catalogue whose names repeat.
    let equal = "name,type,year\nR2-D2,virtual,1\nBender,droid,1\nBender,droid,2\n";
    visit.import("equal.csv", equal);
    visit.wait_for_text("#import-outcome", "Added 2 robots, failed 1.");
    visit.choose("again.csv", equal);
    visit.wait_for_text("#plan", "to add them again, choose “add it again”");
    visit.choose_in("#on-conflict", "add");
    visit.wait_for_text("#plan-counts", "Would add 3 robots.");
}

#[test]
fn file_that_cannot_be_imported_is_explained() {
    let visit = Visit::of(&["Marvin"]);
    visit.open_panel("importing");
    visit.click("#import-submit");
    visit.wait_for_text("#file-error", "Choose a file first.");
    visit.choose("robots.txt", FILE);
    visit.wait_for_text(
        "#file-error",
        "The name of the file must end in .csv, .json, .ndjson or .xlsx.",
    );
    visit.choose("robots.csv", "first,second\n1,2\n");
    visit.wait_for_text(
        "#plan-error",
        "no column stands for the name; map one to it",
    );
    let script = "const data = new DataTransfer(); \
                  data.items.add(new File([arguments[0]], 'robots.CSV')); \
                  for (const type of ['dragover', 'drop']) document.querySelector('#robots')\
                  .dispatchEvent(new DragEvent(type, \
                  { dataTransfer: data, bubbles: true, cancelable: true }))";
    visit.browser.run(script, &[FILE.into()]);
    visit.wait_for_text("#plan-counts", "Would add 2 robots, fail 2.");
    visit.wait_for_focus("import-submit");
    visit.click("#keep-going");
    visit.submit_import();
    visit.wait_for_text("#import-outcome", "Added 2 robots, failed 2.");
    visit.wait_for_names(&["<b>", "Bender", "Marvin"]);
    visit.choose("robots.csv", "name,type,year\nC-3PO,droid,1977\n");
    visit.wait_for_text("#plan-counts", "Would add 1 robot.");
    let path = visit.folder().join("robots.csv");
    fs::write(path, "name,type,year\nC-3PO,droid,1978\nK-9,droid,1977\n").unwrap();
    visit.submit_import();
    visit.wait_for_text("#file-error", "The file was changed; choose it again.");
    assert_eq!(visit.names(), ["<b>", "Bender", "Marvin"]);
    visit.import("others.csv", "name,type,year\nHAL,virtual,1968\n");
    visit.wait_for_text("#import-outcome", "Added 1 robot.");
    visit.wait_for_names(&["<b>", "Bender", "HAL", "Marvin"]);
}

#[test]
fn response_of_a_proxy_ends_the_import_with_a_message() {
    let visit = Visit::of(&["Marvin"]);
    visit.run(
        "window.answers = {}; for (const key of ['status', 'responseText']) { \
         const { get } = Object.getOwnPropertyDescriptor(XMLHttpRequest.prototype, key); \
         Object.defineProperty(XMLHttpRequest.prototype, key, { get() { \
         return window.answers[this.responseURL.includes('propose')]?.[key] ?? get.call(this); } }); }",
    );
    let (timeout, login) = (
        json!({"status": 504, "responseText": "<h1>Gateway Timeout</h1>"}),
        json!({"responseText": "<h1>Please log in</h1>"}),
    );
    for (number, answer, message) in [
        (1, timeout, "The server answered 504."),
        (2, login, "The response is not of the catalogue"),
    ] {
        let answers = |propose: bool| {
            let script = "window.answers = { [arguments[0]]: arguments[1] }";
            visit.browser.run(script, &[propose.into(), answer.clone()]);
        };
        answers(true);
        let file = format!("name,type,year\nC-{number}PO,droid,1977\n");
        visit.choose(&format!("robots{number}.csv"), &file);
        visit.wait_for_text("#plan-error", message);
        answers(false);
        visit.submit_import();
        visit.wait_for_text("#plan-counts", "Would add 1 robot.");
        visit.submit_import();
        visit.wait_for_text("#import-outcome", "The import ended early.");
        visit.wait_for_text("#import-result", message);
        visit.wait_for_text("#import-result", "A part may be stored.");
        visit.wait_for(
            "the end",
            "return document.querySelector('#import-running').hidden",
        );
    }
    visit.wait_for_names(&["C-1PO", "C-2PO", "Marvin"]);
}

/// A file with this number of robots, and one in ten without a name.
fn long_file(count: u32) -> String {
    let mut file = "name,type,year\n".to_owned();
    for number in 0..count {
        if number % 10 == 0 {
            file.push_str(",droid,1977\n");
        } else {
            writeln!(file, "robot {number:06},droid,1977").unwrap();
        }
    }
    file
}

#[test]
fn long_import_shows_progress_and_can_be_stopped() {
    let visit = Visit::of(&["Marvin"]);
    visit.run(
        "window.seen = []; new MutationObserver(() => window.seen.push(document.querySelector(\
         '#import-progress').value)).observe(document.querySelector('#import-words'), \
         { childList: true })",
    );
    visit.import("robots.csv", &long_file(20_000));
    visit.wait_for_text("#import-outcome", "Added 18,000 robots, failed 2,000.");
    visit.wait_for_text("#import-result .problems li:last-child", "… and 1,900 more");
    assert_eq!(visit.run("return window.seen.includes(1)"), true);
    visit.wait_for_text("#count", "18,001 robots");
    // The server takes nothing while it is suspended, so that the request is under way.
    visit.suspend();
    visit.choose("long.csv", &long_file(400_000));
    visit.wait_for_text("#import-running", "sent");
    visit.click("#import-stop");
    visit.wait_for_text("#plan-error", "You have stopped it.");
    visit.resume();
    visit.choose("more.csv", "name,type,year\nHAL,virtual,1968\n");
    visit.wait_for_text("#plan-counts", "Would add 1 robot.");
    visit.suspend();
    visit.submit_import();
    visit.wait_for_text("#import-running", "Storing…");
    visit.click("#import-stop");
    visit.resume();
    visit.wait_for_text("#import-outcome", "The import ended early.");
    visit.wait_for_text(".problems", "You have stopped it.");
    visit.wait_for(
        "the end",
        "return document.querySelector('#import-running').hidden",
    );
}

#[test]
fn file_of_a_stranger_is_imported_with_the_chosen_columns() {
    let visit = Visit::of(&[]);
    visit.choose(
        "museum.csv",
        "Title;Type;Year;Accession No;Weight;Notes;Made\nOwl;coin;-450;1920.10;17.2;x;01/02/2020\n\
         Eagle;coin;;1920.11;none;y;none\n",
    );
    visit.wait_for_text("#plan-error", "no column stands for the name");
    visit.choose_in("[aria-label='Field of Title']", "name");
    visit.choose_in("#import-nulls", "none, n/a");
    visit.wait_for_text("#plan", "choose the order of dates");
    visit.choose_in("[aria-label='Field of Notes']", "");
    visit.choose_in("[aria-label='Kind of Accession No']", "text");
    visit.choose_in("#import-dates", "dmy");
    let columns = json!([
        "Title|name|",
        "Type|type|the file has other types",
        "Year|year|the least is -450; optional: 1 record has no value",
        "Accession No|accession_no|text|new: chosen",
        "Weight|weight|number|new: a number because of '17.2' (line 2)",
        "Notes||left out",
        "Made|made|date|new: each value is one, such as '01/02/2020' (line 2)",
    ]);
    wait_for("the columns", TIMEOUT, || visit.columns() == columns);
    visit.set_width(360);
    visit.assert_accessible("the plan of a file");
    let overflow = "return document.documentElement.scrollWidth <= innerWidth";
    assert_eq!(visit.run(overflow), true);
    visit.set_width(1200);
    assert!(
        !visit
            .call("GET", "/v1/definition", "")
            .contains("accession_no")
    );
    // Another user defines a field meanwhile.
    let other = r#"{"properties": {"weight": {"type": "number"}}}"#;
    visit.call("PUT", "/v1/definition", other);
    let button = "Define these fields, and import 2 robots";
    visit.wait_for_text("#import-submit", button);
    visit.submit_import();
    visit.wait_for_text("#import-outcome", "Added 2 robots.");
    let stored = visit.call("GET", "/v1/robots", "");
    let robot = r#"{"id":"1","name":"Owl","type":"coin","year":-450,"weight":17.2,"accession_no":"1920.10","made":"2020-02-01","revision":1}"#;
    assert!(stored.contains(robot), "{stored}");
    visit.wait_for_text("#table", "1920.11");
}

#[test]
fn ids_of_a_file_change_robots_only_if_that_is_chosen() {
    let visit = Visit::of(&["A", "B"]);
    visit.choose("robots.csv", "id,name\n1,A2\n2,B\n9,C\n");
    visit.wait_for_text("#plan", "new: each value is one, such as '1' (line 2)");
    visit.run("document.querySelector('#import-match').focus()");
    visit.press(DOWN);
    let plan = "Would add no robots, change 1, leave unchanged 1, fail 1.";
    visit.wait_for_text("#plan-counts", plan);
    assert_eq!(visit.names(), ["A", "B"]);
    visit.click("#keep-going");
    visit.submit_import();
    let outcome = "Added no robots, changed 1, left unchanged 1, failed 1.";
    visit.wait_for_text("#import-outcome", outcome);
    visit.wait_for_names(&["A2", "B"]);
}
