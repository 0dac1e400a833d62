//! A catalogue of 10,000 robots, or of as many as `PAGE_ROBOTS` says, up to 1,000,000.

use std::env;

use crate::{
    keys::{ENTER, SPACE, TAB},
    long_lists::MOST_ELEMENTS,
    process::{TIMEOUT, wait_for},
    visit::Visit,
};

fn robots() -> u32 {
    env::var("PAGE_ROBOTS").map_or(10_000, |number| number.parse().unwrap())
}

/// A number of robots as the page writes it.
fn written(robots: u32) -> String {
    match (robots / 1_000_000, robots / 1000 % 1000, robots % 1000) {
        (0, 0, ones) => format!("{ones} robots"),
        (0, thousands, ones) => format!("{thousands},{ones:03} robots"),
        (millions, thousands, ones) => format!("{millions},{thousands:03},{ones:03} robots"),
    }
}

/// The robot with the greatest number among those that meet a condition.
fn last(condition: impl Fn(u32) -> bool) -> String {
    let number = (0..robots()).rev().find(|number| condition(*number));
    format!("robot {:06}", number.unwrap())
}

impl Visit {
    #[track_caller]
    fn wait_for_first(&self, name: &str) {
        wait_for(name, TIMEOUT, || {
            self.names().first().map(String::as_str) == Some(name)
        });
    }

    #[track_caller]
    fn wait_for_number(&self, robots: u32) {
        self.wait_for_text("#count", &written(robots));
    }
}

#[test]
fn large_catalogue_is_searched_sorted_and_filtered() {
    let (visit, count) = (Visit::of_many(robots()), robots());
    visit.wait_for_number(count);
    let name = last(|_| true);
    visit.press(&format!("/{}", name.to_uppercase()));
    visit.wait_for_names(&[&name]);
    visit.open("");
    visit.tab_to("Id");
    for (column, greatest) in [
        ("Id", last(|_| true)),
        ("Name", last(|_| true)),
        ("Year", last(|number| number % 120 == 119)),
    ] {
        visit.wait_for_focus(column);
        visit.press(ENTER);
        visit.wait_for_first("robot 000000");
        visit.press(ENTER);
        let order = format!("sorted by {}, descending", column.to_lowercase());
        visit.wait_for_announcement(&order);
        visit.wait_for_first(&greatest);
        visit.wait_for_number(count);
        visit.press(TAB);
    }
    visit.open("?sort=-year&year_from=1950&q=ROBOT");
    visit.tab_to("droid");
    visit.press(SPACE);
    let is_found = |number: &u32| number.is_multiple_of(3) && number % 120 >= 50;
    visit.wait_for_number((0..count).filter(is_found).count().try_into().unwrap());
    visit.wait_for_first(&last(|number| number % 120 == 117));
    visit.wait_for_text("#picture .scope", "This filter");
}

#[test]
fn large_catalogue_keeps_the_page_small_and_accessible() {
    let (visit, count) = (Visit::of_many(robots()), robots());
    visit.press("/robot");
    visit.wait_for_number(count);
    for number in 1..20 {
        visit.run("scrollTo(0, document.documentElement.scrollHeight)");
        let seen = format!("robot {:06}", number * 100);
        wait_for(&seen, TIMEOUT, || visit.name_at("last") > seen);
        assert!(visit.elements() < MOST_ELEMENTS);
    }
    visit.set_width(320);
    visit.assert_accessible("many robots on a narrow screen");
    let fits = "return document.documentElement.scrollWidth <= innerWidth";
    assert_eq!(visit.run(fits), true);
}
