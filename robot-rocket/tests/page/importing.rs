//! Import of files.

use std::{fmt::Write, fs};

use crate::{
    keys::{DOWN, ENTER},
    process::{TIMEOUT, wait_for},
    visit::Visit,
};

const FILE: &str = "name,type,year\nBender,mechanical,1999\nMarvin,droid,-1978\n\
                    R2-D2,droid,1977\n<b>,toaster,1\n";

impl Visit {
    /// Opens the form, and chooses a file with this name and content.
    pub(crate) fn choose(&self, name: &str, content: &str) {
        let path = self.folder().join(name);
        fs::write(&path, content).unwrap();
        self.open_panel("importing");
        self.browser.choose_file("#file", &path);
    }

    pub(crate) fn import(&self, name: &str, content: &str) {
        self.choose(name, content);
        self.submit_import();
    }

    /// Declines the changes of fields that the chosen file needs.
    pub(crate) fn keep_fields(&self) {
        self.wait_for_text("#plan", "Columns of the file");
        self.run("document.querySelectorAll('#plan :checked[type=checkbox]').forEach((box) => box.click())");
    }

    /// Chooses what a column stands for.
    fn choose_field(&self, heading: &str, key: &str) {
        let script = "const select = document.querySelector(`[aria-label='Field of ${arguments[0]}']`); \
                      select.value = arguments[1]; select.dispatchEvent(new Event('change'))";
        self.browser.run(script, &[heading.into(), key.into()]);
    }

    /// The columns of the file: heading, field, and why it is new or changes.
    fn columns(&self) -> serde_json::Value {
        self.run(
            "return [...document.querySelectorAll('#plan tbody tr')].map((row) => \
             [row.cells[0].textContent, row.querySelector('select')?.value ?? '', row.cells[2].textContent].join('|'))",
        )
    }

    pub(crate) fn submit_import(&self) {
        self.run("document.querySelector('#import button').focus()");
        self.press(ENTER);
    }

    /// The messages about records.
    fn problems(&self) -> serde_json::Value {
        let script = "return [...document.querySelectorAll('.problems li')]\
                      .map((each) => each.textContent)";
        self.run(script)
    }
}

#[test]
fn chosen_file_is_imported_with_an_error_per_record() {
    let visit = Visit::of(&["R2-D2"]);
    visit.press_on("importing-open");
    visit.wait_for_focus("File (or drop one on this page)");
    visit.choose("robots.csv", FILE);
    visit.keep_fields();
    visit.submit_import();
    visit.wait_for_text("#import-outcome", "Imported: 1 added, 3 failed.");
    visit.wait_for_announcement("Imported: 1 added, 3 failed. line 3: The year");
    assert_eq!(
        visit.problems(),
        serde_json::json!([
            "line 3 The year cannot be less than zero",
            "line 4 The robot name must be unique",
            "line 5 Value of field 'type' must be part of list: droid, mechanical, virtual",
            "For names that are taken, choose above what to do, and import the file again.",
        ])
    );
    visit.wait_for_names(&["Bender", "R2-D2"]);
    visit.wait_for_text("#count", "2 robots");
}

#[test]
fn names_that_are_taken_are_skipped_or_replaced() {
    let visit = Visit::of(&["R2-D2"]);
    let robot = r#"{"name":"R2-D2","type":"virtual","year":1}"#;
    for (choice, outcome) in [("skip", "1 skipped"), ("replace", "1 changed")] {
        let script = "document.querySelector('#on-conflict').value = arguments[0]";
        visit.browser.run(script, &[choice.into()]);
        visit.import("robots.ndjson", robot);
        visit.wait_for_text("#import-outcome", outcome);
    }
    visit.wait_for_text("#table tbody", "virtual");
    visit.import("robots.json", &format!("[{robot}"));
    visit.wait_for_text("#import-outcome", "Nothing was imported.");
    visit.wait_for_text(".problems", "record 1 What begins here does not end");
}

#[test]
fn file_that_cannot_be_imported_is_explained() {
    let visit = Visit::of(&["Marvin"]);
    visit.open_panel("importing");
    visit.click("#import button");
    visit.wait_for_text("#file-error", "Choose a file first.");
    visit.import("robots.txt", FILE);
    visit.wait_for_text(
        "#file-error",
        "The name of the file must end in .csv, .json, .ndjson or .xlsx.",
    );
    visit.import("robots.csv", "first,second\n1,2\n");
    visit.wait_for_text("#plan-error", "no column stands for the name");
    assert_eq!(visit.names(), ["Marvin"]);
    let script = "const data = new DataTransfer(); \
                  data.items.add(new File([arguments[0]], 'robots.CSV')); \
                  for (const type of ['dragover', 'drop']) document.querySelector('#robots')\
                  .dispatchEvent(new DragEvent(type, \
                  { dataTransfer: data, bubbles: true, cancelable: true }))";
    visit.browser.run(script, &[FILE.into()]);
    visit.wait_for_focus("Import");
    assert_eq!(
        visit.run("return document.querySelector('#import.over')"),
        serde_json::json!(null)
    );
    visit.keep_fields();
    visit.press(ENTER);
    visit.wait_for_text("#import-outcome", "Imported: 2 added, 2 failed.");
    visit.wait_for_names(&["Bender", "Marvin", "R2-D2"]);
    // The answer of a proxy that has waited too long for the server.
    visit.run(
        "const answer = { status: 504, responseText: '<h1>Gateway Timeout</h1>' }; \
         for (const [key, value] of Object.entries(answer)) { \
         const { get } = Object.getOwnPropertyDescriptor(XMLHttpRequest.prototype, key); \
         Object.defineProperty(XMLHttpRequest.prototype, key, { get() { \
         return this.responseURL.includes('propose') ? get.call(this) : value; } }); }",
    );
    visit.import("robots.csv", "name,type,year\nC-3PO,droid,1977\n");
    visit.wait_for_text("#import-outcome", "The import ended early.");
    visit.wait_for_text(".problems", "The server answered 504.");
    visit.wait_for_names(&["Bender", "C-3PO", "Marvin", "R2-D2"]);
}

