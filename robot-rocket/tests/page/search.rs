//! Search while typing, and in the address.

use robot_core::fold;
use serde_json::json;

use crate::{
    keys::{ENTER, ESCAPE},
    visit::Visit,
};

#[test]
fn typing_searches_and_announces_the_result() {
    let visit = Visit::of(&["BB-8", "Marvin", "R2-D2", "R2-KT", "r2"]);
    visit.press("/R2");
    visit.wait_for_rows(3);
    assert_eq!(visit.names(), ["R2-D2", "R2-KT", "r2"]);
    visit.wait_for_announcement("3 robots found");
    visit.press("-K");
    visit.wait_for_rows(1);
    assert_eq!(visit.run("return location.search"), "?q=R2-K");
    visit.press("?");
    visit.wait_for_text("#none", "No robot has all words of R2-K?.");
    assert_eq!(visit.names(), [""; 0]);
    visit.wait_for_announcement("no robots found");
    visit.press(ESCAPE);
    visit.wait_for_rows(5);
    assert_eq!(visit.run("return location.search"), "");
}

#[test]
fn search_follows_the_address() {
    let visit = Visit::of(&["BB-8", "Marvin", "R2-D2"]);
    visit.press(&format!("/Mar{ENTER}"));
    visit.wait_for_rows(1);
    visit.reload();
    visit.wait_for_rows(1);
    assert_eq!(
        visit.run("return document.querySelector('#query').value"),
        "Mar"
    );
    visit.browser.go_back();
    visit.wait_for_rows(3);
    assert_eq!(
        visit.run("return document.querySelector('#query').value"),
        ""
    );
}

#[test]
fn special_characters_are_searched_literally() {
    let names = [
        ".", "..", "a.b", "%2F", "50%", "a/b", "a+b", "a b", "#1?", "\\", "é", "🤖",
    ];
    let visit = Visit::of(&names);
    for (query, found) in [
        ("..", &[".."][..]),
        (".", &[".", "..", "a.b"]),
        ("%2F", &["%2F"]),
        ("%", &["%2F", "50%"]),
        ("/", &["a/b"]),
        ("+", &["a+b"]),
        ("#1?", &["#1?"]),
        ("\\", &["\\"]),
        ("🤖", &["🤖"]),
        ("b a", &["a b", "a+b", "a.b", "a/b"]),
    ] {
        let script = "const box = document.querySelector('#query'); box.value = arguments[0]; \
                      box.form.requestSubmit()";
        visit.browser.run(script, &[query.into()]);
        visit.wait_for_names(found);
    }
}

/// Names that differ in case, diacritics and other ways.
const SIMILAR: [&str; 22] = [
    "KATERINA",
    "Kate\u{159}ina",
    "Kater\u{30c}ina 2",
    "katarina",
    "..\u{301}",
    "\u{212a}\u{c4}T\u{20dd}",
    "\u{3a3}\u{3c5}\u{3c2}",
    "\u{3c3}\u{3a5}\u{3a3}",
    "Stra\u{df}e",
    "STRASSE",
    "STRA\u{1e9e}E",
    "\u{130}stanbul",
    "Istanbul",
    "\u{131}stanbul",
    "\u{1c5}",
    "\u{1c6}",
    "\u{d55c}",
    "\u{1112}",
    "\u{30ac}",
    "\u{30ab}",
    "\u{13a0}(.[*",
    "\u{ab70}(.[*",
];

#[test]
fn case_and_diacritics_are_ignored() {
    let visit = Visit::of(&SIMILAR);
    visit.allow_downloads();
    visit.press("/kateri");
    visit.wait_for_names(&["KATERINA", "Kater\u{30c}ina 2", "Kate\u{159}ina"]);
    visit.wait_for_text("#count", "3 robots");
    visit.export("CSV");
    visit.wait_for_file(
        "robots.csv",
        "id,name,type,year,revision\n1,KATERINA,droid,1977,1\n2,Kate\u{159}ina,droid,1977,1\n\
         3,Kater\u{30c}ina 2,droid,1977,1\n",
    );
    // The service cannot search for it.
    visit.open("?q=..");
    visit.wait_for_names(&["..\u{301}"]);
    // The page decides for itself whether it shows a robot that was added or changed.
    let script = format!(
        "const done = arguments[0], names = {};
         import('./page/view.js').then(({{ contains }}) =>
             done(names.map((name) => names.filter((text) => contains(name, text)))))",
        json!(SIMILAR)
    );
    let contained = SIMILAR.map(|name| {
        let mut texts = SIMILAR.to_vec();
        texts.retain(|text| fold(name).contains(&*fold(text)));
        texts
    });
    assert_eq!(visit.browser.run_async(&script), json!(contained));
}
