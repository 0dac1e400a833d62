//! Import and export of files.

use std::{fmt::Write, fs};

use serde_json::json;

use crate::visit::Visit;

/// The messages about records.
const FAILURES: &str = r#"["line 3 Name is required", "line 5 Name is required"]"#;

/// Two records, and two that fail.
const FILE: &str = r"name,type,year\nBender,mechanical,1999\n,droid,1978\n<b>,droid,1\n,droid,1\n";

#[test]
fn plan_with_failing_records_is_imported_if_that_is_chosen() {
    // Another client changes the catalogue after the plan.
    Visit::of(&["R2-D2"]).play(&format!(
        r#"press importing-open -> focus File (or drop one on this page) -> choose robots.csv {FILE}
           said Would add 2 robots, fail 2. Nothing is stored yet.
           see #plan-counts: Would add 2 robots, fail 2. Nothing is stored yet.
           is texts('#plan .problems li') == {FAILURES} -> see #import-submit: Import 2 robots
           import -> see #plan-error: 2 of 4 records fail. Correct the file
           focus Import the others, and leave out 2 records that fail -> names R2-D2
           type <Space> -> import -> see #import-outcome: Added 2 robots, failed 2.
           said Added 2 robots, failed 2. line 3: name is required
           is texts('#import-result .problems li') == {FAILURES}
           names <b>, Bender, R2-D2 -> see #count: 3 robots
           choose robots.csv name,type,year\nHAL,virtual,1968\n -> see #plan-counts: Would add 1 robot.
           POST /api/robots {{"name":"HAL","type":"virtual","year":1968}}
           import -> see #plan-error: The catalogue has changed: look at the new plan.
           see #plan-counts: Would add no robots, fail 1.
           import -> see #plan-error: 1 of 1 records fail. Correct the file and choose it again."#
    ));
}

