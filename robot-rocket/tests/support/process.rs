//! The server as a process, and bare connections to it.

#[cfg(target_os = "linux")]
use std::fs;
use std::{
    fmt::Debug,
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use robot_core::conformance::TcpClient;
use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_robot-rocket");

/// How long a test waits for an event, or for progress towards it, before it fails. Generous: nothing is measured
/// with it.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// A running server, killed on drop.
pub(crate) struct Server {
    process: Process,
    address: SocketAddr,
    /// Its working directory, unless it belongs to the test. Removed after the end of the process.
    folder: Option<TempDir>,
    /// The line that it prints when it listens.
    pub(crate) greeting: String,
}

/// A process, killed on drop.
struct Process {
    child: Child,
    output: Stream,
    log: Stream,
}

/// Output of a process, read continuously: a full pipe would block the process.
struct Stream {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

/// The command that starts a server in a folder on a free port, with only these settings.
pub(crate) fn command(folder: &Path, settings: &[(&str, &str)]) -> Command {
    command_of(PROGRAM.as_ref(), folder, settings)
}

/// The same for a program.
pub(crate) fn command_of(program: &Path, folder: &Path, settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(folder)
        .env_clear()
        .env("ROCKET_PORT", "0")
        .envs(settings.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs a server that must fail to start.
pub(crate) fn fail(folder: &Path, settings: &[(&str, &str)]) -> Output {
    match Server::launch(folder, settings) {
        Err(output) => output,
        Ok(server) => panic!("the server started with {settings:?}: {}", server.greeting),
    }
}

/// The line that a server printed when it failed to start.
pub(crate) fn output_of_failure(output: &Output) -> String {
    let error = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.starts_with("robot-rocket: "), "{error}");
    assert_eq!(output.stdout, b"");
    error
}

/// The cases of a table: what is before and after the arrow in each line.
pub(crate) fn cases(table: &str) -> impl Iterator<Item = (&str, &str)> {
    table.lines().filter_map(|line| line.split_once(" -> "))
}

impl Server {
    /// A server over a store in memory.
    pub(crate) fn memory() -> Self {
        Self::with(&[])
    }

    /// A server over a store in memory, unless the settings name another.
    pub(crate) fn with(settings: &[(&str, &str)]) -> Self {
        Self::sqlite(&[&[("DATABASE_URL", "memory:")], settings].concat())
    }

    /// A server over a new database, unless the settings name another store, in a folder of its own.
    pub(crate) fn sqlite(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Self::start(folder.path(), settings);
        server.folder = Some(folder);
        server
    }

    /// Runs a server that must start.
    pub(crate) fn start(folder: &Path, settings: &[(&str, &str)]) -> Self {
        Self::launch(folder, settings).unwrap_or_else(|output| {
            let error = String::from_utf8_lossy(&output.stderr);
            panic!("no server with {settings:?}: {}, {error}", output.status)
        })
    }

    /// Runs a server until it listens or ends.
    pub(crate) fn launch(folder: &Path, settings: &[(&str, &str)]) -> Result<Self, Output> {
        // Otherwise a slow disk would add lines to the log.
        let patient = [("ROCKET_SLOW_STATEMENT", "60000")];
        Self::launch_by(command(folder, &[&patient, settings].concat()))
    }

    /// Runs a command that starts a server, until it listens or ends.
    pub(crate) fn launch_by(command: Command) -> Result<Self, Output> {
        let process = Process::start(command);
        wait_for("the server listens or ends", || {
            process.output.text().contains('\n') || process.output.has_ended()
        });
        let greeting = process.output.text();
        if greeting.is_empty() {
            return Err(process.end());
        }
        let address = greeting
            .split_once("://")
            .and_then(|(_, rest)| rest.split_once('/'))
            .and_then(|(address, _)| address.parse().ok())
            .unwrap_or_else(|| panic!("no address in {greeting:?}"));
        Ok(Self {
            process,
            address,
            folder: None,
            greeting,
        })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn client(&self) -> TcpClient {
        TcpClient::new(self.address)
    }

    /// The id of the process.
    pub(crate) fn id(&self) -> u32 {
        self.process.child.id()
    }

    /// The folder of a server that has its own.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.as_ref().unwrap().path()
    }

    /// Waits until the log has these words.
    #[track_caller]
    pub(crate) fn wait_for_log(&self, words: &str) {
        wait_for_progress(words, || self.log(), |log| log.contains(words));
    }

    /// The log so far.
    pub(crate) fn log(&self) -> String {
        self.process.log.text()
    }

    /// Opens a connection and sends a text.
    pub(crate) fn connect(&self, sent: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.write_all(sent.as_bytes()).unwrap();
        stream
    }

    /// Sends a request on a connection of its own, which ends after it, and returns the answer. Each of
    /// the headers ends with a line end.
    pub(crate) fn ask(&self, line: &str, headers: &str, body: &str) -> String {
        let length = match body.len() {
            0 => String::new(),
            length => format!("Content-Length: {length}\r\n"),
        };
        self.exchange(format!(
            "{line} HTTP/1.1\r\nConnection: close\r\n{headers}{length}\r\n{body}"
        ))
    }

    /// Begins an addition with a body of this length, and waits until the server reads the body.
    pub(crate) fn begin(&self, length: usize) -> TcpStream {
        let mut stream = self.connect(&format!(
            "POST /api/robots HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\
             Expect: 100-continue\r\n\r\n"
        ));
        let mut interim = [0; 25];
        stream.read_exact(&mut interim).unwrap();
        assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
        stream
    }

    /// As [`exchange`].
    pub(crate) fn exchange(&self, sent: impl AsRef<[u8]>) -> String {
        exchange(self.address, sent.as_ref())
    }

    /// The same, but closes the sending side after the bytes.
    pub(crate) fn cut_off(&self, sent: impl AsRef<[u8]>) -> String {
        let stream = written(self.address, sent.as_ref());
        let _ = stream.shutdown(Shutdown::Write);
        drain(&stream)
    }

    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill")
            .args([format!("-{signal}"), self.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
    }

    /// Sends a signal and waits for the end; returns the exit status and the log.
    pub(crate) fn stop(self, signal: &str) -> (ExitStatus, String) {
        self.signal(signal);
        let output = self.process.end();
        (output.status, String::from_utf8(output.stderr).unwrap())
    }
}

impl Process {
    fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let output = Stream::new(child.stdout.take().unwrap());
        let log = Stream::new(child.stderr.take().unwrap());
        Self { child, output, log }
    }

    /// Waits for the end of the process.
    fn end(mut self) -> Output {
        let mut status = None;
        wait_for("the server ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some() && self.output.has_ended() && self.log.has_ended()
        });
        Output {
            status: status.unwrap(),
            stdout: self.output.text().into_bytes(),
            stderr: self.log.text().into_bytes(),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            let log = self.log.text();
            let lines: Vec<_> = log.lines().collect();
            let last = lines[lines.len().saturating_sub(30)..].join("\n");
            eprintln!("The last lines of the server's log:\n{last}");
        }
    }
}

impl Stream {
    fn new(mut stream: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&bytes);
        let reader = thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = stream.read(&mut piece) {
                kept.lock().unwrap().extend_from_slice(&piece[..length]);
            }
        });
        Self { bytes, reader }
    }

    /// The output so far.
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }

    /// Whether the process has closed the stream.
    fn has_ended(&self) -> bool {
        self.reader.is_finished()
    }
}

