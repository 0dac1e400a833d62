//! Chromium, driven by the protocol `WebDriver`.
//!
//! That is JSON over HTTP, of which a few lines are enough. The usual library, fantoccini, brings a
//! licence that the project does not take (MPL-2.0, of `webdriver`), and a second HTTP library.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::PATIENCE;

/// As tests need it, among them root's: nothing is looked up on the network.
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

/// A browser with one window, until it is dropped.
pub(crate) struct Browser {
    driver: Child,
    address: SocketAddr,
    session: String,
    /// Where it keeps what it keeps; removed with it.
    profile: TempDir,
}

impl Browser {
    pub(crate) fn open() -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut driver = Command::new("chromedriver")
            .args(["--port=0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("chromedriver, of Debian's package chromium-driver, cannot be run: {error}")
            });
        let address = address_of(&mut driver);
        let mut browser = Self {
            driver,
            address,
            session: "/session".to_owned(),
            profile,
        };
        let session = browser.call("POST", "", &browser.wanted())["sessionId"].clone();
        browser.session = format!("/session/{}", session.as_str().unwrap());
        browser
    }

    fn wanted(&self) -> Value {
        let profile = self.profile.path().display();
        let arguments = ARGUMENTS.map(str::to_owned).into_iter();
        let arguments = arguments.chain([format!("--user-data-dir={profile}")]);
        json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": arguments.collect::<Vec<_>>()},
            "goog:loggingPrefs": {"browser": "ALL"},
        }}})
    }

    /// A command of the protocol; its value.
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if method == "POST" {
            body.to_string()
        } else {
            String::new()
        };
        let path = format!("{}{path}", self.session);
        let (status, mut value) = send(self.address, method, &path, &body).unwrap();
        let value = value["value"].take();
        assert_eq!(status, 200, "{method} {path}: {}", value["message"]);
        value
    }

    /// Goes to an address, and waits until what is there has loaded.
    pub(crate) fn go(&self, address: &str) {
        self.call("POST", "/url", &json!({"url": address}));
    }

    pub(crate) fn go_back(&self) {
        self.call("POST", "/back", &json!({}));
    }

    pub(crate) fn reload(&self) {
        self.call("POST", "/refresh", &json!({}));
    }

    /// What a script returns.
    pub(crate) fn run(&self, script: &str, arguments: &[Value]) -> Value {
        let body = json!({"script": script, "args": arguments});
        self.call("POST", "/execute/sync", &body)
    }

    /// What a script passes to the function that is its last argument.
    pub(crate) fn run_to_its_end(&self, script: &str) -> Value {
        let body = json!({"script": script, "args": []});
        self.call("POST", "/execute/async", &body)
    }

    /// Presses keys, one after the other, wherever the focus is.
    pub(crate) fn press(&self, keys: impl IntoIterator<Item = char>) {
        let strokes = keys.into_iter().flat_map(|key| [down(key), up(key)]);
        self.act(&strokes.collect());
    }

    /// Presses a key while another one is held.
    pub(crate) fn press_with(&self, held: char, key: char) {
        self.act(&vec![down(held), down(key), up(key), up(held)]);
    }

    fn act(&self, strokes: &Vec<Value>) {
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": strokes});
        self.call("POST", "/actions", &json!({"actions": [keyboard]}));
    }

    /// Clicks an element, which must be in sight and not behind another one.
    pub(crate) fn click(&self, selector: &str) {
        let body = json!({"using": "css selector", "value": selector});
        let found = self.call("POST", "/element", &body);
        let (_, id) = found.as_object().unwrap().iter().next().unwrap();
        let path = format!("/element/{}/click", id.as_str().unwrap());
        self.call("POST", &path, &json!({}));
    }

    /// A command of the browser's own protocol for developers.
    pub(crate) fn develop(&self, command: &str, parameters: &Value) -> Value {
        let body = json!({"cmd": command, "params": parameters});
        self.call("POST", "/goog/cdp/execute", &body)
    }

    /// What the browser complained of since it was last asked, but for answers that were refusals.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let log = self.call("POST", "/se/log", &json!({"type": "browser"}));
        let entries = log.as_array().unwrap().iter();
        let messages = entries.map(|entry| entry["message"].as_str().unwrap().to_owned());
        messages
            .filter(|message| !message.contains("Failed to load resource"))
            .collect()
    }
}

fn down(key: char) -> Value {
    json!({"type": "keyDown", "value": key})
}

fn up(key: char) -> Value {
    json!({"type": "keyUp", "value": key})
}

/// Where a driver that was just started listens.
fn address_of(driver: &mut Child) -> SocketAddr {
    let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let mut ports = lines.filter_map(|line| {
        let line = line.ok()?;
        let (_, port) = line.split_once("started successfully on port ")?;
        port.trim_end_matches('.').parse::<u16>().ok()
    });
    let port = ports.next().unwrap_or_else(|| panic!("no chromedriver"));
    SocketAddr::from(([127, 0, 0, 1], port))
}

/// Sends a request to the driver; the status and the JSON of the answer. The driver leaves its
/// connections open, so that only `Content-Length` tells where that ends.
fn send(address: SocketAddr, method: &str, path: &str, body: &str) -> io::Result<(u16, Value)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let length = body.len();
    stream.write_all(
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .as_bytes(),
    )?;
    let mut reader = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end() {
            "" => break,
            line => head.push(line.to_ascii_lowercase()),
        }
    }
    let status = head
        .first()
        .and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let length = head
        .iter()
        .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    let (Some(status), Some(length)) = (status, length) else {
        return Err(io::Error::other(format!("no answer of a driver: {head:?}")));
    };
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((status, serde_json::from_slice(&body)?))
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends the browser. Where it cannot, the test has failed already.
        let _ = send(self.address, "DELETE", &self.session, "");
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
