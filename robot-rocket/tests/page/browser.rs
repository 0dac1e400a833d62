//! Chromium, controlled by `WebDriver`.

use std::{
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use fantoccini::{
    Client, ClientBuilder, Locator,
    actions::{InputSource, KeyAction, KeyActions},
    error::CmdError,
    wd::{WebDriverCompatibleCommand, WindowHandle},
};
use http::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::{runtime, time};
use url::{ParseError, Url};

use crate::process::{TIMEOUT, wait_for_progress};

/// Keys in a text that is typed: names, and what `WebDriver` sends.
const KEYS: [(&str, char); 14] = [
    ("<Control>", CONTROL),
    ("<Shift>", SHIFT),
    ("<Alt>", ALT),
    ("<Tab>", '\u{e004}'),
    ("<Enter>", '\u{e007}'),
    ("<Escape>", '\u{e00c}'),
    ("<Space>", ' '),
    ("<End>", '\u{e010}'),
    ("<Home>", '\u{e011}'),
    ("<Left>", '\u{e012}'),
    ("<Up>", '\u{e013}'),
    ("<Right>", '\u{e014}'),
    ("<Down>", '\u{e015}'),
    ("<Delete>", '\u{e017}'),
];

/// These keys are held while the next one is pressed.
const CONTROL: char = '\u{e009}';
const ALT: char = '\u{e00a}';
const SHIFT: char = '\u{e008}';

/// What scripts of tests may use.
const FUNCTIONS: &str = "
    const $ = (selector) => document.querySelector(selector);
    const $$ = (selector) => [...document.querySelectorAll(selector)];
    const texts = (selector) => $$(selector).map((each) => each.textContent);
    const shows = (selector, text) =>
        $$(selector).some((each) => each.checkVisibility() && each.textContent.includes(text));
    const rows = () => $$('#table tbody tr').filter((row) => row.checkVisibility())
        .map((row) => ['name', 'type', 'year'].map((kind) => row.querySelector(`.of-${kind}`)?.textContent));
    // The focused element: its label, its accessible name, its id or its text.
    const focus = (it = document.activeElement) =>
        it.labels?.[0]?.textContent.replace(' (required)', '') ?? it.getAttribute('aria-label') ?? (it.id || it.textContent);
    // The message about the focused box.
    const message = (id = document.activeElement.getAttribute('aria-describedby')) =>
        id ? document.getElementById(id).textContent : '';
    // As a user who types or chooses.
    const set = (selector, value) => {
        $(selector).value = value;
        for (const type of ['input', 'change']) $(selector).dispatchEvent(new Event(type, { bubbles: true }));
    };
    const fits = () => document.documentElement.scrollWidth <= innerWidth;
";

/// For tests, also as root, and without access to the network.
const ARGUMENTS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1200,900",
];

/// Runs the driver until the end of input, which is also the end of the test process. Then ends all processes of its
/// group, to which the browser belongs, and removes the folder of their files.
const SCRIPT: &str = r#"TMPDIR=$0 chromedriver --port=0 & exec >/dev/null
read -r _; trap : TERM; kill 0; wait
for _ in 1 2 3 4 5; do rm -rf "$0" && break; sleep 1; done
kill -KILL 0"#;

/// A browser with one window. After a test that succeeds, another one gets it: a new one takes longer to start than
/// most tests.
#[derive(Clone)]
pub(crate) struct Browser {
    client: Client,
    /// Runs the client.
    runtime: Arc<runtime::Runtime>,
    /// Runs the script.
    _shell: Arc<Child>,
}

/// Browsers that no test uses.
static IDLE: Mutex<Vec<Browser>> = Mutex::new(Vec::new());

/// A command of Chromium that is not in the standard: its path and parameters.
#[derive(Debug)]
struct Extension(&'static str, Value);

impl WebDriverCompatibleCommand for Extension {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!(
            "session/{}/{}",
            session.unwrap_or_default(),
            self.0
        ))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.1.to_string()))
    }
}

impl Browser {
    pub(crate) fn open() -> Self {
        let idle = IDLE.lock().unwrap().pop();
        idle.unwrap_or_else(Self::start)
    }

    fn start() -> Self {
        let (shell, port, profile) = start_driver();
        let address = format!("http://127.0.0.1:{port}");
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.unwrap();
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(serde_json::from_value(capabilities(&profile)).unwrap());
        let client = runtime.block_on(builder.connect(&address)).unwrap();
        Self {
            client,
            runtime: Arc::new(runtime),
            _shell: Arc::new(shell),
        }
    }

    /// Opens an empty window instead of all others, and forgets what pages have stored and written.
    fn renew(&self) {
        self.wait(async {
            let new = self.client.new_window(true).await?.handle;
            for window in self.client.windows().await? {
                if window != new {
                    self.client.switch_to_window(window).await?;
                    self.client.close_window().await?;
                }
            }
            self.client.switch_to_window(new).await
        });
        let everything = json!({"origin": "*", "storageTypes": "all"});
        self.devtools("Storage.clearDataForOrigin", &everything);
        self.devtools("Network.clearBrowserCache", &json!({}));
        let default = json!({"behavior": "default"});
        self.devtools("Browser.setDownloadBehavior", &default);
        self.console_messages();
    }

    /// The window that is in use.
    pub(crate) fn window(&self) -> WindowHandle {
        self.wait(self.client.window())
    }

    /// Opens another window, as another tab of the browser.
    pub(crate) fn new_window(&self) {
        self.wait(async {
            let new = self.client.new_window(true).await?.handle;
            self.client.switch_to_window(new).await
        });
    }

