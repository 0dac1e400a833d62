//! A browser on the page of a server, and the steps of tests.

use std::{fs, net::SocketAddr, path::Path};

use robot_core::{
    Draft,
    conformance::TcpClient,
    transfer::{ImportOptions, Record, import},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    browser::Browser,
    calls::send,
    process::{Server, wait_for},
};

/// A server, and a browser that shows its page.
pub(crate) struct Visit {
    pub(crate) browser: Browser,
    address: SocketAddr,
    /// None during an outage, and if the test has a server of its own.
    server: Option<Server>,
    /// The working directory of the server, removed on drop.
    folder: TempDir,
}

impl Visit {
    /// Opens the page of a catalogue with droids of these names.
    pub(crate) fn of(names: &[&str]) -> Self {
        let robots: Vec<_> = names.iter().map(|name| (*name, "droid", "1977")).collect();
        Self::of_robots(&robots)
    }

    /// Opens the page of a catalogue with these robots: name, type and year. The behaviour of the server, here B,
    /// concerns `/api` only.
    pub(crate) fn of_robots(robots: &[(&str, &str, &str)]) -> Self {
        let visit = Self::with(&[("DATABASE_URL", "memory:"), ("ROCKET_BEHAVIOUR", "B")]);
        for (name, kind, year) in robots {
            let name = Value::from(*name);
            let draft = format!(r#"{{"name":{name},"type":"{kind}","year":{year}}}"#);
            visit.call("POST", "/api/robots", &draft);
        }
        if !robots.is_empty() {
            visit.browser.reload();
            visit.expect_rows(robots.len());
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
        let mut visit = Self::at(server.address());
        (visit.server, visit.folder) = (Some(server), folder);
        visit.open("");
        visit.play("is !!$('#count').textContent || !$('#token').hidden == true");
        visit
    }

    /// A browser for the server at an address, with an empty page.
    pub(crate) fn at(address: SocketAddr) -> Self {
        Self {
            browser: Browser::open(),
            address,
            server: None,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Does steps one after the other. Each line has some, separated by arrows:
    /// what a user or another client does, and what the page shows then. A line that ends with a backslash continues.
    #[track_caller]
    pub(crate) fn play(&self, steps: &str) {
        let steps = steps.split("\\\n").map(str::trim_start);
        let steps: String = steps.collect();
        let steps = steps.lines().flat_map(|line| line.split(" -> "));
        for step in steps.map(str::trim).filter(|step| !step.is_empty()) {
            let (verb, rest) = step.split_once(' ').unwrap_or((step, ""));
            if verb.chars().all(|letter| letter.is_ascii_uppercase()) {
                let (target, body) = rest.split_once(' ').unwrap_or((rest, ""));
                self.call(verb, target, body);
            } else if !self.act(verb, rest) {
                self.see(step, verb, rest);
            }
        }
    }

    /// Does what a user does; false if the step is another one.
    #[track_caller]
    fn act(&self, verb: &str, rest: &str) -> bool {
        match verb {
            "open" => self.open(rest),
            "reload" => self.browser.reload(),
            "back" => self.browser.go_back(),
            "type" => self.browser.press(rest),
            "tab" => self.tab_to(rest),
            "press" => self.press_on(rest),
            "edit" => self.play(&format!("press Edit {rest} -> focus Name")),
            "click" => self.browser.click(rest),
            "run" => drop(self.run(rest)),
            "set" => {
                let (selector, value) = rest.split_once(" =").unwrap();
                self.set(selector, value.trim_start());
            }
            "search" => {
                self.set("#query", rest);
                self.run("$('#search').requestSubmit()");
            }
            "panel" => drop(self.run(&format!(
                "if ($('#{rest}').hidden) $('#{rest}-open').click()"
            ))),
            // The form that adds a robot. A type is chosen by its first letters.
            "enter" => self.play(&format!(
                "panel adding -> run $('#add input').focus() -> type {rest}<Enter>"
            )),
            "choose" => {
                let (name, content) = rest.split_once(' ').unwrap();
                self.choose(name, &content.replace("\\n", "\n"));
            }
            // Opens the filter of a field.
            "filter" => self.play(&format!(
                "click #filter-menu summary -> click #filter-fields [data-key={rest}]"
            )),
            "import" => self.play("run $('#import-submit').focus() -> type <Enter>"),
            "hold" => self.hold(rest),
            "release" => drop(self.run("window.release()")),
            _ => return false,
        }
        true
    }

    /// Waits until the page, or another place, shows something.
    #[track_caller]
    fn see(&self, step: &str, verb: &str, rest: &str) {
        let expect = |expression: &str, value: Value| {
            self.browser
                .expect(step, expression, &[rest.into()], &value);
        };
        match verb {
            // A visible element that matches a selector contains a text.
            "see" => {
                let (selector, text) = rest.split_once(": ").unwrap();
                let arguments = [selector.into(), text.into()];
                let shows = "shows(arguments[0], arguments[1])";
                self.browser.expect(step, shows, &arguments, &true.into());
            }
            // Announced to screen readers.
            "said" => expect("shows('#said', arguments[0])", true.into()),
            "names" => {
                let names: Vec<_> = rest.split(", ").filter(|name| !name.is_empty()).collect();
                self.expect_names(&names);
            }
            "rows" => self.expect_rows(rest.parse().unwrap()),
            "focus" => expect("focus()", rest.into()),
            "message" => expect("message().startsWith(arguments[0])", true.into()),
            "value" => expect("document.activeElement.value", rest.into()),
            "address" => expect("location.search", rest.into()),
            "is" => {
                let (expression, value) = rest.rsplit_once(" == ").unwrap();
                let value = serde_json::from_str(value).unwrap();
                self.browser.expect(step, expression, &[], &value);
            }
            "fits" => {
                self.set_width(rest.parse().unwrap());
                expect("fits()", true.into());
            }
            "accessible" => self.assert_accessible(rest),
            "stored" => {
                let stored = self.call("GET", "/api/robots?fields=name,type,year", "");
                assert!(stored.contains(rest), "{rest}: {stored}");
            }
            "saved" => {
                let (name, content) = rest.split_once(' ').unwrap();
                let (path, content) = (self.folder().join(name), content.replace("\\n", "\n"));
                wait_for(step, || {
                    fs::read_to_string(&path).is_ok_and(|saved| saved == content)
                });
                fs::remove_file(&path).unwrap();
            }
            _ => panic!("unknown step: {step}"),
        }
    }

    /// Loads the page with a query in its address.
    pub(crate) fn open(&self, query: &str) {
        self.browser.go(&format!("http://{}/{query}", self.address));
    }

    /// The folder in which the server runs.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Stops or continues the server, which takes nothing meanwhile.
    pub(crate) fn signal(&self, signal: &str) {
        self.server.as_ref().unwrap().signal(signal);
    }

    /// Stops the server.
    pub(crate) fn stop_server(&mut self) {
        let (status, log) = self.server.take().unwrap().stop("TERM");
        assert!(status.success(), "{status}: {log}");
    }

    /// Starts the server again, on its port and file.
    pub(crate) fn start_server(&mut self) {
        let settings = [("ROCKET_PORT", &*self.address.port().to_string())];
        self.server = Some(Server::start(self.folder.path(), &settings));
    }

    /// Sends a call to the API, as another client, which must succeed.
    #[track_caller]
    pub(crate) fn call(&self, method: &str, target: &str, body: &str) -> String {
        let json = [("Content-Type", "application/json")];
        let answer = send(&self.client(), method, target, &json, body);
        let text = answer.text();
        assert!(answer.status < 300, "{method} {target}: {text}");
        text
    }

    pub(crate) fn client(&self) -> TcpClient {
        TcpClient::new(self.address)
    }

    /// Runs a script and returns its result.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.browser.run(script, &[])
    }

    /// Sets the value of a box, as a user who types or chooses.
    pub(crate) fn set(&self, selector: &str, value: &str) {
        let arguments = [selector.into(), value.into()];
        self.browser.run("set(...arguments)", &arguments);
    }

    /// Opens the form of the import, and chooses a file with this name and content.
    pub(crate) fn choose(&self, name: &str, content: &str) {
        let path = self.folder().join(name);
        fs::write(&path, content).unwrap();
        self.play("panel importing");
        self.browser.choose_file("#file", &path);
    }

    /// Holds the next request that meets a condition on `path` and `method` until it is released.
    fn hold(&self, condition: &str) {
        self.run(&format!(
            "const send = window.fetch; let isHeld = false; \
             const released = new Promise((resolve) => (window.release = resolve)); \
             window.fetch = async (path, options) => {{ \
             const {{ method }} = options; \
             if (!isHeld && ({condition})) {{ isHeld = true; await released; }} \
             return send(path, options); }}"
        ));
    }

    #[track_caller]
    fn expect_rows(&self, count: usize) {
        let what = format!("{count} rows");
        self.browser
            .expect(&what, "rows().length", &[], &count.into());
    }

    /// Waits until the list has exactly these names.
    #[track_caller]
    pub(crate) fn expect_names(&self, names: &[&str]) {
        let expression = "rows().map(([name]) => name)";
        self.browser
            .expect("the names", expression, &[], &json!(names));
    }

    /// Presses Tab until an element has the focus.
    #[track_caller]
    pub(crate) fn tab_to(&self, what: &str) {
        for _ in 0..60 {
            if self.run("return focus()") == what {
                return;
            }
            self.browser.press("<Tab>");
        }
        let focus = self.run("return focus()");
        panic!("Tab does not reach {what:?}; the focus is on {focus}");
    }

    /// Presses Enter on an element.
    #[track_caller]
    pub(crate) fn press_on(&self, what: &str) {
        self.tab_to(what);
        self.browser.press("<Enter>");
    }

    /// Saves files in the folder of the server.
    pub(crate) fn allow_downloads(&self) {
        let folder = self.folder().to_str().unwrap();
        let allowed = json!({"behavior": "allow", "downloadPath": folder});
        self.browser
            .devtools("Browser.setDownloadBehavior", &allowed);
    }

    pub(crate) fn set_width(&self, width: u32) {
        let size = json!({"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false});
        self.browser
            .devtools("Emulation.setDeviceMetricsOverride", &size);
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
