//! Import of files.

use std::{fmt::Write, fs};

use crate::{
    keys::ENTER,
    process::{TIMEOUT, wait_for},
    visit::Visit,
};

const FILE: &str = "name,type,year\nBender,mechanical,1999\nMarvin,droid,-1978\n\
                    R2-D2,droid,1977\n<b>,toaster,1\n";

impl Visit {
    /// Opens the form, and chooses a file with this name and content.
    fn choose(&self, name: &str, content: &str) {
        let path = self.folder().join(name);
        fs::write(&path, content).unwrap();
        self.open_panel("importing");
        self.browser.choose_file("#file", &path);
    }

    pub(crate) fn import(&self, name: &str, content: &str) {
        self.choose(name, content);
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
    visit.import("robots.csv", FILE);
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
    for (choice, outcome) in [("skip", "1 skipped"), ("replace", "1 replaced")] {
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
        "The name of the file must end in .csv, .json or .ndjson.",
    );
    visit.import("robots.csv", "first,second\n1,2\n");
    visit.wait_for_text("#import-outcome", "Nothing was imported.");
    visit.wait_for_text(".problems", "name");
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
    visit.press(ENTER);
    visit.wait_for_text("#import-outcome", "Imported: 2 added, 2 failed.");
    visit.wait_for_names(&["Bender", "Marvin", "R2-D2"]);
    // The answer of a proxy that has waited too long for the server.
    visit.run(
        "const answer = { status: 504, responseText: '<h1>Gateway Timeout</h1>' }; \
         for (const [key, value] of Object.entries(answer)) \
         Object.defineProperty(XMLHttpRequest.prototype, key, { get: () => value })",
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
    visit.import("robots.csv", &long_file(20_000));
    visit.wait_for_text("#import-outcome", "Imported: 18,000 added, 2,000 failed.");
    visit.wait_for_text(".problems li:last-child", "… and 1,900 more");
    assert_eq!(visit.run("return window.seen.includes(1)"), true);
    visit.wait_for_text("#count", "18,001 robots");
    // The server takes nothing while it is suspended, so that the import is under way.
    visit.suspend();
    visit.import("robots.csv", &long_file(400_000));
    visit.wait_for_text("#import-running", "sent");
    visit.click("#import-stop");
    visit.resume();
    visit.wait_for_text("#import-outcome", "The import ended early.");
    visit.wait_for_text(".problems", "You have stopped it.");
    wait_for("the form", TIMEOUT, || {
        visit.run("return document.querySelector('#import-running').hidden") == true
    });
}
