//! The servers that are measured, each a process of its own.

use std::{
    env,
    ffi::OsStr,
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use crate::{
    children::{self, Pipes, Process},
    http::Client,
};

/// A server that runs until this is dropped.
#[derive(Debug)]
pub(crate) struct Subject {
    process: Process,
    pub(crate) address: SocketAddr,
    /// Closed at the end, which ends the server where nothing else does.
    _stdin: Option<ChildStdin>,
}

impl Subject {
    /// Starts this program as a server. The arguments are those of [`crate::serve::Variant`].
    pub(crate) fn start(url: &str, variant: &[&str]) -> Result<Self, String> {
        let program = own_path()?;
        let mut command = server(&program);
        command.args(["serve", "--url", url]).args(variant);
        Self::spawn(&mut command, Stdio::piped())
    }

    /// Starts the server that is shipped on a store, and tells how long it took to say that it
    /// is ready.
    pub(crate) fn start_shipped(
        program: &Path,
        folder: &Path,
        url: &str,
    ) -> Result<(Self, Duration), String> {
        let mut command = server(program);
        command
            .current_dir(folder)
            .env("DATABASE_URL", url)
            .env("ROCKET_PORT", "0");
        let start = Instant::now();
        let subject = Self::spawn(&mut command, Stdio::null())?;
        Ok((subject, start.elapsed()))
    }

    fn spawn(command: &mut Command, stdin: Stdio) -> Result<Self, String> {
        command.stdin(stdin).stdout(Stdio::piped());
        let (process, Pipes { stdin, stdout }) = children::start(command)?;
        let address = greeting(stdout)?;
        Ok(Self {
            process,
            address,
            _stdin: stdin,
        })
    }

    /// A new connection.
    pub(crate) fn client(&self) -> Result<Client, String> {
        Client::connect(self.address)
    }

    /// A figure of the process's memory in bytes: `VmRSS`, what it has now, or `VmHWM`, the
    /// most that it ever had.
    pub(crate) fn memory(&self, figure: &str) -> Result<f64, String> {
        let path = format!("/proc/{}/status", self.process.id());
        let status = fs::read_to_string(&path)
            .map_err(|error| format!("cannot read {path}: {error}; measure memory on Linux"))?;
        let kibibytes = status
            .lines()
            .find_map(|line| line.strip_prefix(figure)?.strip_prefix(':'))
            .and_then(|amount| amount.trim().strip_suffix(" kB")?.parse::<f64>().ok());
        kibibytes
            .map(|kibibytes| kibibytes * 1024.0)
            .ok_or_else(|| format!("{path} has no {figure}"))
    }

    /// Lets the server end in order.
    pub(crate) fn terminate(self) -> Result<(), String> {
        self.process.terminate()
    }
}

/// A command that has none of the settings of whoever measures.
fn server(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in env::vars_os().filter(|(name, _)| is_setting(name)) {
        command.env_remove(name);
    }
    command
}

/// Whether a variable of the environment would set something of the server.
fn is_setting(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("ROCKET_") || name == "RUST_LOG"
}

/// Reads the address from the first line of output, behind `http://`.
fn greeting(stdout: Option<ChildStdout>) -> Result<SocketAddr, String> {
    let mut line = String::new();
    let stdout = stdout.ok_or("a server has no output")?;
    BufReader::new(stdout)
        .read_line(&mut line)
        .map_err(|error| format!("cannot read what a server says: {error}"))?;
    line.split_once("http://")
        .and_then(|(_, rest)| rest.split(['/', '\n']).next()?.parse().ok())
        .ok_or_else(|| "a server did not start; it says why above".to_owned())
}

fn own_path() -> Result<PathBuf, String> {
    env::current_exe().map_err(|error| format!("cannot find this program: {error}"))
}

/// Builds the server that is shipped, and returns its path, which is beside this program.
pub(crate) fn build_shipped() -> Result<PathBuf, String> {
    let own = own_path()?;
    let target = own
        .parent()
        .and_then(Path::parent)
        .ok_or("this program is in no folder of cargo; start it by cargo run")?;
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args([
            "build",
            "--quiet",
            "--release",
            "--locked",
            "-p",
            "robot-rocket",
        ])
        .arg("--target-dir")
        .arg(target)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .stdin(Stdio::null())
        // What cargo says has no place in the table.
        .stdout(Stdio::piped());
    let (process, pipes) = children::start(&mut command)?;
    wait_for_end(pipes)?;
    process.succeed("cargo build --release --locked -p robot-rocket")?;
    Ok(target.join("release/robot-rocket"))
}

/// Waits until a process closes its output, and gives what it wrote.
pub(crate) fn wait_for_end(pipes: Pipes) -> Result<String, String> {
    drop(pipes.stdin);
    let stdout = pipes.stdout.ok_or("a process has no output")?;
    std::io::read_to_string(stdout)
        .map_err(|error| format!("cannot read what a process writes: {error}"))
}
