//! The search: as one types, in the address, and back.

use crate::{
    keys::{ENTER, ESCAPE},
    visit::Visit,
};

#[test]
fn typing_finds_and_what_was_found_is_told() {
    let visit = Visit::of(&["BB-8", "Marvin", "R2-D2", "R2-KT", "r2"]);
    visit.browser.press("/R2".chars());
    visit.sees_rows(2);
    assert_eq!(visit.names(), ["R2-D2", "R2-KT"]);
    visit.hears("2 robots found");
    visit.browser.press("-K".chars());
    visit.sees_rows(1);
    assert_eq!(visit.ask("return location.search"), "?q=R2-K");
    visit.browser.press("?".chars());
    visit.reads("#none", "No name contains R2-K?.");
    assert_eq!(visit.rows(), []);
    visit.hears("no robots found");
    visit.browser.press([ESCAPE]);
    visit.sees_rows(5);
    assert_eq!(visit.ask("return location.search"), "");
}

#[test]
fn a_reload_and_going_back_keep_to_the_address() {
    let visit = Visit::of(&["BB-8", "Marvin", "R2-D2"]);
    visit.browser.press("/Mar".chars().chain([ENTER]));
    visit.sees_rows(1);
    visit.browser.reload();
    visit.sees_rows(1);
    assert_eq!(
        visit.ask("return document.querySelector('#query').value"),
        "Mar"
    );
    visit.browser.go_back();
    visit.sees_rows(3);
    assert_eq!(
        visit.ask("return document.querySelector('#query').value"),
        ""
    );
}

#[test]
fn characters_that_mean_something_in_a_path_are_looked_for_as_they_are() {
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
    ] {
        let script = "const box = document.querySelector('#query'); box.value = arguments[0]; \
                      box.form.requestSubmit()";
        visit.browser.run(script, &[query.into()]);
        visit.sees_names(found);
    }
}
