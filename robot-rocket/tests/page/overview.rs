//! The number of robots, and the chart.

use serde_json::json;

use crate::{calls::call, visit::Visit};

#[test]
fn total_is_exact_for_lists_of_many_pages() {
    let visit = Visit::of_many(2500);
    visit.play(
        "see #count: 2,500 robots -> is $('#table').ariaRowCount == \"2501\"
         open ?year_to=1909&type=droid&q=0",
    );
    let target = "/api/robots/search/0?year_to=1909&type=droid&limit=1&count=true";
    let answer = call(&visit.client(), "GET", target, "");
    let total: u32 = answer.header("x-total-count").unwrap().parse().unwrap();
    visit.play(&format!(
        r#"see #count: {total} robots -> POST /api/robots {{"name":"0","type":"droid","year":1900}}
           edit robot 000000 -> type 0<Enter> -> see #record .error: must be unique
           type 1<Enter> -> see #count: {} robots"#,
        total + 1
    ));
}

#[test]
fn rows_do_not_wait_for_the_numbers_which_may_fail() {
    let visit = Visit::of_many(300);
    visit.run(
        "const send = window.fetch; window.answered = new Promise(() => {}); \
         window.fetch = (path, options) => path.includes('/summary') ? window.answered : send(path, options)",
    );
    visit.play(
        "type /robot 00029 -> rows 11 -> see #count: 11 robots
         type <Control>ar -> see #count: more than 100 robots
         run window.answered = Promise.resolve(new Response('{}', { status: 500 }))
         type <Control>arobot -> see #count: more than 100 robots
         said more than 100 robots found -> see #no-bars: The numbers could not be read.",
    );
}

#[test]
fn list_does_not_move_when_its_numbers_arrive() {
    let visit = Visit::of(&[]);
    visit.play("hold path.includes('/summary') -> enter Marvin<Tab>v<Tab>1978 -> rows 1");
    let place = "return $('[data-action=delete]').getBoundingClientRect().x";
    let before = visit.run(place);
    visit.play("release -> see #picture .total: 1");
    assert_eq!(visit.run(place), before);
}

#[test]
fn chart_shows_the_filter_or_the_whole_catalogue() {
    let robots = [
        ("Robby", "mechanical", "1956"),
        ("HAL 9000", "virtual", "1968"),
        ("R2-D2", "droid", "1977"),
        ("C-3PO", "droid", "1977"),
        ("late", "mechanical", "9223372036854775807"),
    ];
    Visit::of_robots(&robots).play(
        r#"is texts('#picture .total') == ["1", "1", "2", "1"] -> is $('.scope').hidden == true
           see #picture .decade: ⋯ -> filter type -> tab virtual -> type <Space><Escape> -> see #picture .scope: This filter
           is texts('#picture .total') == ["1"] -> tab This filter -> type <Down> -> focus Whole catalogue
           is texts('#picture .total') == ["1", "1", "2", "1"]
           type /2 -> see #none: No robot has all words of 2 and matches the filter. -> see #picture .scope: Whole catalogue
           is texts('#picture .total') == ["1", "1", "2", "1"]
           run $('#of-filter').click() -> see #picture .hint: No robot matches the filter.
           open -> rows 5 -> see #picture .decade: ⋯ -> click .bin .part -> names Robby -> address ?year_from=1950&year_to=1959
           see #picture .scope: Whole catalogue -> run $('#of-all').click()
           press Numbers -> press 9223372036854775800–9223372036854775807 -> names late -> focus robots"#,
    );
}

#[test]
fn chart_is_folded_with_own_fields_and_draws_each_of_them() {
    let visit = Visit::museum();
    let bars = "$$('#numbers tbody tr').map((row) => [...row.cells].map((cell) => cell.textContent).join(' '))";
    visit.play("is $('#picture').hidden == true -> click #chart-open -> address ?by=year");
    for (key, expected) in [
        (
            "year",
            r#"["-450 to -441 0 1 0 1", "-440 to -431 0 1 0 1", "no year 0 3 0 3"]"#,
        ),
        ("type", r#"["vase 5"]"#),
        ("condition", r#"["good 1", "fair 1", "none 3"]"#),
        ("on_display", r#"["no 1", "yes 1", "none 3"]"#),
        ("acquired", r#"["1999 1", "2001 1", "none 3"]"#),
        ("rooms", r#"["none 5"]"#),
    ] {
        visit.play(&format!(
            "set #chart-by = {key} -> is {bars} == {expected} -> address ?by={key}"
        ));
    }
    visit.play(&format!(
        r#"PUT /api/robots/3 {{"name":"Amphora","type":"vase","accession":"1999.7","weight":30}}
           set #chart-by = weight -> is {bars} == ["0 – 5 1", "15 – 20 1", "30 – 35 1", "none 2"]
           run $('#numbers-open').open = true -> press 0 – 5 -> names Owl -> focus robots
           see #chips summary: Weight 0 – 5 -> click #chart-open -> is $('#picture').hidden == true -> reload -> names Owl
           is $('#picture').hidden == true -> open ?by=condition -> rows 5 -> is {bars} == ["good 1", "none 4"]
           click .bin .part -> names Owl -> see #chips summary: Condition good
           accessible the chart of a field"#
    ));
    // The picture has no room for all values, but the table has.
    let robots = (0..20).map(|number| {
        format!(
            r#"{{"name":"{number}","type":"vase","accession":"1990.{number}","maker":"m{number}"}}"#
        )
    });
    let robots = robots.collect::<Vec<_>>().join(",");
    visit.call("POST", "/v1/robots/import", &format!("[{robots}]"));
    visit.play(
        "open ?by=maker -> is [$$('.bars > div').length, $$('#numbers tbody tr').length] == [16, 23]",
    );
}

#[test]
fn bins_of_the_chart_follow_the_years() {
    let visit = Visit::of(&["R2-D2"]);
    let many: Vec<_> = (0..40).map(|number| 1000 * number).collect();
    for (decades, labels) in [
        (&[1970][..], "1970"),
        (&[1950, 1970, 2010], "1950 1960 1970 1980 1990 2000 2010"),
        (&[0, 1950, 2020, i64::MAX - 7], "0 ⋯ 1950 ⋯ 2020 ⋯ 9.22E18"),
        (&[-450, -10, 0, 1980], "-450 ⋯ -10 0 ⋯ 1980"),
        (&[i64::MIN, 1990], "-9.22E18 ⋯ 1990"),
        (&many, "0 5000 10000 15000 20000 25000 30000 35000"),
    ] {
        // More robots in the same years do not change the bins, and all are counted.
        for count in [1, 20] {
            let script = format!(
                "const done = arguments[0], decades = {}.map(BigInt); \
                 import('./page/bins.js').then(({{ binsOf }}) => {{ \
                 const bins = binsOf(decades.map((decade) => ({{ type: 'droid', decade, count: {count} }}))); \
                 const counted = bins.map(({{ counts }}) => counts.get('droid') ?? 0); \
                 done([bins.map(({{ label }}) => label).join(' '), \
                 counted.reduce((sum, each) => sum + each) === decades.length * {count}]) }})",
                json!(decades.iter().map(i64::to_string).collect::<Vec<_>>())
            );
            assert_eq!(visit.browser.run_async(&script), json!([labels, true]));
        }
    }
}
