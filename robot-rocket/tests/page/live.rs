//! Changes of other users, as they happen.

use serde_json::json;

use crate::visit::Visit;

#[test]
fn changes_of_others_are_marked_and_move_nothing() {
    Visit::of(&["A", "B", "C"]).play(
        r#"PATCH /v1/robots/2 {"year":7} -> is rows()[1] == ["B", "droid", "7"] -> is texts('tr.theirs .name') == ["B"]
           POST /v1/robots {"name":"0","type":"virtual","year":1} -> see #news: 1 new: show -> rows 3
           see #count: 4 robots -> DELETE /v1/robots/1 -> see #table .gone: A -> see #count: 3 robots
           POST /v1/robots {"name":"1","type":"virtual","year":1} -> see #news: 2 new: show
           DELETE /v1/robots/4 -> see #news: 1 new: show -> click #news button
           names 1, A, B, C -> is $('#news').textContent == "" -> focus robots
           reload -> names 1, B, C
           search B -> names B -> POST /v1/robots {"name":"Z","type":"virtual","year":1}
           POST /v1/robots {"name":"BB","type":"virtual","year":1} -> see #news: 1 new: show
           open -> names 1, B, BB, C, Z -> edit C -> type typed -> PATCH /v1/robots/3 {"year":9}
           is $('#record .of-year input').value == "9" -> is $('#record input').value == "typed""#,
    );
}

#[test]
fn first_robot_of_another_user_replaces_the_empty_page() {
    Visit::of(&[]).play(
        r#"see #start: No robots yet -> POST /v1/robots {"name":"A","type":"droid","year":1} -> names A
           is $('#start').hidden == true"#,
    );
}

#[test]
fn tabs_share_one_stream_and_the_next_one_takes_over() {
    let visit = Visit::of(&["A"]);
    let count = "performance.getEntriesByType('resource').filter(({ name }) => name.includes('v1/changes?')).length";
    let first = visit.browser.window();
    visit.browser.new_window();
    visit.open("");
    visit.play(r#"rows 1 -> PATCH /v1/robots/1 {"year":5} -> is rows()[0] == ["A", "droid", "5"]"#);
    visit.play(&format!("is {count} == 0"));
    visit.browser.close_window(&first);
    visit.play(r#"PATCH /v1/robots/1 {"year":6} -> is rows()[0] == ["A", "droid", "6"]"#);
    // A tab whose patience is shorter than the pauses of the stream replaces one that seems to have stopped.
    let leading = visit.browser.window();
    visit.browser.new_window();
    let source = "const set = setTimeout; \
                  window.setTimeout = (call, time) => set(call, time === 40_000 ? 2000 : time);";
    let command = "Page.addScriptToEvaluateOnNewDocument";
    visit.browser.devtools(command, &json!({"source": source}));
    visit.open("");
    visit.play(&format!("rows 1 -> is {count} > 0 == true"));
    visit.browser.close_window(&leading);
    visit.play(r#"PATCH /v1/robots/1 {"year":7} -> is rows()[0] == ["A", "droid", "7"]"#);
}

/// Delays responses until `window.release()`, and counts requests that were aborted meanwhile.
const LATE: &str = "
    const send = window.fetch;
    window.aborted = 0;
    const released = new Promise((resolve) => (window.release = resolve));
    window.fetch = async (path, options) => {
        const answer = await send(path, options);
        if (!/summary|sort=-name/.test(path)) return answer;
        options.signal.addEventListener('abort', () => window.aborted++);
        await released;
        options.signal.throwIfAborted();
        return answer;
    };";

#[test]
fn list_and_numbers_are_shown_while_others_change_robots() {
    let visit = Visit::of(&["A", "B"]);
    visit.play("see #picture .total: 2");
    visit.run(LATE);
    visit.play(
        r#"click [data-key=name] button -> PATCH /v1/robots/1 {"year":1} -> is rows()[0] == ["A", "droid", "1"]
           PATCH /v1/robots/2 {"year":2} -> is rows()[1] == ["B", "droid", "2"] -> is window.aborted == 0 -> release
           is rows() == [["B", "droid", "2"], ["A", "droid", "1"]]
           see #picture .decade: 0 -> is texts('#picture .total') == ["2"]"#,
    );
}

#[test]
fn focus_stays_when_others_change_robots() {
    Visit::of_many(300).play(
        r#"POST /v1/robots {"name":"a","type":"droid","year":1} -> see #news: 1 new: show
           PATCH /v1/robots/301 {"year":7} -> run $('#news button').focus()
           POST /v1/robots {"name":"b","type":"droid","year":1} -> see #news: 2 new: show -> focus 2 new: show
           type <Enter> -> is rows().slice(0, 2) == [["b", "droid", "1"], ["a", "droid", "7"]] -> focus robots
           see #count: 302 robots -> run $('#numbers-open').open = true -> see #numbers: 1950–1959
           run $$('#numbers button').find((each) => each.textContent === '1950–1959').focus() -> PATCH /v1/robots/302 {"year":1955}
           see #numbers: 31 -> focus 1950–1959
           type /xyz -> see #none: No robot -> tab Show all robots -> POST /v1/robots {"name":"c","type":"droid","year":1}
           run setTimeout(() => (window.isLater = true), 1000) -> is window.isLater == true -> focus Show all robots"#,
    );
}

#[test]
fn connection_is_resumed_without_a_gap() {
    let mut visit = Visit::with(&[]);
    visit.play(r#"POST /v1/robots {"name":"A","type":"droid","year":1} -> rows 1 -> PATCH /v1/robots/1 {"year":2}
                  is rows()[0] == ["A", "droid", "2"]"#);
    visit.stop_server();
    visit.play("see #lost: Not live");
    visit.start_server();
    // As long as the page has not noticed, the change is made.
    visit.play(
        r#"PATCH /v1/robots/1 {"year":3} -> is rows()[0] == ["A", "droid", "3"] -> is $('#lost').hidden == true"#,
    );
    // A position of another catalogue.
    visit.play("run location.hash = '#/robots/1' -> see #record: Added -> is $('#robot-heading').textContent == \"A\"");
    visit.stop_server();
    for file in std::fs::read_dir(visit.folder()).unwrap() {
        let path = file.unwrap().path();
        if path.to_string_lossy().contains("robots.db") {
            std::fs::remove_file(path).unwrap();
        }
    }
    visit.start_server();
    visit.play(
        r#"see #record: Nothing has the id 1 -> POST /v1/robots {"name":"B","type":"droid","year":1} -> names B
           see #robot-heading: B"#,
    );
}
