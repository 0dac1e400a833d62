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
fn list_does_not_move_when_its_numbers_arrive() {
    let visit = Visit::of(&[]);
    visit.hold("path.includes('/summary')");
    visit.enter_robot("Marvin", "v", "1978");
    visit.wait_for_rows(1);
    let place = "return document.querySelector('[data-action=delete]').getBoundingClientRect().x";
    let before = visit.run(place);
    visit.release();
    visit.wait_for_text("#picture .total", "1");
    assert_eq!(visit.run(place), before);
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
        visit.run("return document.querySelector('.scope').hidden"),
        json!(true)
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
    visit.wait_for_text("#picture .hint", "No robot matches the filter.");
}

#[test]
fn bins_of_the_chart_follow_the_years() {
    let visit = Visit::of(&["R2-D2"]);
    let many: Vec<_> = (0..40).map(|number| 1000 * number).collect();
    for (decades, labels) in [
        (&[1970][..], &["1970"][..]),
        (
            &[1950, 1970, 2010],
            &["1950", "1960", "1970", "1980", "1990", "2000", "2010"],
        ),
        (
            &[0, 1950, 2020, i64::MAX - 7],
            &["0", "⋯", "1950", "⋯", "2020", "⋯", "9.22E18"],
        ),
        (
            &[-450, -10, 0, 1980],
            &["-450", "⋯", "-10", "0", "⋯", "1980"],
        ),
        (&[i64::MIN, 1990], &["-9.22E18", "⋯", "1990"]),
        (
            &many,
            &[
                "0", "5000", "10000", "15000", "20000", "25000", "30000", "35000",
            ],
        ),
    ] {
        // More robots in the same years do not change the bins, and all are counted.
        for count in [1, 20] {
            let script = format!(
                "const done = arguments[0], decades = {}.map(BigInt); \
                 import('./page/chart.js').then(({{ binsOf }}) => {{ \
                 const bins = binsOf(decades.map((decade) => ({{ type: 'droid', decade, count: {count} }}))); \
                 const counted = bins.map(({{ counts }}) => counts.get('droid') ?? 0); \
                 done([bins.map(({{ label }}) => label), \
                 counted.reduce((sum, each) => sum + each) === decades.length * {count}]) }})",
                json!(decades.iter().map(i64::to_string).collect::<Vec<_>>())
            );
            assert_eq!(visit.browser.run_async(&script), json!([labels, true]));
        }
    }
}

#[test]
fn clicking_a_bar_filters_by_its_years() {
    let visit = Visit::of(&["R2-D2"]);
    for (name, year) in [("Robby", "1956"), ("late", "9223372036854775807")] {
        visit.add(name, "mechanical", year);
    }
    visit.reload();
    visit.wait_for_text("#picture .decade", "⋯");
    visit.click(".bin .bar");
    visit.wait_for_names(&["Robby"]);
    assert_eq!(
        visit.run("return location.search"),
        "?year_from=1950&year_to=1959"
    );
    visit.wait_for_text("#picture .scope", "Whole catalogue");
    visit.run("document.querySelector('#of-all').click()");
    visit.press_on("Numbers");
    visit.press_on("9223372036854775800–9223372036854775807");
    visit.wait_for_names(&["late"]);
    visit.wait_for_focus("robots");
}
