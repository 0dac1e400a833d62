//! Lists that are longer than a window.

use serde_json::json;

use crate::{
    keys::{END, ENTER, HOME, TAB},
    process::{TIMEOUT, wait_for},
    visit::Visit,
};

/// More elements than the page may have at any time.
pub(crate) const MOST_ELEMENTS: u64 = 7500;

impl Visit {
    pub(crate) fn elements(&self) -> u64 {
        let script = "return document.querySelectorAll('*').length";
        self.run(script).as_u64().unwrap()
    }

    /// The name in the `first` or `last` row.
    pub(crate) fn name_at(&self, place: &str) -> String {
        let script = "const names = document.querySelectorAll('#table .name'); \
                      return names[arguments[0] === 'last' ? names.length - 1 : 0].textContent";
        let name = self.browser.run(script, &[json!(place)]);
        name.as_str().unwrap().to_owned()
    }

    /// Presses a key until a name is in the `first` or `last` row.
    #[track_caller]
    fn press_until(&self, key: &str, place: &str, name: &str) {
        wait_for(name, TIMEOUT, || {
            self.press(key);
            assert!(self.elements() < MOST_ELEMENTS);
            self.name_at(place) == name
        });
    }
}

#[test]
fn long_lists_are_complete_in_both_directions() {
    let visit = Visit::of_many(2500);
    visit.wait_for_text("#count", "2,500 robots");
    visit.press_until(END, "last", "robot 002499");
    visit.wait_for_text("#end", "End of the list.");
    assert!(visit.name_at("first").as_str() > "robot 002000");
    let script = "return Number(document.querySelector('#table tbody:last-child tr:last-child')\
                  .getAttribute('aria-rowindex'))";
    assert_eq!(visit.run(script), 2501);
    visit.press_until(HOME, "first", "robot 000000");
    let names = visit.names();
    let consecutive = (0..names.len()).map(|number| format!("robot {number:06}"));
    assert!(consecutive.eq(names), "a robot is missing, or there twice");

    visit.open("?sort=-year&type=droid&year_from=1950");
    visit.wait_for_text("#count", "477 robots");
    visit.press_until(END, "last", "robot 000051");
    visit.press_until(HOME, "first", "robot 002397");
    let rows = visit.rows();
    let mut expected = rows.clone();
    expected.sort_by(|one, other| (&other[2], &other[0]).cmp(&(&one[2], &one[0])));
    expected.dedup();
    assert_eq!(rows, expected);
    assert!(rows.iter().all(|[_, kind, _]| kind == "droid"));
}

#[test]
fn edited_row_keeps_its_text_while_out_of_view() {
    let visit = Visit::of_many(1500);
    visit.edit("robot 000001");
    visit.press("Marvin");
    let goes = "return !document.querySelector('tr.edited')";
    wait_for("the row goes", TIMEOUT, || {
        visit.run("scrollTo(0, document.documentElement.scrollHeight)");
        visit.run(goes) == true
    });
    wait_for("the row comes back", TIMEOUT, || {
        visit.run("scrollTo(0, 0)");
        visit.run(goes) == false
    });
    assert_eq!(
        visit.run("return document.querySelector('tr.edited input').value"),
        "Marvin"
    );
    visit.run("document.querySelector('tr.edited input').focus()");
    visit.press(&format!("{TAB}{TAB}{ENTER}"));
    visit.wait_for_focus("Edit Marvin");
    visit.assert_stores(r#""name":"Marvin""#);
}

#[test]
fn deleted_pages_are_left_out_and_loading_ends() {
    let visit = Visit::of_many(2500);
    wait_for("the middle of the list", TIMEOUT, || {
        visit.press(END);
        visit.name_at("last").as_str() > "robot 001700"
    });
    // In each page before the window, one robot stays, or none.
    for id in (1..=1500).filter(|id| *id != 150 && *id != 950) {
        visit.delete(id);
    }
    visit.run(
        "const send = window.fetch; window.sent = 0; \
         window.fetch = (...call) => { window.sent++; return send(...call); }",
    );
    visit.press_until(HOME, "first", "robot 000149");
    let idle = "const done = arguments[arguments.length - 1]; const before = window.sent; \
                setTimeout(() => done(window.sent === before), 500)";
    wait_for("no more requests", TIMEOUT, || {
        visit.browser.run_async(idle) == true
    });
    let names = visit.names();
    assert!(names.is_sorted(), "{names:?}");
    assert!(visit.elements() < MOST_ELEMENTS);
}

/// Makes requests that contain `failing` fail with 500, and counts those of pages after the first.
const FAILING: &str = "
    const send = window.fetch;
    window.pages = 0;
    window.fetch = async (path, options) => {
        if (path.includes('cursor=')) window.pages++;
        return path.includes(window.failing) ? new Response('{}', { status: 500 })
            : send(path, options);
    };";

#[test]
fn failed_lists_do_not_grow_and_can_be_retried() {
    let visit = Visit::of_many(500);
    visit.run(FAILING);
    visit.run("window.failing = 'sort=-name'");
    visit.click("[data-key=name] button");
    visit.wait_for_text("#refused", "The server answered 500.");
    let before = visit.rows();
    visit.run("window.pages = 0; document.querySelector('#more').click()");
    assert_eq!(visit.run("return window.pages"), 0);
    visit.run("window.failing = 'none'; document.querySelector('#refused button').click()");
    wait_for("the last robot", TIMEOUT, || {
        visit.name_at("first") == "robot 000499"
    });
    assert_ne!(visit.rows(), before);
    visit.run("window.failing = 'cursor='");
    visit.press(END);
    visit.wait_for_text("#refused", "The server answered 500.");
    visit.run("window.failing = 'none'; document.querySelector('#refused button').click()");
    visit.wait_for(
        "no error",
        "return document.querySelector('#refused').hidden",
    );
    wait_for("the next page", TIMEOUT, || visit.rows().len() > 100);
}
