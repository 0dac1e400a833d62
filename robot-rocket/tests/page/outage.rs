//! Outage of the server.

use crate::visit::Visit;

/// A visit to a server with one robot that has been stopped.
fn visit_to_stopped_server() -> Visit {
    let mut visit = Visit::with(&[]);
    visit.play(
        r#"POST /api/robots {"name":"Marvin","type":"droid","year":1979} -> reload -> rows 1"#,
    );
    visit.stop_server();
    visit
}

#[test]
fn typed_text_survives_an_outage() {
    let mut visit = visit_to_stopped_server();
    visit.play(
        r#"enter R2-D2<Tab>d<Tab>1977 -> see #trouble: The server does not answer.
           see #add .error: will be looked up
           is $$('#add input, #add select').map((box) => box.value) == ["R2-D2", "droid", "1977"]"#,
    );
    visit.start_server();
    visit.play(
        "said The server answers again. -> see #add .error: The robot was not added. Add it again.
         is $('#trouble').hidden == true -> press Year -> rows 2 -> stored R2-D2",
    );
}

#[test]
fn search_is_retried_after_an_outage() {
    let mut visit = visit_to_stopped_server();
    visit.play("type /Nobody -> see #trouble: The server does not answer. -> tab Try again");
    visit.start_server();
    visit.play(
        "type <Enter> -> see #none: No robot has all words of Nobody. -> is $('#trouble').hidden == true",
    );
}

/// Makes requests fail while `isDown` returns true for their path. The paths of the others are in `sent`
/// and, some time after the answer, in `answered`.
pub(crate) const CUT_OFF: &str = "
    const send = window.fetch;
    window.isDown = () => true;
    window.sent = [];
    window.answered = [];
    window.fetch = async (path, options) => {
        if (window.isDown(path)) throw new TypeError('down');
        window.sent.push(path);
        const answer = await send(path, options);
        setTimeout(() => window.answered.push(path), 100);
        return answer;
    };";

#[test]
fn counts_and_history_are_read_again_after_an_outage() {
    let visit = Visit::of(&["A", "B"]);
    visit.run(CUT_OFF);
    visit.play(&format!(
        r#"run window.isDown = (path) => path.includes('/summary') -> click [data-action=delete]
           see #no-bars: The numbers could not be read. -> run window.isDown = (path) => path.includes('/history')
           is texts('#picture .total') == ["1"] -> run location.hash = '#/robots/2' -> see #trouble: does not answer
           {END} -> see #record .history: Added"#
    ));
}

/// Makes only the probe fail: the server is available again, and the page has not noticed yet.
const PROBE_FAILS: &str = "run window.isDown = (path) => path.endsWith('?limit=1')";

/// Ends the outage.
pub(crate) const END: &str =
    "run window.answered = []; window.isDown = () => false; $('#trouble button').click()";

#[test]
fn retry_does_not_replace_a_newer_view() {
    let visit = Visit::of(&["Marvin", "R2-D2"]);
    visit.run(CUT_OFF);
    visit.play(&format!(
        r#"type /R2 -> see #trouble: The server does not answer.
           POST /api/robots {{"name":"Bender","type":"mechanical","year":1999}}
           {PROBE_FAILS} -> type <Escape> -> names Bender, Marvin, R2-D2
           {END} -> is window.answered.some((path) => path.includes('?limit=1')) == true
           names Bender, Marvin, R2-D2 -> is window.sent.filter((path) => /robots\?.*R2/.test(path)).length == 0"#
    ));
}

#[test]
fn robot_that_was_added_again_is_shown_once() {
    let visit = Visit::of(&["Marvin"]);
    visit.run(CUT_OFF);
    visit.play(&format!(
        "enter R2-D2<Tab>d<Tab>1977 -> see #add .error: will be looked up
         {PROBE_FAILS} -> type <Enter> -> rows 2 -> focus Name -> type BB-8
         {END} -> is window.answered.some((path) => path.includes('name=R2-D2')) == true
         names R2-D2, Marvin -> is $('#add input').value == \"BB-8\""
    ));
}

/// Makes every change fail, as on a full disk. Reads still reach the server.
const FULL_DISK: &str = r#"
    const send = window.fetch;
    const body = JSON.stringify({ errors: [{ message: "The disk is full" }] });
    const headers = { "Retry-After": "60" };
    window.fetch = (path, options) =>
        options.method === "GET" ? send(path, options)
            : Promise.resolve(new Response(body, { status: 503, headers }));"#;

#[test]
fn full_disk_is_shown_and_is_no_outage() {
    let visit = Visit::of(&["Marvin"]);
    visit.run(FULL_DISK);
    // The probe of an outage would succeed, and hide the messages.
    visit.play(
        r#"enter R2-D2<Tab>d<Tab>1977 -> see #add .error: The disk is full
           click [data-action=delete] -> see #undo .offer: The disk is full
           is [$('#trouble').hidden, $('#add .error').textContent] == [true, "The disk is full"] -> names Marvin"#,
    );
}

#[test]
fn slow_list_says_that_the_server_is_busy() {
    Visit::of(&["Marvin"]).play(
        "hold path.includes('v1/robots?') -> press Year -> see #count: The server is busy…
         release -> see #count: 1 robot",
    );
}
