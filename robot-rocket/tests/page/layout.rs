//! Layout, size and base path of the page, and the page about the API.

use std::{net::SocketAddr, sync::Arc, sync::mpsc, thread};

use robot_core::MemoryCatalogue;
use robot_rocket::{Settings, mount};
use rocket::{Config, Orbit, Rocket, fairing::AdHoc};
use serde_json::{Value, json};

use crate::visit::Visit;

/// What is outside of the window, except in the list, which scrolls in itself.
const OUTSIDE: &str = "$$('button, input, select, summary, .panel td, #table .name').filter((each) => \
    each.checkVisibility() && (each.getBoundingClientRect().right > innerWidth + 1 || \
    each.getBoundingClientRect().left < -1) && !each.matches('#scroller *')).map((each) => each.outerHTML)";

#[test]
fn narrow_screen_needs_no_horizontal_scrolling() {
    let long = "x".repeat(255);
    let visit = Visit::of_robots(&[
        ("Marvin", "droid", "1977"),
        (&long, "droid", "1977"),
        ("late", "mechanical", "9223372036854775807"),
    ]);
    visit.play(&format!(
        r"choose robots.csv name,type,year,{long}\n{long},toaster,1,\n
          see #plan-counts: Would add no robots, fail 1."
    ));
    for width in [320, 375, 700, 1000, 1600] {
        for panel in ["importing", "adding", "fields"] {
            visit.play(&format!(
                "fits {width} -> panel {panel} -> is {OUTSIDE} == []
                 is $$('.panel :is(button, input, select)').filter((each) => each.checkVisibility() && \
                 (each.offsetHeight < 16 || each.offsetWidth < 16)).map((each) => each.outerHTML) == []
                 run $('#{panel}-close').click()"
            ));
        }
        visit.play(&format!(
            "run location.hash = '#/robots/2' -> see #record h2: xxxx -> is {OUTSIDE} == []
             run location.hash = '' -> is $('#record').hidden == true -> is {OUTSIDE} == []"
        ));
    }
}

/// A museum with forty exhibits, of which all but one field have a value.
fn museum() -> Visit {
    let visit = Visit::museum();
    for number in 1..=35 {
        visit.call("POST", "/api/robots", &format!(
            r#"{{"name":"Krater {number} {}","type":"vase","accession":"1920.{number}","year":-{number},
            "maker":"The workshop of a painter with a long name, in a town beyond the hills","weight":0.5,
            "acquired":"1920-12-09","on_display":true,"condition":"good","source":"https://example.org/{number}",
            "notes":"{}"}}"#,
            "of many words ".repeat(number % 5), "note ".repeat(200)
        ));
    }
    visit
}

#[test]
fn table_shows_many_whole_values_and_keeps_its_ends() {
    let visit = museum();
    visit.play(
        "run localStorage.clear() -> fits 1280 -> open ?columns=type,year,accession,maker,weight,acquired,on_display,condition,source
         see #count: 40 records",
    );
    // Rows that are whole in the window.
    let bottom = "Math.min($('#foot').getBoundingClientRect().top, $('#scroller').getBoundingClientRect().top + \
                  $('#scroller').clientHeight)";
    visit.play(&format!(
        "is $$('#table tbody tr').filter((row) => row.getBoundingClientRect().bottom <= {bottom}).length >= 18 == true"
    ));
    // A number or a date is in one line and not cut; a longer text ends with an ellipsis; nothing is higher than a row.
    visit.play(
        "is $$('#table td.is-digits, #table td.is-number, #table td.is-date').filter((cell) => \
         cell.scrollWidth > cell.clientWidth || cell.scrollHeight > cell.clientHeight) == []
         is $$('#table td .value').filter((value) => value.scrollWidth > value.clientWidth && \
         getComputedStyle(value).textOverflow !== 'ellipsis') == []
         is new Set($$('#table tbody tr').map((row) => row.offsetHeight)).size == 1
         is $$('#table td[data-key=maker] .value').some((value) => value.scrollWidth > value.clientWidth) == true
         is getComputedStyle($('#table td[data-key=weight]')).textAlign == \"right\"
         is getComputedStyle($('#table td[data-key=weight]')).fontVariantNumeric == \"tabular-nums\"",
    );
    // The heading, the name and the actions stay.
    let place = "[$('thead .of-name'), $('tbody .of-select'), $('tbody tr:last-child .of-actions')]\
                 .map((each) => each.getBoundingClientRect()).flatMap(({ left, top }) => [left])";
    let before = visit.run(&format!("return {place}"));
    visit.play("run $('#scroller').scrollTo(400, 300)");
    assert_eq!(visit.run(&format!("return {place}")), before);
    visit.play(
        "is $('#scroller').scrollLeft > 100 && $('#scroller').scrollTop == 300 == true
         is getComputedStyle($('tbody tr:last-child .of-name'), '::after').position == \"absolute\"
         is $('thead').getBoundingClientRect().top < $('thead .of-name').getBoundingClientRect().top == true
         run $$('#columns input')[0]?.click() -> click #columns summary -> click #columns-menu fieldset label:last-child
         is new Set($$('#table tbody tr').map((row) => row.offsetHeight)).size <= 2 == true
         is $$('#table td[data-key=maker] .value')[0].getClientRects().length == 1 -> reload -> see #count: 40
         is document.documentElement.dataset.density == \"comfortable\"",
    );
    // On paper, no column is cut.
    visit
        .browser
        .devtools("Emulation.setEmulatedMedia", &json!({"media": "print"}));
    visit.set_width(718);
    visit.play(
        "is $$('#table th').filter((each) => each.checkVisibility() && each.getBoundingClientRect().right > innerWidth + 1) == []
         is $$('#table th').filter((each) => each.checkVisibility()).length > 4 == true",
    );
}