/// A file with this number of robots, and one in ten with a wrong type.
fn long_file(count: u32) -> String {
    let mut file = "name,type,year\n".to_owned();
    for number in 0..count {
        let kind = if number % 10 == 0 { "toaster" } else { "droid" };
        writeln!(file, "robot {number:06},{kind},1977").unwrap();
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
    visit.choose("robots.csv", &long_file(20_000));
    visit.keep_fields();
    visit.submit_import();
    visit.wait_for_text("#import-outcome", "Imported: 18,000 added, 2,000 failed.");
    visit.wait_for_text(".problems li:last-child", "… and 1,900 more");
    assert_eq!(visit.run("return window.seen.includes(1)"), true);
    visit.wait_for_text("#count", "18,001 robots");
    // The server takes nothing while it is suspended, so that the import is under way.
    visit.choose("robots.csv", &long_file(400_000));
    visit.keep_fields();
    visit.suspend();
    visit.submit_import();
    visit.wait_for_text("#import-running", "sent");
    visit.click("#import-stop");
    visit.resume();
    visit.wait_for_text("#import-outcome", "The import ended early.");
    visit.wait_for_text(".problems", "You have stopped it.");
    wait_for("the form", TIMEOUT, || {
        visit.run("return document.querySelector('#import-running').hidden") == true
    });
}

#[test]
fn file_of_a_stranger_is_imported_with_the_chosen_columns() {
    let visit = Visit::of(&[]);
    visit.import(
        "museum.csv",
        "Title;Type;Year;Accession No;Weight;Notes\nOwl;coin;-450;1920.10;17.2;x\nEagle;coin;;1920.11;4;y\n",
    );
    visit.wait_for_text("#plan-error", "no column stands for the name");
    visit.choose_field("Title", "name");
    visit.wait_for_text("#plan", "Change Year: the least is -450");
    visit.choose_field("Notes", "");
    let columns = serde_json::json!([
        "Title|name|",
        "Type|type|Change Type: the file has other types",
        "Year|year|Change Year: the least is -450; optional: 1 record has no value",
        "Accession No|accession_no|new: a number because of '1920.10' (line 2)",
        "Weight|weight|new: a number because of '17.2' (line 2)",
        "Notes||",
    ]);
    wait_for("the columns", TIMEOUT, || visit.columns() == columns);
    visit.set_width(360);
    visit.assert_accessible("the columns of a file");
    let overflow = "return document.documentElement.scrollWidth <= innerWidth";
    assert_eq!(visit.run(overflow), true);
    visit.set_width(1200);
    // Another user defines a field meanwhile.
    let other = r#"{"properties": {"weight": {"type": "number"}}}"#;
    visit.call("PUT", "/v1/definition", other);
    visit.submit_import();
    visit.wait_for_text(
        "#import-result",
        "The columns are shown for the new fields now.",
    );
    visit.submit_import();
    visit.wait_for_text("#import-outcome", "Imported: 2 added.");
    visit.wait_for_text("#import-result", "Left out: Notes.");
    let stored = visit.call("GET", "/v1/robots", "");
    let robot = r#"{"id":"1","name":"Owl","type":"coin","year":-450,"weight":17.2,"accession_no":1920.1,"revision":1}"#;
    assert!(stored.contains(robot), "{stored}");
    assert!(
        stored.contains(r#""name":"Eagle","type":"coin","weight":4"#),
        "{stored}"
    );
    visit.wait_for_text("#table", "1920.11");
}

#[test]
fn ids_of_a_file_change_robots_only_if_that_is_chosen() {
    let visit = Visit::of(&["A", "B"]);
    visit.import("robots.csv", "id,name\n1,A2\n2,B\n9,C\n");
    visit.wait_for_text("#plan-error", "Choose what the ids are for.");
    visit.wait_for_focus("The file has ids. It changes");
    visit.press(DOWN);
    visit.press_on("import-check");
    let outcome = "1 changed, 1 unchanged, 1 failed.";
    visit.wait_for_text(
        "#import-outcome",
        &format!("Checked, nothing was stored: {outcome}"),
    );
    assert_eq!(visit.names(), ["A", "B"]);
    visit.submit_import();
    visit.wait_for_text("#import-outcome", &format!("Imported: {outcome}"));
    visit.wait_for_names(&["A2", "B"]);
}