/// Waits until a condition is met, and what was seen then. The limit begins again whenever what is seen changes, so
/// that a busy machine does not fail a test.
#[track_caller]
pub(crate) fn wait_for_progress<Seen: Debug + PartialEq>(
    what: &str,
    mut look: impl FnMut() -> Seen,
    is_met: impl Fn(&Seen) -> bool,
) -> Seen {
    let (mut last, mut changed, mut looks) = (look(), Instant::now(), 0);
    while !is_met(&last) {
        // A thread that did not run has not looked.
        assert!(
            changed.elapsed() < TIMEOUT || looks < 100,
            "{what}: no progress within {TIMEOUT:?}; seen last: {last:?}"
        );
        thread::sleep(Duration::from_millis(10));
        let seen = look();
        looks += 1;
        if seen != last {
            (last, changed, looks) = (seen, Instant::now(), 0);
        }
    }
    last
}

/// Waits until a condition is met that shows no progress; how long that took.
#[track_caller]
pub(crate) fn wait_for(what: &str, is_met: impl FnMut() -> bool) -> Duration {
    let started = Instant::now();
    wait_for_progress(what, is_met, |is_met| *is_met);
    started.elapsed()
}

/// The CPU time that a server has used, in clock ticks.
#[cfg(target_os = "linux")]
pub(crate) fn cpu_time(server: &Server) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", server.id())).unwrap();
    // After the name of the program: the state is the first field.
    let fields: Vec<_> = stat.rsplit_once(')').unwrap().1.split(' ').collect();
    fields[12].parse::<u64>().unwrap() + fields[13].parse::<u64>().unwrap()
}