#[test]
fn robots_that_exist_are_skipped_or_changed() {
    let robot = r#"{"name":"R2-D2","type":"virtual","year":1}"#;
    // Then equal robots of a catalogue whose names repeat.
    let equal = r"name,type,year\nR2-D2,virtual,1\nBender,droid,1\nBender,droid,2\n";
    Visit::of(&["R2-D2"]).play(&format!(
        "choose robots.ndjson {robot} -> see #plan: Find robots by Name, and change them
         set #on-conflict = skip -> see #plan-counts: Would add no robots, skip 1.
         set #on-conflict = -> see #plan-counts: Would add no robots, fail 1.
         press Find robots by Name, and change them -> see #plan-counts: Would add no robots, change 1.
         is texts('#plan .changes tbody tr') == [\"R2-D2Typedroidvirtual\", \"R2-D2Year19771\"]
         import -> see #import-outcome: Added no robots, changed 1. -> see #table tbody: virtual
         choose robots.json [{robot} -> see #plan-error: record 1: What begins here does not end
         choose equal.csv {equal} -> see #plan-counts: Would add 2 robots, fail 1.
         set #on-conflict = skip -> see #plan-counts: Would add 2 robots, skip 1.
         import -> see #import-outcome: Added 2 robots, skipped 1.
         choose again.csv {equal} -> see #plan: to add them again, choose “add it again”
         set #on-conflict = add -> see #plan-counts: Would add 3 robots."
    ));
}

#[test]
fn file_that_cannot_be_imported_is_explained() {
    let visit = Visit::of(&["Marvin"]);
    visit.play(&format!(
        r#"panel importing -> click #import-submit -> see #file-error: Choose a file first.
          choose robots.txt {FILE}
          see #file-error: The name of the file must end in .csv, .json, .ndjson or .xlsx.
          choose robots.csv first,second\n1,2\n -> see #plan-counts: Would add 1 robot.
          is [$('#plan-name select').value, $('#plan-error').textContent] == ["first", ""]
          run $('#plan-name select').focus() -> type <Down> -> focus Column of the name -> see #plan-columns tr:first-child: this type fits each value, such as '1'
          choose titles.csv first,Title,text\n1,2,b\n -> see #plan-name: Which column is the name of each robot?
          is $('#plan-name select').value == "Title""#
    ));
    let drop = "const data = new DataTransfer(); data.items.add(new File([arguments[0]], 'robots.CSV')); \
                for (const type of ['dragover', 'drop']) $('#robots').dispatchEvent(new DragEvent(type, \
                { dataTransfer: data, bubbles: true, cancelable: true }))";
    let file = FILE.replace("\\n", "\n");
    visit.browser.run(drop, &[file.into()]);
    visit.play(
        r"see #plan-counts: Would add 2 robots, fail 2. -> focus import-submit -> click #keep-going
          import -> see #import-outcome: Added 2 robots, failed 2. -> names <b>, Bender, Marvin
          choose robots.csv name,type,year\nC-3PO,droid,1977\n -> see #plan-counts: Would add 1 robot.",
    );
    let path = visit.folder().join("robots.csv");
    fs::write(path, "name,type,year\nC-3PO,droid,1978\nK-9,droid,1977\n").unwrap();
    visit.play(
        r"import -> see #file-error: The file was changed; choose it again. -> names <b>, Bender, Marvin
          choose others.csv name,type,year\nHAL,virtual,1968\n -> see #plan-counts: Nothing is stored yet.
          import -> see #import-outcome: Added 1 robot. -> names <b>, Bender, HAL, Marvin",
    );
}

#[test]
fn first_import_lays_out_the_columns() {
    Visit::of(&[]).play(
        r"choose robots.csv name,type,year\nC-3PO,droid,1977\n -> see #plan-counts: Would add 1 robot.
          import -> names C-3PO -> is $$('#table col').length == $('#headings tr').cells.length == true",
    );
}

#[test]
fn correction_finds_its_records_by_a_unique_field() {
    let visit = Visit::museum();
    let owl = r#"{"name":"Strix","type":"coin","year":1,"accession":"1977.7"}"#;
    visit.call("POST", "/v1/robots", owl);
    visit.play(
        r"choose makers.csv accession,maker\n1977.7,Phidias\n -> see #plan-counts: change 1. Nothing is stored yet.
          is $('#import-match').value == 'accession' == true -> import -> see #import-outcome: changed 1. -> see #table: Phidias
          choose notes.csv notes,maker\nOld,Phidias\n -> see #plan-error: no column stands for the name",
    );
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
    let timeout = r#"{"status": 504, "responseText": "<h1>Gateway Timeout</h1>"}"#;
    let login = r#"{"responseText": "<h1>Please log in</h1>"}"#;
    for (number, answer, message) in [
        (1, timeout, "The server answered 504."),
        (2, login, "The response is not of the catalogue"),
    ] {
        visit.play(&format!(
            r"run window.answers = {{ true: {answer} }}
              choose robots{number}.csv name,type,year\nC-{number}PO,droid,1977\n -> see #plan-error: {message}
              run window.answers = {{ false: {answer} }} -> import -> see #plan-counts: Would add 1 robot.
              import -> see #import-outcome: The import ended early. -> see #import-result: {message}
              see #import-result: A part may be stored. -> is $('#import-running').hidden == true"
        ));
    }
    visit.play("names C-1PO, C-2PO, Marvin");
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
        "window.seen = []; new MutationObserver(() => window.seen.push($('#import-progress').value))\
         .observe($('#import-words'), { childList: true })",
    );
    visit.choose("robots.csv", &long_file(20_000));
    visit.play(
        "see #plan-counts: Nothing is stored yet. -> click #keep-going
         import -> see #import-outcome: Added 18,000 robots, failed 2,000.
         see #import-result .problems li:last-child: … and 1,900 more
         is window.seen.includes(1) == true -> see #count: 18,001 robots
         click #undo .offer button -> said Undone for 18,000 robots. -> see #count: 1 robot",
    );
    // The server takes nothing while it is suspended, so that the request is under way.
    visit.signal("STOP");
    visit.choose("long.csv", &long_file(400_000));
    visit.play(
        "see #import-running: sent -> click #import-stop -> see #plan-error: You have stopped it.",
    );
    visit.signal("CONT");
    visit.play(
        r"choose more.csv name,type,year\nHAL,virtual,1968\n -> see #plan-counts: Would add 1 robot.",
    );
    visit.signal("STOP");
    visit.play("import -> see #import-running: Storing… -> click #import-stop");
    visit.signal("CONT");
    visit.play(
        "see #import-outcome: The import ended early. -> see .problems: You have stopped it.
         is $('#import-running').hidden == true",
    );
}

#[test]
fn file_of_a_stranger_is_imported_with_the_chosen_columns() {
    let visit = Visit::of(&[]);
    let columns = json!([
        "Title|name|",
        "Type|type|the file has other types",
        "Year|year|the least is -450; optional: 1 record has no value",
        "Accession No|accession_no|text|new: chosen",
        "Weight|weight|number|new: a number because of '17.2' (line 2)",
        "Notes||left out",
        "Made|made|date|new: this type fits each value, such as '01/02/2020' (line 2)",
    ]);
    visit.play(&format!(
        r"choose museum.csv Title;Type;Year;Accession No;Weight;Notes;Made\n\
          Owl;coin;-450;1920.10;17.2;x;01/02/2020\nEagle;coin;;1920.11;none;y;none\n
          see #plan-name: Which column is the name of each robot? -> set #import-nulls = none, n/a
          see #import-emptied: “none” empties values: 1 of Weight, 1 of Made. -> see #plan: choose the order of dates
          set [aria-label='Field of Notes'] = -> set [aria-label='Kind of Accession No'] = text
          set #import-dates = dmy
          is $$('#plan tbody tr').map(({{ cells }}) => [cells[0].textContent, \
          ...[...cells[1].querySelectorAll('select')].map(({{ value }}) => value), \
          cells[2].textContent].join('|')) == {columns}
          fits 360 -> accessible the plan of a file"
    ));
    visit.set_width(1200);
    let definition = visit.call("GET", "/v1/definition", "");
    assert!(!definition.contains("accession_no"), "{definition}");
    // Another user defines a field meanwhile.
    visit.play(
        r#"PUT /v1/definition {"properties": {"weight": {"type": "number"}}}
           see #import-submit: Define these fields, and import 2 robots
           import -> see #import-outcome: Added 2 robots. -> see #table: 1920.11"#,
    );
    let stored = visit.call("GET", "/v1/robots", "");
    let robot = r#"{"id":"1","name":"Owl","type":"coin","year":-450,"weight":17.2,"accession_no":"1920.10","made":"2020-02-01","revision":1}"#;
    assert!(stored.contains(robot), "{stored}");
}

#[test]
fn ids_of_a_file_change_robots_only_if_that_is_chosen() {
    Visit::of(&["A", "B"]).play(
        r"choose robots.csv id,name\n1,A2\n2,B\n9,C\n -> see #plan: new: this type fits each value, such as '1' (line 2)
          run $('#import-match').focus() -> type <Down>
          see #plan-counts: Would add no robots, change 1, leave unchanged 1, fail 1.
          names A, B -> click #keep-going
          import -> see #import-outcome: Added no robots, changed 1, left unchanged 1, failed 1.
          names A2, B",
    );
}

#[test]
fn current_filter_is_exported_in_each_format() {
    let visit = Visit::of(&["=1+1", "C-3PO", "Marvin"]);
    visit.allow_downloads();
    visit.play(
        r"open ?q=1&year_to=2000&type=droid&sort=-id -> names =1+1
           press Export -> press CSV -> saved robots.csv name,type,year,id\n=1+1,droid,1977,1\n
           press Export -> press CSV for spreadsheets",
    );
    visit.play(
        "saved robots.csv \u{feff}Name,Type,Year,ID\\n'=1+1,droid,1977,1\\n
         press Export -> press NDJSON
         saved robots.ndjson {\"name\":\"=1+1\",\"type\":\"droid\",\"year\":1977,\"id\":\"1\"}\\n
         focus Export -> press Export -> tab JSON -> type <Escape> -> focus Export -> is $('#export').open == false",
    );
}
