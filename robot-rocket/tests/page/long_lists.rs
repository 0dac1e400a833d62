//! Lists that are longer than a window, of thousands of robots, or of as many as `PAGE_ROBOTS` says, up to 1,000,000.

use std::env;

use serde_json::json;

use crate::{
    process::{wait_for, wait_for_progress},
    visit::Visit,
};

/// More elements than the page may have at any time.
const MOST_ELEMENTS: u64 = 7500;

impl Visit {
    fn assert_small(&self) {
        let elements = self.run("return $$('*').length").as_u64().unwrap();
        assert!(elements < MOST_ELEMENTS, "{elements}");
    }

    /// The name in the `first` or `last` row.
    fn name_at(&self, place: &str) -> String {
        let script = "return texts('#table .name').at(arguments[0] === 'last' ? -1 : 0)";
        let name = self.browser.run(script, &[json!(place)]);
        name.as_str().unwrap().to_owned()
    }

    /// Presses a key until a name is in the `first` or `last` row.
    #[track_caller]
    fn press_until(&self, key: &str, place: &str, is_met: impl Fn(&str) -> bool) {
        let look = || {
            self.browser.press(key);
            self.assert_small();
            self.name_at(place)
        };
        wait_for_progress(key, look, |name| is_met(name));
    }

    /// The rows of the list.
    fn rows(&self) -> Vec<[String; 3]> {
        serde_json::from_value(self.run("return rows()")).unwrap()
    }
}

/// A visit to a large catalogue, and its number of robots.
fn large() -> (Visit, u32) {
    let count = env::var("PAGE_ROBOTS").map_or(10_000, |number| number.parse().unwrap());
    let visit = Visit::of_many(count);
    visit.play(&format!("see #count: {}", written(count)));
    (visit, count)
}

/// A number of robots as the page writes it.
fn written(robots: u32) -> String {
    match (robots / 1_000_000, robots / 1000 % 1000, robots % 1000) {
        (0, 0, ones) => format!("{ones} robots"),
        (0, thousands, ones) => format!("{thousands},{ones:03} robots"),
        (millions, thousands, ones) => format!("{millions},{thousands:03},{ones:03} robots"),
    }
}

