//! Chromium, controlled by `WebDriver`.

use std::{
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use fantoccini::{
    Client, ClientBuilder, Locator,
    actions::{InputSource, KeyAction, KeyActions},
    error::CmdError,
    wd::WebDriverCompatibleCommand,
};
use http::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::{runtime, time};
use url::{ParseError, Url};

use crate::process::TIMEOUT;

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

    /// Runs a script and returns its result.
    pub(crate) fn run(&self, script: &str, arguments: &[Value]) -> Value {
        self.wait(self.client.execute(script, arguments.to_vec()))
    }

    /// Runs an asynchronous script and returns what it passes to its callback.
    pub(crate) fn run_async(&self, script: &str) -> Value {
        self.wait(self.client.execute_async(script, Vec::new()))
    }

    /// Presses keys one after the other on the focused element.
    pub(crate) fn press(&self, keys: &str) {
        self.act(keys.chars().flat_map(|key| [down(key), up(key)]));
    }

    /// Presses a key while another one is held.
    pub(crate) fn press_with(&self, held: char, key: char) {
        self.act([down(held), down(key), up(key), up(held)]);
    }

    fn act(&self, strokes: impl IntoIterator<Item = KeyAction>) {
        let keyboard = KeyActions::new("keyboard".to_owned());
        let strokes = strokes.into_iter().fold(keyboard, InputSource::then);
        self.wait(self.client.perform_actions(strokes));
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
