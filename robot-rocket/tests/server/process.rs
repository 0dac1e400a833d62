//! The server as a process, and bare connections to it.

use std::{
    io::{self, BufRead, BufReader, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, ExitStatus, Output, Stdio},
    time::Duration,
};

use robot_core::conformance::TcpClient;

/// A server that runs, until it is dropped.
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
    /// The line that it printed when it began to listen.
    pub(crate) greeting: String,
}

/// The command that starts a server in a folder, on a free port, with no settings but these.
pub(crate) fn command(folder: &Path, settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_robot-rocket"));
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

/// Runs a server that is expected not to start.
pub(crate) fn fail(folder: &Path, settings: &[(&str, &str)]) -> Output {
    command(folder, settings).output().unwrap()
}

impl Server {
    pub(crate) fn start(folder: &Path, settings: &[(&str, &str)]) -> Self {
        let mut child = command(folder, settings).spawn().unwrap();
        let mut greeting = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut greeting).unwrap();
        let address = greeting
            .split_once("http://")
            .and_then(|(_, rest)| rest.split_once("/api/robots"))
            .and_then(|(address, _)| address.parse().ok())
            .unwrap_or_else(|| panic!("no address in {greeting:?}"));
        Self {
            child,
            address,
            greeting,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn client(&self) -> TcpClient {
        TcpClient::new(self.address)
    }

    /// Sends a signal and waits for the end; how it ended, and all that it logged.
    pub(crate) fn stop(mut self, signal: &str) -> (ExitStatus, String) {
        let sent = Command::new("kill")
            .args([format!("-{signal}"), self.child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        let log = io::read_to_string(self.child.stderr.take().unwrap()).unwrap();
        (self.child.wait().unwrap(), log)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already, in which case there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection on which this was sent.
pub(crate) fn connection(server: &Server, sent: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let patience = Duration::from_secs(60);
    stream.set_read_timeout(Some(patience)).unwrap();
    stream.write_all(sent.as_bytes()).unwrap();
    stream
}

/// All that comes back until the server hangs up.
pub(crate) fn read(stream: TcpStream) -> String {
    io::read_to_string(stream).unwrap()
}
