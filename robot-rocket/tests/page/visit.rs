//! Somebody who has the page open, and what they see and do there.

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
    calls::call,
    process::{PATIENCE, Server, wait_for},
};

/// A server, and a browser that shows its page.
pub(crate) struct Visit {
    pub(crate) browser: Browser,
    /// There is none while it is away.
    server: Option<Server>,
    /// The working directory of the server; removed with it.
    folder: TempDir,
}

/// A robot as the list shows it: name, type, year.
pub(crate) type Shown = (String, String, String);

impl Visit {
    /// To a catalogue with robots of these names.
    pub(crate) fn of(names: &[&str]) -> Self {
        let visit = Self::with(&[("DATABASE_URL", "memory:")]);
        for name in names {
            visit.add(name, "droid", "1977");
        }
        if !names.is_empty() {
            visit.browser.reload();
            visit.sees_rows(names.len());
        }
        visit
    }

    /// To a server with these settings.
    pub(crate) fn with(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path(), settings);
        Self::to(server, folder)
    }

    /// To a catalogue with so many robots, in a file.
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
        visit.sees("the list, or why there is none", "return document.querySelector('#count').textContent || !document.querySelector('#token').hidden");
        visit
    }

    fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    /// Takes the server away; the port that it had.
    pub(crate) fn stop_server(&mut self) -> String {
        let server = self.server.take().unwrap();
        let port = server.address().port().to_string();
        let (status, log) = server.stop("TERM");
        assert!(status.success(), "{status}: {log}");
        port
    }

    /// Brings one back, at this port and over the same file.
    pub(crate) fn start_server(&mut self, port: &str) {
        let settings = [("ROCKET_PORT", port)];
        self.server = Some(Server::start(self.folder.path(), &settings));
    }

    /// Adds a robot behind the page's back.
    pub(crate) fn add(&self, name: &str, kind: &str, year: &str) {
        let name = Value::from(name);
        let draft = format!(r#"{{"name":{name},"type":"{kind}","year":{year}}}"#);
        let answer = call(&self.client(), "POST", "/api/robots", &draft);
        assert_eq!(answer.status, 201, "{}", answer.text());
    }

    pub(crate) fn client(&self) -> TcpClient {
        self.server().client()
    }

    /// What a script returns.
    pub(crate) fn ask(&self, script: &str) -> Value {
        self.browser.run(script, &[])
    }

    /// Waits until a script returns what counts as true.
    #[track_caller]
    pub(crate) fn sees(&self, what: &str, script: &str) {
        wait_for(what, PATIENCE, || {
            let seen = self.ask(script);
            !matches!(seen, Value::Null | Value::Bool(false)) && seen != "" && seen != 0
        });
    }

    /// Waits until the element that a selector names has this text among its own.
    #[track_caller]
    pub(crate) fn reads(&self, selector: &str, text: &str) {
        let script = "return [...document.querySelectorAll(arguments[0])].some((found) => \
                      found.checkVisibility() && found.textContent.includes(arguments[1]))";
        wait_for(&format!("{text:?} in {selector}"), PATIENCE, || {
            self.browser.run(script, &[json!(selector), json!(text)]) == json!(true)
        });
    }

    /// Waits until something was said to those who do not see the page.
    #[track_caller]
    pub(crate) fn hears(&self, text: &str) {
        self.reads("#said", text);
    }

    /// Waits until the list has so many rows.
    #[track_caller]
    pub(crate) fn sees_rows(&self, count: usize) {
        let what = format!("{count} rows");
        wait_for(&what, PATIENCE, || self.rows().len() == count);
    }

    /// The robots that the list shows.
    pub(crate) fn rows(&self) -> Vec<Shown> {
        let script = "return [...document.querySelectorAll('#table tbody tr:not(.edited)')]\
                      .filter((row) => row.checkVisibility())\
                      .map((row) => ['name', 'type', 'year'].map((kind) => \
                      row.querySelector(kind === 'year' ? '.of-year' : `.${kind}`).textContent))";
        serde_json::from_value(self.ask(script)).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.rows().into_iter().map(|(name, ..)| name).collect()
    }

    /// Waits until the list has robots of these names and no others.
    #[track_caller]
    pub(crate) fn sees_names(&self, names: &[&str]) {
        wait_for(&format!("{names:?}"), PATIENCE, || self.names() == names);
    }

    /// What has the focus: the label of a box, or the name of anything else.
    pub(crate) fn focus(&self) -> String {
        let script = "const focus = document.activeElement; \
                      return focus.labels?.[0]?.textContent ?? focus.getAttribute('aria-label') \
                      ?? (focus.id || focus.textContent)";
        self.ask(script).as_str().unwrap().to_owned()
    }

    /// Waits until something has the focus.
    #[track_caller]
    pub(crate) fn has_focus(&self, what: &str) {
        wait_for(&format!("the focus on {what:?}"), PATIENCE, || {
            self.focus() == what
        });
    }

    /// Goes by the Tab key until something has the focus.
    #[track_caller]
    pub(crate) fn tab_to(&self, what: &str) {
        for _ in 0..60 {
            if self.focus() == what {
                return;
            }
            self.browser.press([crate::keys::TAB]);
        }
        panic!(
            "no Tab leads to {what:?}; the focus is on {:?}",
            self.focus()
        );
    }

    /// What the box that has the focus says is wrong.
    pub(crate) fn complaint(&self) -> String {
        let script = "const id = document.activeElement.getAttribute('aria-describedby'); \
                      return id ? document.getElementById(id).textContent : ''";
        self.ask(script).as_str().unwrap().to_owned()
    }

    /// The robots in the catalogue, as JSON.
    pub(crate) fn stored(&self) -> String {
        let target = "/api/robots?fields=name,type,year";
        call(&self.client(), "GET", target, "").text()
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.browser.complaints(), [""; 0], "the browser complains");
        }
    }
}

/// Puts robots into the file that a server opens in a folder: robot 000000, robot 000001, …
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