#[test]
fn phone_shows_robots_after_search_and_filters() {
    let visit = museum();
    visit.set_width(390);
    visit.play(
        "reload -> see #count: 40 -> is $('#table tbody tr').getBoundingClientRect().top < 150 == true
         is $$('#table tbody tr').every((row) => [...row.cells].filter((cell) => cell.checkVisibility()).length <= 5) == true
         is $$('#table .name').every((name) => name.offsetHeight <= 48) == true
         is $('#scroller').scrollWidth <= innerWidth == true
         is getComputedStyle($('#table tbody .of-year'), '::before').content == 'none' == false
         is ['#picture', '#columns', '#views', '#importing-open'].filter((each) => $(each).checkVisibility()) == []
         click #tools-open -> click #importing-open -> focus File (or drop one on this page)
         is $('#importing').getBoundingClientRect().width == 390 -> type <Escape> -> focus More
         run $('#table tbody .of-year').click() -> see #record h2: Amphora -> is $('#record').getBoundingClientRect().width == 390",
    );
}

#[test]
fn page_is_small_and_follows_the_preferred_color_scheme() {
    let visit = Visit::of(&[]);
    let script = "const loaded = [...performance.getEntriesByType('navigation'), \
                  ...performance.getEntriesByType('resource')]; \
                  return [loaded.every((each) => each.name.startsWith(location.origin)), \
                  loaded.length, loaded.reduce((sum, each) => sum + each.encodedBodySize, 0)]";
    let (is_own, files, bytes): (bool, u32, u32) =
        serde_json::from_value(visit.run(script)).unwrap();
    assert!(is_own);
    assert!((10..70).contains(&files), "{files} files");
    assert!((20_000..340_000).contains(&bytes), "{bytes} bytes");
    let brightness = "['backgroundColor', 'color'].map((property) => getComputedStyle(document.body)[property]\
                      .match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0))\
                      .map((sum) => sum > 600 ? 'light' : sum < 200 ? 'dark' : sum)";
    visit.play(&format!(r#"is {brightness} == ["light", "dark"]"#));
    visit.prefer("dark");
    visit.play(&format!(r#"is {brightness} == ["dark", "light"]"#));
}

#[test]
fn docs_describe_every_operation_and_schema() {
    let visit = Visit::of(&[]);
    let document = visit.call("GET", "/openapi.json", "");
    let document: Value = serde_json::from_str(&document).unwrap();
    let paths = document["paths"].as_object().unwrap().values();
    let methods = ["get", "post", "put", "patch", "delete"];
    let operations =
        paths.flat_map(|path| methods.map(|method| path[method]["operationId"].as_str()));
    let mut operations: Vec<_> = operations.flatten().collect();
    operations.sort_unstable();
    let schemas = document["components"]["schemas"]
        .as_object()
        .unwrap()
        .keys();
    let mut schemas: Vec<_> = schemas.map(|name| format!("schema-{name}")).collect();
    schemas.sort();
    let ids = "map((each) => each.id).sort()";
    visit.play(&format!(
        "click footer a -> see #schemas h2: Schemas
         is $$('.operation').{ids} == {}
         is $$('.schema').{ids} == {}
         is $$('main a').filter((each) => !document.getElementById(each.hash.slice(1))).length == 0
         accessible docs -> fits 320",
        json!(operations),
        json!(schemas)
    ));
}

#[test]
fn page_works_under_a_base_path() {
    let figment = Config::figment()
        .merge(("port", 0))
        .merge(("log_level", "off"))
        // The stream of changes ends when the server sees that the browser is gone.
        .merge(("shutdown.grace", 20))
        .merge(("shutdown.mercy", 20));
    let (ready, listening) = mpsc::channel();
    let application = mount(
        rocket::custom(figment),
        "/some/base",
        Arc::new(MemoryCatalogue::new()),
        &Settings::default(),
    )
    .attach(AdHoc::on_liftoff("ready", move |rocket: &Rocket<Orbit>| {
        let address = SocketAddr::new(rocket.config().address, rocket.config().port);
        let sent = ready.send((address, rocket.shutdown()));
        Box::pin(async move { assert!(sent.is_ok()) })
    }));
    let server = thread::spawn(|| rocket::execute(application.launch()).is_ok());
    let (address, shutdown) = listening.recv().unwrap();
    Visit::at(address).play(&format!(
        r#"open some/base?q=HAL -> is location.pathname + location.search == "/some/base/?q=HAL"
           is $('#none').hidden == false -> open some/base/ -> is $('#start').hidden == false
           click #start .quiet -> rows 9 -> click footer a -> is $$('.operation').length > 0 == true
           is $('#listRobots pre').textContent == "curl 'http://{address}/some/base/api/robots'""#
    ));
    shutdown.notify();
    assert!(server.join().unwrap());
}
