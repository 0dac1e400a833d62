//! Outage of the server.

use crate::{
    keys::{ENTER, ESCAPE},
    visit::Visit,
};

/// A visit to a server with one robot that has been stopped, and its port.
fn visit_to_stopped_server() -> (Visit, String) {
    let mut visit = Visit::with(&[]);
    visit.add("Marvin", "droid", "1979");
    visit.reload();
    visit.wait_for_rows(1);
    let port = visit.stop_server();
    (visit, port)
}

#[test]
fn typed_text_survives_an_outage() {
    let (mut visit, port) = visit_to_stopped_server();
    visit.enter_robot("R2-D2", "d", "1977");
    visit.wait_for_text("#trouble", "The server does not answer.");
    visit.wait_for_text("#add .error", "will be looked up");
    let script = "return [...document.querySelectorAll('#add input, #add select')]\
                  .map((box) => box.value).join()";
    assert_eq!(visit.run(script), "R2-D2,droid,1977");
    visit.start_server(&port);
    visit.wait_for_announcement("The server answers again.");
    visit.wait_for_text("#add .error", "The robot was not added. Add it again.");
    assert_eq!(
        visit.run("return document.querySelector('#trouble').hidden"),
        true
    );
    visit.press_on("Year");
    visit.wait_for_rows(2);
    visit.assert_stores("R2-D2");
}

#[test]
fn search_is_retried_after_an_outage() {
    let (mut visit, port) = visit_to_stopped_server();
    visit.press("/Nobody");
    visit.wait_for_text("#trouble", "The server does not answer.");
    visit.tab_to("Try again");
    visit.start_server(&port);
    visit.press(ENTER);
    visit.wait_for_text("#none", "No robot has all words of Nobody.");
    assert_eq!(
        visit.run("return document.querySelector('#trouble').hidden"),
        true
    );
}

/// Makes requests fail while `isDown` returns true for their path. The paths of the others are in `sent`
/// and, some time after the answer, in `answered`.
const CUT_OFF: &str = "
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

/// Makes only the probe fail: the server is available again, and the page has not noticed yet.
const PROBE_FAILS: &str = "window.isDown = (path) => path.endsWith('?limit=1')";

impl Visit {
    /// Ends the outage, and waits until a request that contains a text was answered.
    fn end_outage(&self, request: &str) {
        self.run("window.answered = []; window.isDown = () => false");
        self.run("document.querySelector('#trouble button').click()");
        let script = format!("return window.answered.some((path) => path.includes({request:?}))");
        self.wait_for(request, &script);
    }
}

#[test]
fn retry_does_not_replace_a_newer_view() {
    let visit = Visit::of(&["Marvin", "R2-D2"]);
    visit.run(CUT_OFF);
    visit.press("/R2");
    visit.wait_for_text("#trouble", "The server does not answer.");
    visit.add("Bender", "mechanical", "1999");
    visit.run(PROBE_FAILS);
    visit.press(ESCAPE);
    let all = ["Bender", "Marvin", "R2-D2"];
    visit.wait_for_names(&all);
    visit.end_outage("?limit=1");
    assert_eq!(visit.names(), all);
    let script = "return window.sent.filter((path) => path.includes('R2')).length";
    assert_eq!(visit.run(script), 0);
}

#[test]
fn robot_that_was_added_again_is_shown_once() {
    let visit = Visit::of(&["Marvin"]);
    visit.run(CUT_OFF);
    visit.enter_robot("R2-D2", "d", "1977");
    visit.wait_for_text("#add .error", "will be looked up");
    visit.run(PROBE_FAILS);
    visit.press(ENTER);
    visit.wait_for_rows(2);
    visit.wait_for_focus("Name");
    visit.press("BB-8");
    visit.end_outage("name=R2-D2");
    assert_eq!(visit.names(), ["R2-D2", "Marvin"]);
    let typed = "return document.querySelector('#add input').value";
    assert_eq!(visit.run(typed), "BB-8");
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
    visit.enter_robot("R2-D2", "d", "1977");
    visit.wait_for_text("#add .error", "The disk is full");
    visit.click("[data-action=delete]");
    visit.wait_for_text("#undo .offer", "The disk is full");
    // The probe of an outage would succeed, and hide the messages.
    let script = "return document.querySelector('#trouble').hidden \
                  && document.querySelector('#add .error').textContent";
    assert_eq!(visit.run(script), "The disk is full");
    assert_eq!(visit.names(), ["Marvin"]);
}
