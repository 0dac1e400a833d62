//! The server goes away and comes back.

use crate::{
    keys::{ENTER, TAB},
    visit::Visit,
};

/// To a server with one robot, which is gone by now; and the port that it had.
fn begin() -> (Visit, String) {
    let mut visit = Visit::with(&[]);
    visit.add("Marvin", "droid", "1979");
    visit.browser.reload();
    visit.sees_rows(1);
    let port = visit.stop_server();
    (visit, port)
}

#[test]
fn nothing_is_lost_while_the_server_is_away() {
    let (mut visit, port) = begin();
    visit.tab_to("Name");
    visit.browser.press("R2-D2".chars().chain([TAB]));
    visit.browser.press("d".chars().chain([TAB]));
    visit.browser.press("1977".chars().chain([ENTER]));
    visit.reads("#trouble", "The server does not answer.");
    visit.reads("#add .error", "will be looked up");
    let script = "return [...document.querySelectorAll('#add input, #add select')]\
                  .map((box) => box.value).join()";
    assert_eq!(visit.ask(script), "R2-D2,droid,1977");
    visit.start_server(&port);
    visit.hears("The server answers again.");
    visit.reads("#add .error", "The robot was not added. Add it again.");
    assert_eq!(
        visit.ask("return document.querySelector('#trouble').hidden"),
        true
    );
    visit.tab_to("Year");
    visit.browser.press([ENTER]);
    visit.sees_rows(2);
    assert!(visit.stored().contains("R2-D2"));
}

#[test]
fn a_search_goes_on_when_the_server_is_back() {
    let (mut visit, port) = begin();
    visit.browser.press("/Nobody".chars());
    visit.reads("#trouble", "The server does not answer.");
    visit.tab_to("Try again");
    visit.start_server(&port);
    visit.browser.press([ENTER]);
    visit.reads("#none", "No name contains Nobody.");
    assert_eq!(
        visit.ask("return document.querySelector('#trouble').hidden"),
        true
    );
}
