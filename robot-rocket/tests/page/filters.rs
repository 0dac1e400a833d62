//! Filter and order of the list, and both in the address.

use serde_json::json;

use crate::{
    keys::{ENTER, SPACE, TAB},
    visit::Visit,
};

/// A visit to six robots of different types and years.
fn visit() -> Visit {
    let visit = Visit::of(&[]);
    for (name, kind, year) in [
        ("R2-D2", "droid", "1977"),
        ("C-3PO", "droid", "1977"),
        ("BB-8", "droid", "2015"),
        ("Robby", "mechanical", "1956"),
        ("HAL 9000", "virtual", "1968"),
        ("late", "virtual", "9223372036854775807"),
    ] {
        visit.add(name, kind, year);
    }
    visit.reload();
    visit.wait_for_rows(6);
    visit
}

impl Visit {
    fn address(&self) -> String {
        let query = self.run("return location.search");
        query.as_str().unwrap().to_owned()
    }

    /// The headings with an order, as they are announced.
    fn order(&self) -> serde_json::Value {
        let script = "return [...document.querySelectorAll('#headings [aria-sort]')]\
                      .map((each) => [each.textContent, each.ariaSort])";
        self.run(script)
    }
}

#[test]
fn types_and_years_are_filtered_by_keyboard() {
    let visit = visit();
    visit.tab_to("virtual");
    visit.press(SPACE);
    visit.wait_for_names(&["HAL 9000", "late"]);
    visit.wait_for_announcement("2 robots found");
    visit.tab_to("Year from");
    visit.press(&format!("1960{TAB}2000"));
    visit.wait_for_names(&["HAL 9000"]);
    assert_eq!(visit.address(), "?type=virtual&year_from=1960&year_to=2000");
    visit.run("document.querySelector('#of-type input').focus()");
    visit.press(SPACE);
    visit.wait_for_names(&["C-3PO", "HAL 9000", "R2-D2"]);
    visit.wait_for_text("#count", "3 robots");
    visit.press("/2-");
    visit.wait_for_names(&["R2-D2"]);
    visit.press("x");
    visit.wait_for_text("#none", "No robot matches the filter.");
    visit.press_on("clear");
    visit.wait_for_rows(6);
    assert_eq!(visit.address(), "");
    visit.wait_for_focus("Year from");
}

#[test]
fn filter_and_order_follow_the_address() {
    let visit = visit();
    visit.open("?q=-&type=droid&sort=-year&year_to=2015");
    visit.wait_for_names(&["BB-8", "C-3PO", "R2-D2"]);
    let script = "return [document.querySelector('#query').value, \
                  document.querySelectorAll('#of-type :checked').length, \
                  document.querySelector('#year_from').value, document.querySelector('#year_to').value]";
    assert_eq!(visit.run(script), json!(["-", 1, "", "2015"]));
    visit.click("#of-type .chip:nth-of-type(1)");
    visit.wait_for("all types", "return !location.search.includes('type')");
    visit.click("#of-type .chip:nth-of-type(2)");
    visit.wait_for_text("#none", "No robot matches the filter.");
    visit.reload();
    visit.wait_for_text("#none", "No robot matches the filter.");
    visit.browser.go_back();
    visit.browser.go_back();
    visit.wait_for_names(&["BB-8", "C-3PO", "R2-D2"]);
    assert_eq!(visit.run(script), json!(["-", 1, "", "2015"]));
    assert_eq!(visit.order(), json!([["Year", "descending"]]));
    // Wrong values are ignored.
    visit.open("?type=toaster&year_from=x&year_to=-1&sort=price&q=&cursor=1");
    visit.wait_for_rows(6);
    assert_eq!(visit.order(), json!([["Name", "ascending"]]));
}

#[test]
fn impossible_years_are_explained_and_change_nothing() {
    let visit = visit();
    visit.tab_to("Year from");
    visit.press(&format!("2000{TAB}"));
    visit.wait_for_names(&["BB-8", "late"]);
    visit.press("19");
    visit.wait_for_text(
        "#filter-error",
        "The first year must not be after the last one.",
    );
    assert_eq!(
        visit.error_message(),
        "The first year must not be after the last one."
    );
    visit.press("77x");
    visit.wait_for_text("#filter-error", "A year has only digits.");
    visit.wait_for_names(&["BB-8", "late"]);
    visit.open("?year_from=3&year_to=2");
    visit.wait_for_text("#refused", "year_from must not be greater than year_to");
}

#[test]
fn clicking_a_heading_sorts_in_both_directions() {
    let visit = visit();
    assert_eq!(visit.order(), json!([["Name", "ascending"]]));
    visit.tab_to("Id");
    visit.press(&format!("{TAB}{TAB}"));
    visit.wait_for_focus("Year");
    visit.press(ENTER);
    let by_year = ["Robby", "HAL 9000", "R2-D2", "C-3PO", "BB-8", "late"];
    visit.wait_for_names(&by_year);
    visit.wait_for_announcement("6 robots, sorted by year, ascending");
    assert_eq!(visit.order(), json!([["Year", "ascending"]]));
    visit.wait_for_focus("Year");
    visit.press(ENTER);
    let mut reversed = by_year;
    reversed.reverse();
    visit.wait_for_names(&reversed);
    assert_eq!(visit.order(), json!([["Year", "descending"]]));
    assert_eq!(visit.address(), "?sort=-year");
    visit.press_on("Id");
    visit.wait_for_names(&["R2-D2", "C-3PO", "BB-8", "Robby", "HAL 9000", "late"]);
    let script = "return [...document.querySelectorAll('#table tbody .of-id')]\
                  .map((cell) => cell.textContent)";
    assert_eq!(visit.run(script), json!(["1", "2", "3", "4", "5", "6"]));
    visit.browser.go_back();
    visit.wait_for_names(&reversed);
    // A restored robot is placed in the order.
    visit.open("?sort=-year&type=droid");
    visit.wait_for_names(&["BB-8", "C-3PO", "R2-D2"]);
    visit.press_on("Delete C-3PO");
    visit.wait_for_names(&["BB-8", "R2-D2"]);
    visit.click("#undo .main");
    visit.wait_for_names(&["BB-8", "C-3PO", "R2-D2"]);
    visit.wait_for_text("#count", "3 robots");
}

#[test]
fn overtaken_requests_are_aborted() {
    let visit = visit();
    visit.run(
        "const send = window.fetch; window.aborted = 0; window.fetch = (path, options) => \
         !path.includes('type=droid') ? send(path, options) : new Promise((_, reject) => \
         options.signal.addEventListener('abort', () => { window.aborted += 1; \
         reject(options.signal.reason); }))",
    );
    visit.tab_to("droid");
    visit.press(SPACE);
    visit.wait_for("the request", "return location.search === '?type=droid'");
    visit.wait_for_rows(6);
    visit.press(SPACE);
    visit.wait_for("the abortion", "return window.aborted === 1");
    visit.wait_for_rows(6);
}