#[test]
fn large_catalogue_is_searched_sorted_and_filtered() {
    let (visit, count) = large();
    let total = written(count);
    // The robot with the greatest number among those that meet a condition.
    let last = |condition: fn(u32) -> bool| {
        let number = (0..count).rev().find(|number| condition(*number)).unwrap();
        format!("robot {number:06}")
    };
    let name = last(|_| true);
    visit.play(&format!(
        "type /{} -> names {name} -> open -> rows 100",
        name.to_uppercase()
    ));
    let first = "is texts('#table .name')[0] ==";
    visit.play("tab Year -> type <Enter> -> said sorted by Year, ascending");
    for (column, greatest) in [
        ("Year", &last(|number| number % 120 == 119)),
        ("Id", &name),
        ("Name", &name),
    ] {
        visit.play(&format!(
            r"run $('#headings [data-key={}] button').focus() -> type <Enter> -> focus {column}
               see #count: {total}",
            column.to_lowercase()
        ));
        if column != "Year" {
            visit.play(&format!(r#"{first} "robot 000000" -> type <Enter>"#));
        }
        visit.play(&format!(
            r#"said sorted by {column}, descending -> {first} "{greatest}""#
        ));
    }
    let is_found = |number: &u32| number.is_multiple_of(3) && number % 120 >= 50;
    let found = (0..count).filter(is_found).count().try_into().unwrap();
    visit.play(&format!(
        r#"open ?sort=-year&year_from=1950&q=ROBOT -> filter type -> tab droid -> type <Space>
           see #count: {} -> {first} "{}" -> see #picture .scope: This filter"#,
        written(found),
        last(|number| number % 120 == 117)
    ));
}

#[test]
fn large_catalogue_keeps_the_page_small_and_accessible() {
    let (visit, count) = large();
    visit.play(&format!("type /robot -> see #count: {}", written(count)));
    let look = || {
        visit.run("$('#scroller').scrollTo(0, 1e9)");
        visit.assert_small();
        visit.name_at("last")
    };
    wait_for_progress("robot 001900", look, |name| name.as_str() > "robot 001900");
    visit.play("fits 320 -> accessible many robots on a narrow screen");
}

#[test]
fn long_lists_are_complete_in_both_directions() {
    let visit = Visit::of_many(2500);
    visit.play("see #count: 2,500 robots -> is $('#count').dataset.printed == \", of which the first 100 are here\"");
    visit.press_until("<End>", "last", |name| name == "robot 002499");
    visit.play("see #end: End of the list.");
    assert!(visit.name_at("first").as_str() > "robot 002000");
    visit.play("is $('#table tbody:last-child tr:last-child').ariaRowIndex == \"2501\"");
    visit.press_until("<Home>", "first", |name| name == "robot 000000");
    let names = visit.rows().into_iter().map(|[name, ..]| name);
    let consecutive = (0..names.len()).map(|number| format!("robot {number:06}"));
    assert!(consecutive.eq(names), "a robot is missing, or there twice");

    visit.play("open ?sort=-year&type=droid&year_from=1950 -> see #count: 477 robots");
    visit.press_until("<End>", "last", |name| name == "robot 000051");
    visit.press_until("<Home>", "first", |name| name == "robot 002397");
    let rows = visit.rows();
    let mut expected = rows.clone();
    expected.sort_by(|one, other| (&other[2], &other[0]).cmp(&(&one[2], &one[0])));
    expected.dedup();
    assert_eq!(rows, expected);
    assert!(rows.iter().all(|[_, kind, _]| kind == "droid"));
    visit.play(
        "open -> choose robots.csv name,type,year\\nrobot 0024990,droid,1\\n -> see #plan-counts: Would add 1 robot.
         import -> see #count: 2,501 -> run setTimeout(() => (window.isOver = true), 1500) -> is window.isOver == true
         is $('#news button').hidden == true",
    );
}

#[test]
fn typed_text_of_a_cell_survives_scrolling() {
    let visit = Visit::of_many(1500);
    let scroll = |to: f64, expression: &str| {
        wait_for(expression, || {
            visit.run(&format!("$('#scroller').scrollTo(0, {to})"));
            visit.run(&format!("return {expression}")) == true
        });
    };
    let cell = |key| format!("run $('#table tbody tr:nth-child(2) td[data-key={key}]').focus()");
    visit.play(&format!("{} -> type <Enter>Marvin", cell("name")));
    scroll(1e9, "texts('#table .name').at(-1) === 'robot 001499'");
    visit
        .play("value Marvin -> is $('#undo .offer') == null -> type <Enter> -> said Saved Marvin.");
    visit.play(&format!(
        "open -> rows 100 -> {} -> type <Enter>-1<Enter> -> see .editing .error: cannot be less -> run $('#query').focus()",
        cell("year")
    ));
    scroll(1e9, "$('.editing') === null");
    scroll(0.0, "$('.editing') !== null");
    visit.play("is $('.editing input').value == \"-1\" -> see .editing .error: cannot be less");
}

#[test]
fn deleted_pages_are_left_out_and_loading_ends() {
    let visit = Visit::of_many(2500);
    visit.press_until("<End>", "last", |name| name > "robot 001700");
    // In each page before the window, one robot stays, or none.
    for id in (1..=1500).filter(|id| *id != 150 && *id != 950) {
        visit.call("DELETE", &format!("/api/robots/{id}"), "");
    }
    visit.run(
        "const send = window.fetch; window.sent = 0; \
         window.fetch = (...call) => { window.sent++; return send(...call); }",
    );
    visit.press_until("<Home>", "first", |name| name == "robot 000149");
    let idle = "const done = arguments[arguments.length - 1]; const before = window.sent; \
                setTimeout(() => done(window.sent === before), 500)";
    wait_for("no more requests", || visit.browser.run_async(idle) == true);
    let rows = visit.rows();
    assert!(rows.is_sorted(), "{rows:?}");
    visit.assert_small();
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
    visit.play(
        r#"run window.failing = 'sort=-name' -> click [data-key=name] button
           see #refused: The server answered 500. -> is texts('#table .name')[0] == "robot 000000"
           run window.pages = 0; $('#more').click() -> is window.pages == 0
           run window.failing = 'none'; $('#refused button').click()
           is texts('#table .name')[0] == "robot 000499"
           run window.failing = 'cursor=' -> type <End> -> see #refused: The server answered 500.
           run window.failing = 'none'; $('#refused button').click()
           is $('#refused').hidden == true -> is rows().length > 100 == true"#,
    );
}

#[test]
fn all_rows_of_a_list_are_printed() {
    Visit::of_many(700).play(
        "run window.print = () => { window.printed = rows().length; } -> press Export -> press print
         is window.printed == 700",
    );
}