    /// Closes a window, and leaves the one that is in use.
    pub(crate) fn close_window(&self, window: &WindowHandle) {
        let used = self.window();
        self.wait(async {
            self.client.switch_to_window(window.clone()).await?;
            self.client.close_window().await?;
            self.client.switch_to_window(used).await
        });
    }

    /// Waits for the result of a command.
    fn wait<T>(&self, command: impl Future<Output = Result<T, CmdError>>) -> T {
        let limited = async { time::timeout(TIMEOUT, command).await };
        self.runtime.block_on(limited).unwrap().unwrap()
    }

    /// Loads a page.
    pub(crate) fn go(&self, address: &str) {
        self.wait(self.client.goto(address));
    }

    pub(crate) fn go_back(&self) {
        self.wait(self.client.back());
    }

    pub(crate) fn reload(&self) {
        self.wait(self.client.refresh());
    }

    /// Runs a script and returns its result. As long as an element is missing that the script uses, it runs again.
    pub(crate) fn run(&self, script: &str, arguments: &[Value]) -> Value {
        let script = format!("{FUNCTIONS}{script}");
        self.wait(async {
            for _ in 0..500 {
                match self.client.execute(&script, arguments.to_vec()).await {
                    Err(error) if error.to_string().contains("properties of null") => {}
                    result => return result,
                }
                time::sleep(Duration::from_millis(20)).await;
            }
            self.client.execute(&script, arguments.to_vec()).await
        })
    }

    /// Waits until an expression has a value. Other changes of the page, and responses, are progress.
    #[track_caller]
    pub(crate) fn expect(&self, what: &str, expression: &str, arguments: &[Value], value: &Value) {
        let script = format!(
            "return [{expression}, document.body.textContent.length, \
             performance.getEntriesByType('resource').length]"
        );
        let look = || self.run(&script, arguments);
        wait_for_progress(what, look, |seen| seen[0] == *value);
    }

    /// Runs an asynchronous script and returns what it passes to its callback.
    pub(crate) fn run_async(&self, script: &str) -> Value {
        self.wait(self.client.execute_async(script, Vec::new()))
    }

    /// Presses keys one after the other on the focused element. Special keys have names, such as `<Enter>`.
    pub(crate) fn press(&self, text: &str) {
        let keys = KEYS.iter().fold(text.to_owned(), |text, (name, key)| {
            text.replace(name, &key.to_string())
        });
        let (mut keys, mut keyboard) = (keys.chars(), KeyActions::new("keyboard".to_owned()));
        while let Some(key) = keys.next() {
            keyboard = keyboard.then(down(key));
            if [CONTROL, SHIFT, ALT].contains(&key) {
                let other = keys.next().unwrap();
                keyboard = keyboard.then(down(other)).then(up(other));
            }
            keyboard = keyboard.then(up(key));
        }
        self.wait(self.client.perform_actions(keyboard));
    }

    /// Clicks an element, which must be visible.
    pub(crate) fn click(&self, selector: &str) {
        self.wait(async {
            let found = self.client.find(Locator::Css(selector)).await?;
            found.click().await
        });
    }

    /// Chooses a file in an input element.
    pub(crate) fn choose_file(&self, selector: &str, path: &Path) {
        self.wait(async {
            let found = self.client.find(Locator::Css(selector)).await?;
            found.send_keys(path.to_str().unwrap()).await
        });
    }

    /// Sends a command of the Chrome `DevTools` protocol.
    pub(crate) fn devtools(&self, command: &str, parameters: &Value) -> Value {
        let body = json!({"cmd": command, "params": parameters});
        self.wait(self.client.issue_cmd(Extension("goog/cdp/execute", body)))
    }

    /// Console messages since the last call, except those about HTTP errors.
    pub(crate) fn console_messages(&self) -> Vec<String> {
        let log = Extension("se/log", json!({"type": "browser"}));
        let log = self.wait(self.client.issue_cmd(log));
        let entries = log.as_array().unwrap().iter();
        let messages = entries.map(|entry| entry["message"].as_str().unwrap().to_owned());
        messages
            .filter(|message| !message.contains("Failed to load resource"))
            .collect()
    }
}

fn capabilities(profile: &Path) -> Value {
    let profile = profile.display();
    let arguments = ARGUMENTS.map(str::to_owned).into_iter();
    let arguments = arguments.chain([format!("--user-data-dir={profile}")]);
    json!({
        "browserName": "chrome",
        // Milliseconds in which an element that is clicked may appear.
        "timeouts": {"implicit": TIMEOUT.as_millis() / 2},
        "goog:chromeOptions": {"args": arguments.collect::<Vec<_>>()},
        "goog:loggingPrefs": {"browser": "ALL"},
    })
}

fn down(value: char) -> KeyAction {
    KeyAction::Down { value }
}

fn up(value: char) -> KeyAction {
    KeyAction::Up { value }
}

/// The shell that runs a driver, the port on which the driver listens, and a profile folder. A driver exits if another
/// process has the port that it chose for one of its two addresses.
fn start_driver() -> (Child, u16, PathBuf) {
    for _ in 0..5 {
        let profile = tempfile::tempdir().unwrap().keep();
        let mut shell = Command::new("sh")
            .args(["-c", SCRIPT])
            .arg(&profile)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(shell.stdout.take().unwrap()).lines();
        let mut ports = lines.filter_map(|line| {
            let line = line.ok()?;
            let (_, port) = line.split_once("started successfully on port ")?;
            port.trim_end_matches('.').parse().ok()
        });
        if let Some(port) = ports.next() {
            return (shell, port, profile);
        }
        // Ends its input.
        let _ = shell.wait();
    }
    panic!("chromedriver, of Debian's package chromium-driver, does not start")
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.renew();
            IDLE.lock().unwrap().push(self.clone());
        }
    }
}