/// The number of files, among them connections, that a server has open.
#[cfg(target_os = "linux")]
pub(crate) fn open_files(server: &Server) -> usize {
    let files = fs::read_dir(format!("/proc/{}/fd", server.id()));
    files.unwrap().count()
}

/// Sends a request on a connection that stays open, and returns the answer, which must be short and
/// state its length.
pub(crate) fn ask(stream: &mut TcpStream, method: &str, target: &str, body: &str) -> String {
    let length = body.len();
    let sent = format!(
        "{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(sent.as_bytes()).unwrap();
    answer(stream)
}

/// Reads an answer on a connection that stays open, which must be short and state its length.
pub(crate) fn answer(stream: &mut TcpStream) -> String {
    let (head, body) = message(stream).unwrap_or_else(|error| panic!("{error}"));
    head + str::from_utf8(&body).unwrap()
}

/// Reads the head and the body of a request or an answer that states its length.
pub(crate) fn message(stream: &mut impl Read) -> io::Result<(String, Vec<u8>)> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte)? == 0 {
            let message = format!("the connection ended: {}", String::from_utf8_lossy(&head));
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let lower = head.to_ascii_lowercase();
    let (_, length) = lower.split_once("\r\ncontent-length: ").unwrap();
    let (length, _) = length.split_once('\r').unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body)?;
    Ok((head, body))
}

/// Reads until the server closes the connection, or the connection is reset; returns the bytes, and how
/// long that took.
pub(crate) fn read_to_end(stream: &TcpStream) -> (String, Duration) {
    let started = Instant::now();
    (drain(stream), started.elapsed())
}

/// Sends bytes and reads until the other side closes the connection, which it may do before it has
/// received them all.
pub(crate) fn exchange(address: SocketAddr, sent: &[u8]) -> String {
    drain(&written(address, sent))
}

fn written(address: SocketAddr, sent: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let _ = stream.write_all(sent);
    stream
}

fn drain(mut stream: &TcpStream) -> String {
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        match stream.read(&mut piece) {
            Ok(length @ 1..) => answer.extend_from_slice(&piece[..length]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                panic!("no end of {}", String::from_utf8_lossy(&answer))
            }
            // The connection is reset if the other side has not read all bytes.
            Ok(0) | Err(_) => return String::from_utf8_lossy(&answer).into_owned(),
        }
    }
}

/// Asserts the status of an answer.
#[track_caller]
pub(crate) fn assert_status(answer: &str, status: u16) {
    let start = format!(" {status} ");
    assert!(
        answer.get(8..).is_some_and(|rest| rest.starts_with(&start)),
        "{answer}"
    );
}

/// Asserts an answer with this status in the contract's shape of a failure.
#[track_caller]
pub(crate) fn assert_failed(answer: &str, status: u16, what: &str) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    assert!(
        head.starts_with(&format!("HTTP/1.1 {status} ")),
        "{what}: {answer}"
    );
    let head = head.to_ascii_lowercase();
    assert!(
        head.contains("content-type: text/html; charset=utf-8"),
        "{what}: {head}"
    );
    let body: serde_json::Value =
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{what}: {error} in {answer}"));
    assert_eq!(body["status"], "ERROR", "{what}");
    let messages = body["messages"].as_array().map_or(0, Vec::len);
    assert!(messages > 0, "{what}: no messages");
}
