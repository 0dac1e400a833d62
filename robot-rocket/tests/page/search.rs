//! Search while typing, and in the address.

use crate::{
    keys::{ENTER, ESCAPE},
    visit::Visit,
};

#[test]
fn typing_searches_and_announces_the_result() {
    let visit = Visit::of(&["BB-8", "Marvin", "R2-D2", "R2-KT", "r2"]);
    visit.browser.press("/R2".chars());
    visit.wait_for_rows(2);
    assert_eq!(visit.names(), ["R2-D2", "R2-KT"]);
    visit.wait_for_announcement("2 robots found");
    visit.browser.press("-K".chars());
    visit.wait_for_rows(1);
    assert_eq!(visit.run("return location.search"), "?q=R2-K");
    visit.browser.press("?".chars());
    visit.wait_for_text("#none", "No name contains R2-K?.");
    assert_eq!(visit.rows(), []);
    visit.wait_for_announcement("no robots found");
    visit.browser.press([ESCAPE]);
    visit.wait_for_rows(5);
    assert_eq!(visit.run("return location.search"), "");
}

#[test]
fn search_follows_the_address() {
    let visit = Visit::of(&["BB-8", "Marvin", "R2-D2"]);
    visit.browser.press("/Mar".chars().chain([ENTER]));
    visit.wait_for_rows(1);
    visit.browser.reload();
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
    ] {
        let script = "const box = document.querySelector('#query'); box.value = arguments[0]; \
                      box.form.requestSubmit()";
        visit.browser.run(script, &[query.into()]);
        visit.wait_for_names(found);
    }
}
