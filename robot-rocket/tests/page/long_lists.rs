//! Lists that are longer than a window, and than a document should be.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::{
    keys::{END, ENTER, HOME, TAB},
    process::{PATIENCE, wait_for},
    visit::Visit,
};

/// More elements than the page has at any time.
const MOST_ELEMENTS: u64 = 6000;

impl Visit {
    fn elements(&self) -> u64 {
        let script = "return document.querySelectorAll('*').length";
        self.ask(script).as_u64().unwrap()
    }

    /// The last row, or the first one.
    fn name_at(&self, place: &str) -> String {
        let script = "const names = document.querySelectorAll('#table .name'); \
                      return names[arguments[0] === 'last' ? names.length - 1 : 0].textContent";
        let name = self.browser.run(script, &[json!(place)]);
        name.as_str().unwrap().to_owned()
    }
}

#[test]
fn the_end_of_a_long_list_is_reached_by_the_keyboard_and_its_start_again() {
    let visit = Visit::of_many(2500);
    visit.reads("#count", "more than");
    wait_for("the last robot", PATIENCE, || {
        visit.browser.press([END]);
        assert!(visit.elements() < MOST_ELEMENTS);
        visit.name_at("last") == "robot 002499"
    });
    visit.reads("#end", "That is all of them.");
    visit.reads("#count", "2,500 robots");
    assert!(visit.name_at("first").as_str() > "robot 002000");
    let script = "return Number(document.querySelector('#table tbody:last-child tr:last-child')\
                  .getAttribute('aria-rowindex'))";
    assert_eq!(visit.ask(script), 2501);
    wait_for("the first robot", PATIENCE, || {
        visit.browser.press([HOME]);
        assert!(visit.elements() < MOST_ELEMENTS);
        visit.name_at("first") == "robot 000000"
    });
    let names = visit.names();
    let consecutive = (0..names.len()).map(|number| format!("robot {number:06}"));
    assert!(consecutive.eq(names), "a robot is missing, or there twice");
}

#[test]
fn a_hundred_thousand_robots_are_as_quick_as_a_few() {
    let visit = Visit::of_many(100_000);
    let started = Instant::now();
    visit.browser.press("/099999".chars());
    visit.sees_rows(1);
    assert_eq!(visit.names(), ["robot 099999"]);
    visit.browser.press_with(crate::keys::CONTROL, 'a');
    visit.browser.press("robot".chars());
    visit.reads("#count", "more than");
    assert!(
        started.elapsed() < Duration::from_secs(15),
        "{:?}",
        started.elapsed()
    );
    visit.reads("figcaption", "Of the first 5,000 by name.");
    for number in 1..20 {
        let script = "scrollTo(0, document.documentElement.scrollHeight)";
        visit.ask(script);
        let seen = format!("robot {:06}", number * 100);
        wait_for(&seen, PATIENCE, || visit.name_at("last") > seen);
        assert!(visit.elements() < MOST_ELEMENTS);
    }
}

#[test]
fn what_is_typed_into_a_row_is_there_when_the_row_comes_back() {
    let visit = Visit::of_many(1500);
    visit.tab_to("Edit robot 000001");
    visit.browser.press([ENTER]);
    visit.has_focus("Name");
    visit.browser.press("Marvin".chars());
    let goes = "return !document.querySelector('tr.edited')";
    wait_for("the row goes", PATIENCE, || {
        visit.ask("scrollTo(0, document.documentElement.scrollHeight)");
        visit.ask(goes) == true
    });
    wait_for("the row comes back", PATIENCE, || {
        visit.ask("scrollTo(0, 0)");
        visit.ask(goes) == false
    });
    assert_eq!(
        visit.ask("return document.querySelector('tr.edited input').value"),
        "Marvin"
    );
    visit.ask("document.querySelector('tr.edited input').focus()");
    visit.browser.press([TAB, TAB, ENTER]);
    visit.has_focus("Edit Marvin");
    assert!(visit.stored().contains(r#""name":"Marvin""#));
}
