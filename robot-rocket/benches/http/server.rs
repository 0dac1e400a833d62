//! Server process over a store of its own.

use std::{
    fmt::Write,
    io::{BufRead, BufReader},
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use robot_core::conformance::{Call, Client, TcpClient};
use tempfile::TempDir;

use crate::standby::Pair;

/// Stores that a server can be measured with.
pub(crate) const STORES: [&str; 5] = ["sqlite", "memory", "postgres", "standby", "distant-standby"];

/// Round trip between a primary and its distant standby.
const ROUND_TRIP: Duration = Duration::from_millis(1);

/// Number of robots in one import.
const IMPORTED: usize = 5000;

/// A running server, which is killed when this is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    /// Private database servers.
    _pair: Option<Pair>,
    _folder: TempDir,
}

impl Server {
    /// Starts a server over an empty store. Its environment contains only `settings`.
    pub(crate) fn start(
        program: &Path,
        store: &str,
        settings: &[(String, String)],
    ) -> Result<Self, String> {
        let failure = |error| format!("cannot start {}: {error}", program.display());
        // Not in /tmp, which may be in memory, where syncing costs nothing.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).map_err(failure)?;
        // A relative path would be looked up in that folder.
        let program = program.canonicalize().map_err(failure)?;
        let pair = pair(store, folder.path())?;
        let url = match &pair {
            Some(pair) => pair.url.clone(),
            None => url(store, folder.path())?,
        };
        let child = Command::new(&program)
            .current_dir(folder.path())
            .env_clear()
            .env("DATABASE_URL", url)
            .env("ROCKET_PORT", "0")
            .envs(settings.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failure)?;
        let mut server = Self {
            child,
            address: (Ipv4Addr::LOCALHOST, 0).into(),
            _pair: pair,
            _folder: folder,
        };
        let mut line = String::new();
        if let Some(output) = &mut server.child.stdout {
            BufReader::new(output)
                .read_line(&mut line)
                .map_err(failure)?;
        }
        server.address = line
            .split_once("http://")
            .and_then(|(_, rest)| rest.split('/').next()?.parse().ok())
            .ok_or_else(|| format!("{} printed no address: '{line}'", program.display()))?;
        Ok(server)
    }

    /// Imports robots, which get the ids from 1 and the names from `robot-000000`.
    pub(crate) fn fill(&self, robots: u32) -> Result<(), String> {
        let mut imported = String::new();
        // Over a database server, one import of all takes longer than the client waits.
        for first in (0..robots).step_by(IMPORTED) {
            let mut csv = "name,type,year\n".to_owned();
            for number in (first..robots).take(IMPORTED) {
                // Writing to a string cannot fail.
                let _ = writeln!(csv, "robot-{number:06},droid,{}", 1900 + number % 130);
            }
            imported = self.send("POST", "/api/robots/import?format=csv", csv)?;
        }
        let last = self.send("GET", &format!("/api/robots/{robots}"), String::new())?;
        if last.contains(&format!("\"robot-{:06}\"", robots - 1)) {
            return Ok(());
        }
        Err(format!("the import failed: {imported}, {last}"))
    }

    fn send(&self, method: &str, target: &str, body: String) -> Result<String, String> {
        let call = Call {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: Vec::new(),
            body: body.into_bytes(),
        };
        let answer = TcpClient::new(self.address).send(&call);
        answer
            .map(|answer| answer.text())
            .map_err(|error| format!("{method} {target}: {error}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A process that has already ended cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Private database servers, if the store needs them.
fn pair(store: &str, folder: &Path) -> Result<Option<Pair>, String> {
    let round_trip = match store {
        "standby" => Duration::ZERO,
        "distant-standby" => ROUND_TRIP,
        _ => return Ok(None),
    };
    Pair::start(folder, round_trip).map(Some)
}

/// URL of an empty store in the folder, in memory or on a shared server.
fn url(store: &str, folder: &Path) -> Result<String, String> {
    const SERVER: &str = "TEST_POSTGRES_URL";
    match store {
        "sqlite" => Ok(format!("sqlite://{}/robots.db", folder.display())),
        "memory" => Ok("memory:".to_owned()),
        #[cfg(feature = "postgres")]
        "postgres" if std::env::var_os(SERVER).is_some() => {
            Ok(robot_core::conformance::scratch_database(SERVER))
        }
        _ => Err(format!(
            "{store} needs --features {store}, and the URL of a server in {SERVER}"
        )),
    }
}
