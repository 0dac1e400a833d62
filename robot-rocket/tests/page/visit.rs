//! A browser on the page of a server, with actions and assertions.

use std::path::Path;

use robot_core::{
    Draft,
    conformance::TcpClient,
    transfer::{ImportOptions, Record, import},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    browser::Browser,
    keys::{ENTER, TAB},
    process::{Server, TIMEOUT, wait_for},
};

/// A server, and a browser that shows its page.
pub(crate) struct Visit {
    pub(crate) browser: Browser,
    /// None during an outage.
    server: Option<Server>,
    /// The working directory of the server, removed on drop.
    folder: TempDir,
}

/// A row of the list: name, type, year.
pub(crate) type Shown = [String; 3];

impl Visit {
    /// Opens the page of a catalogue with robots of these names. The behaviour of the server, here B, concerns
    /// `/api` only.
    pub(crate) fn of(names: &[&str]) -> Self {
        let visit = Self::with(&[("DATABASE_URL", "memory:"), ("ROCKET_BEHAVIOUR", "B")]);
        for name in names {
            visit.add(name, "droid", "1977");
        }
        if !names.is_empty() {
            visit.reload();
            visit.wait_for_rows(names.len());
        }
        visit
    }

    /// Opens the page of a server with these settings.
    pub(crate) fn with(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path(), settings);
        Self::to(server, folder)
    }

    /// Opens the page of a catalogue with many robots, in a file.
    pub(crate) fn of_many(count: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fill(folder.path(), count);
        Self::to(Server::start(folder.path(), &[]), folder)
    }

    fn to(server: Server, folder: TempDir) -> Self {
        let browser = Browser::open();
        browser.go(&format!("http://{}/", server.address()));
        let visit = Self {
            browser,
            server: Some(server),
            folder,
        };
        visit.wait_for("the list or the request for a token", "return document.querySelector('#count').textContent || !document.querySelector('#token').hidden");
        visit
    }

    fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    /// Loads the page with a query in its address.
    pub(crate) fn open(&self, query: &str) {
        let address = format!("http://{}/{query}", self.server().address());
        self.browser.go(&address);
    }

    /// The folder in which the server runs.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Makes the server take nothing, until it is resumed.
    pub(crate) fn suspend(&self) {
        self.server().signal("STOP");
    }

    pub(crate) fn resume(&self) {
        self.server().signal("CONT");
    }

    /// Stops the server and returns its port.
    pub(crate) fn stop_server(&mut self) -> String {
        let server = self.server.take().unwrap();
        let port = server.address().port().to_string();
        let (status, log) = server.stop("TERM");
        assert!(status.success(), "{status}: {log}");
        port
    }

    /// Starts the server again, on this port and the same file.
    pub(crate) fn start_server(&mut self, port: &str) {
        let settings = [("ROCKET_PORT", port)];
        self.server = Some(Server::start(self.folder.path(), &settings));
    }

    /// Sends a call to the API, as another client, which must succeed.
    #[track_caller]
    pub(crate) fn call(&self, method: &str, target: &str, body: &str) -> String {
        let answer = self.server().call(method, target, body);
        let text = answer.text();
        assert!(answer.status < 300, "{method} {target}: {text}");
        text
    }

    /// Adds a robot by the API.
    pub(crate) fn add(&self, name: &str, kind: &str, year: &str) {
        let name = Value::from(name);
        let draft = format!(r#"{{"name":{name},"type":"{kind}","year":{year}}}"#);
        self.call("POST", "/api/robots", &draft);
    }

    pub(crate) fn client(&self) -> TcpClient {
        self.server().client()
    }

    pub(crate) fn press(&self, keys: &str) {
        self.browser.press(keys);
    }

    pub(crate) fn press_with(&self, held: char, key: char) {
        self.browser.press_with(held, key);
    }

    pub(crate) fn click(&self, selector: &str) {
        self.browser.click(selector);
    }

    pub(crate) fn reload(&self) {
        self.browser.reload();
    }

    /// Runs a script and returns its result.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.browser.run(script, &[])
    }

    /// Holds the next request that meets a condition on `path` and `method` until it is released.
    pub(crate) fn hold(&self, condition: &str) {
        self.run(&format!(
            "const send = window.fetch; let isHeld = false; \
             const released = new Promise((resolve) => (window.release = resolve)); \
             window.fetch = async (path, options) => {{ \
             const {{ method }} = options; \
             if (!isHeld && ({condition})) {{ isHeld = true; await released; }} \
             return send(path, options); }}"
        ));
    }

    /// Releases the request that is held.
    pub(crate) fn release(&self) {
        self.run("window.release()");
    }

    /// Waits until a script returns a truthy value.
    #[track_caller]
    pub(crate) fn wait_for(&self, what: &str, script: &str) {
        wait_for(what, TIMEOUT, || {
            let seen = self.run(script);
            !matches!(seen, Value::Null | Value::Bool(false)) && seen != "" && seen != 0
        });
    }

    /// Waits until a visible element that matches a selector contains a text.
    #[track_caller]
    pub(crate) fn wait_for_text(&self, selector: &str, text: &str) {
        let script = "return [...document.querySelectorAll(arguments[0])].some((found) => \
                      found.checkVisibility() && found.textContent.includes(arguments[1]))";
        wait_for(&format!("{text:?} in {selector}"), TIMEOUT, || {
            self.browser.run(script, &[json!(selector), json!(text)]) == json!(true)
        });
    }

    /// Waits until a text is announced to screen readers.
    #[track_caller]
    pub(crate) fn wait_for_announcement(&self, text: &str) {
        self.wait_for_text("#said", text);
    }

    /// Waits until the list has this number of rows.
    #[track_caller]
    pub(crate) fn wait_for_rows(&self, count: usize) {
        let what = format!("{count} rows");
        wait_for(&what, TIMEOUT, || self.rows().len() == count);
    }

    /// The robots in the list.
    pub(crate) fn rows(&self) -> Vec<Shown> {
        let script = "return [...document.querySelectorAll('#table tbody tr:not(.edited)')]\
                      .filter((row) => row.checkVisibility())\
                      .map((row) => ['name', 'type', 'year'].map((kind) => \
                      row.querySelector(`.of-${kind}`).textContent))";
        serde_json::from_value(self.run(script)).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.rows().into_iter().map(|[name, ..]| name).collect()
    }

    /// Waits until the list has exactly these names.
    #[track_caller]
    pub(crate) fn wait_for_names(&self, names: &[&str]) {
        wait_for(&format!("{names:?}"), TIMEOUT, || self.names() == names);
    }

    /// The focused element: its label, its accessible name, its id or its text.
    pub(crate) fn focus(&self) -> String {
        let script = "const focus = document.activeElement; \
                      return focus.labels?.[0]?.textContent ?? focus.getAttribute('aria-label') \
                      ?? (focus.id || focus.textContent)";
        self.run(script).as_str().unwrap().to_owned()
    }

    /// Waits until an element has the focus.
    #[track_caller]
    pub(crate) fn wait_for_focus(&self, what: &str) {
        wait_for(&format!("the focus on {what:?}"), TIMEOUT, || {
            self.focus() == what
        });
    }

    /// Presses Tab until an element has the focus.
    #[track_caller]
    pub(crate) fn tab_to(&self, what: &str) {
        for _ in 0..60 {
            if self.focus() == what {
                return;
            }
            self.press(TAB);
        }
        panic!(
            "Tab does not reach {what:?}; the focus is on {:?}",
            self.focus()
        );
    }

    /// Presses Enter on an element.
    #[track_caller]
    pub(crate) fn press_on(&self, what: &str) {
        self.tab_to(what);
        self.press(ENTER);
    }

    /// Begins to edit a robot in its row.
    #[track_caller]
    pub(crate) fn edit(&self, name: &str) {
        self.press_on(&format!("Edit {name}"));
        self.wait_for_focus("Name");
    }

    /// Opens a panel, unless it is open.
    pub(crate) fn open_panel(&self, id: &str) {
        self.run(&format!(
            "if (document.querySelector('#{id}').hidden) document.querySelector('#{id}-open').click()"
        ));
    }

    /// Fills in the form that adds a robot, and sends it. A type is chosen by its first letters.
    #[track_caller]
    pub(crate) fn enter_robot(&self, name: &str, kind: &str, year: &str) {
        self.open_panel("adding");
        self.run("document.querySelector('#add input').focus()");
        self.press(&format!("{name}{TAB}{kind}{TAB}{year}{ENTER}"));
    }

    /// Deletes a robot as another client.
    #[track_caller]
    pub(crate) fn delete(&self, id: u32) {
        self.call("DELETE", &format!("/api/robots/{id}"), "");
    }

    /// Asserts that the catalogue has a robot, whose JSON contains a text.
    #[track_caller]
    pub(crate) fn assert_stores(&self, robot: &str) {
        let stored = self.stored();
        assert!(stored.contains(robot), "{stored}");
    }

    /// The error message of the focused box.
    pub(crate) fn error_message(&self) -> String {
        let script = "const id = document.activeElement.getAttribute('aria-describedby'); \
                      return id ? document.getElementById(id).textContent : ''";
        self.run(script).as_str().unwrap().to_owned()
    }

    /// The robots in the catalogue, as JSON.
    pub(crate) fn stored(&self) -> String {
        self.call("GET", "/api/robots?fields=name,type,year", "")
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.browser.console_messages(), [""; 0]);
        }
    }
}

/// Fills the database file in a folder with robot 000000, robot 000001, …
fn fill(folder: &Path, count: u32) {
    let url = format!("sqlite://{}/robots.db", folder.display());
    let catalogue = robot_core::open(&url).unwrap();
    let drafts = (0..count).map(|number| {
        let kind = ["droid", "mechanical", "virtual"][number as usize % 3];
        Draft::new(
            format!("robot {number:06}"),
            kind,
            1900 + i64::from(number % 120),
        )
    });
    let mut imported = import(
        catalogue,
        Record::numbered(drafts),
        ImportOptions::default(),
    );
    assert!(imported.all(|outcome| outcome.result.is_ok()));
}
