//! The number of robots, and the chart.

use serde_json::json;

use crate::{
    keys::{ENTER, SPACE},
    visit::Visit,
};

impl Visit {
    /// The numbers above the bars of the chart.
    fn bars(&self) -> serde_json::Value {
        let script = "return [...document.querySelectorAll('#picture .total')]\
                      .map((each) => each.textContent)";
        self.run(script)
    }
}

#[test]
fn total_is_exact_for_lists_of_many_pages() {
    let visit = Visit::of_many(2500);
    visit.wait_for_text("#count", "2,500 robots");
    let rows = "return document.querySelector('#table').ariaRowCount";
    assert_eq!(visit.run(rows), "2501");
    visit.open("?year_to=1909&type=droid&q=0");
    visit.wait_for_text("#count", "robots");
    let target = "/api/robots/search/0?year_to=1909&type=droid&limit=1&count=true";
    let answer = crate::calls::call(&visit.client(), "GET", target, "");
    let total = answer.header("x-total-count").unwrap();
    visit.wait_for_text("#count", &format!("{total} robots"));
    visit.add("0", "droid", "1900");
    visit.edit("robot 000000");
    visit.press(&format!("0{ENTER}"));
    visit.wait_for_text("tr.edited .error", "The robot name must be unique");
    visit.press(&format!("1{ENTER}"));
    let more = total.parse::<u32>().unwrap() + 1;
    visit.wait_for_text("#count", &format!("{more} robots"));
}

#[test]
fn rows_do_not_wait_for_the_numbers_which_may_fail() {
    let visit = Visit::of_many(300);
    visit.run(
        "const send = window.fetch; window.fetch = (path, options) => \
         path.includes('/summary') ? new Promise(() => {}) : send(path, options)",
    );
    visit.press("/robot 00029");
    visit.wait_for_rows(11);
    visit.wait_for_text("#count", "11 robots");
    visit.press_with(crate::keys::CONTROL, 'a');
    visit.press("r");
    visit.wait_for_text("#count", "more than 100 robots");
    visit.run(
        "const send = window.fetch; window.fetch = (path, options) => path.includes('/summary') \
         ? Promise.resolve(new Response('{}', { status: 500 })) : send(path, options)",
    );
    visit.press_with(crate::keys::CONTROL, 'a');
    visit.press("robot");
    visit.wait_for_text("#count", "more than 100 robots");
    visit.wait_for_announcement("more than 100 robots found");
    visit.wait_for(
        "no chart",
        "return document.querySelector('#picture').hidden",
    );
}

#[test]
fn chart_shows_the_filter_or_the_whole_catalogue() {
    let visit = Visit::of(&[]);
    for (name, kind, year) in [
        ("Robby", "mechanical", "1956"),
        ("HAL 9000", "virtual", "1968"),
        ("R2-D2", "droid", "1977"),
        ("C-3PO", "droid", "1977"),
    ] {
        visit.add(name, kind, year);
    }
    visit.reload();
    visit.wait_for(
        "the chart",
        "return document.querySelectorAll('.total').length === 3",
    );
    assert_eq!(visit.bars(), json!(["1", "1", "2"]));
    assert_eq!(
        visit.run("return document.querySelector('.scope')"),
        json!(null)
    );
    visit.tab_to("virtual");
    visit.press(SPACE);
    visit.wait_for_text("#picture .scope", "This filter");
    assert_eq!(visit.bars(), json!(["1"]));
    visit.tab_to("This filter");
    visit.press(crate::keys::DOWN);
    visit.wait_for_focus("Whole catalogue");
    assert_eq!(visit.bars(), json!(["1", "1", "2"]));
    visit.press("/2");
    visit.wait_for_text("#none", "No robot matches the filter.");
    visit.wait_for_text("#picture .scope", "Whole catalogue");
    assert_eq!(visit.bars(), json!(["1", "1", "2"]));
    visit.run("document.querySelector('#of-filter').click()");
    visit.wait_for_text("#picture", "No robot matches the filter.");
}

#[test]
fn chart_merges_years_that_are_far_away() {
    let visit = Visit::of(&[]);
    for year in 0..40 {
        visit.add(
            &format!("robot {year}"),
            "droid",
            &(1000 * year).to_string(),
        );
    }
    visit.add("late", "virtual", "9223372036854775807");
    visit.add("near", "virtual", "9005");
    visit.reload();
    visit.wait_for_text("#picture", "newer");
    visit.wait_for_text("#picture", "9000s");
    assert_eq!(visit.bars(), json!(["9", "2", "31"]));
}
