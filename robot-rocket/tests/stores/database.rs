//! Private database servers, each test its own: they are stopped, killed and frozen.

use std::{
    process::{self, Command},
    thread,
    time::Duration,
};

use diesel::{Connection, MysqlConnection, PgConnection, connection::SimpleConnection};
use tempfile::TempDir;

use crate::process::wait_for;

/// The script that runs database servers for tests.
const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../robot-core/tests/servers.sh"
);

/// A folder of database servers, which are stopped when it is dropped.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Runs the script, which takes paths in the folder; what it prints, by lines.
    pub(crate) fn run(&self, arguments: &[&str]) -> Vec<String> {
        let output = Command::new(SCRIPT)
            .args(arguments)
            .current_dir(self.0.path())
            .env("SERVERS_OWNER", process::id().to_string())
            .output()
            .unwrap_or_else(|error| panic!("{SCRIPT}: {error}"));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A second panic would end the whole run. Servers whose folder is gone end, too.
        let _ = Command::new(SCRIPT).arg("stop").arg(self.0.path()).output();
        if thread::panicking() {
            let tail = "find . -maxdepth 3 -name log -exec tail -n 40 {} +";
            let mut last = Command::new("sh");
            last.args(["-c", tail]).current_dir(self.0.path());
            let last = last
                .output()
                .map(|output| output.stdout)
                .unwrap_or_default();
            let last = String::from_utf8_lossy(&last);
            eprintln!("The last words of the database servers:\n{last}");
        }
    }
}

/// The kinds of servers that robots are kept on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Postgres,
    Mariadb,
}

/// Runs a test on every kind of server. They run at once, for most of the time is spent waiting.
pub(crate) fn on_every_kind_of_server(test: fn(Kind)) {
    thread::scope(|scope| {
        for kind in [Kind::Postgres, Kind::Mariadb] {
            let named = thread::Builder::new().name(format!("{kind:?}"));
            named.spawn_scoped(scope, move || test(kind)).unwrap();
        }
    });
}

/// A database on a server of its own, without tables.
pub(crate) struct Database {
    folder: Folder,
    pub(crate) kind: Kind,
    pub(crate) url: String,
}

impl Database {
    pub(crate) fn new(kind: Kind) -> Self {
        let folder = Folder::new();
        let url = start(&folder, kind);
        Self { folder, kind, url }
    }

    /// Starts the server again, at the same place as before.
    pub(crate) fn start(&self) {
        assert_eq!(start(&self.folder, self.kind), self.url);
    }

    /// Stops the server as its administrator would.
    pub(crate) fn stop(&self) {
        self.folder.run(&["stop", "server"]);
    }

    /// Ends the server: by a stop, or by a signal to all of its processes.
    pub(crate) fn end(&self, ending: &str) {
        match ending {
            "stop" => self.stop(),
            signal => self.signal(signal),
        }
    }

    /// Sends KILL, STOP, CONT or TERM to all processes of the server.
    pub(crate) fn signal(&self, name: &str) {
        self.folder.run(&["signal", name, "server"]);
    }

    /// Stops all of the server's threads, as if it hung. They take a moment to stop.
    pub(crate) fn freeze(&self) {
        self.signal("STOP");
        let main = self.folder.run(&["pid", "server"]).concat();
        wait_for("the database is frozen", Duration::from_secs(10), || {
            let mut threads = Command::new("ps");
            threads.args(["-L", "-o", "stat=", "-p", &main, "--ppid", &main]);
            let states = String::from_utf8(threads.output().unwrap().stdout).unwrap();
            let is_still = |state: &str| state.starts_with(['T', 'Z']);
            !states.is_empty() && states.lines().all(is_still)
        });
    }

    /// The host and port of the server.
    pub(crate) fn place(&self) -> &str {
        let (_, place) = self.url.split_once('@').unwrap();
        place.split_once('/').unwrap().0
    }

    /// Another client of the database, which runs statements.
    pub(crate) fn other_client(&self) -> Box<dyn FnMut(&str)> {
        match self.kind {
            Kind::Postgres => runs_on(PgConnection::establish(&self.url).unwrap()),
            Kind::Mariadb => runs_on(MysqlConnection::establish(&self.url).unwrap()),
        }
    }
}

fn start(folder: &Folder, kind: Kind) -> String {
    let kind = match kind {
        Kind::Postgres => "postgres",
        Kind::Mariadb => "mariadb",
    };
    folder.run(&["start", kind, "server"]).concat()
}

fn runs_on(mut connection: impl SimpleConnection + 'static) -> Box<dyn FnMut(&str)> {
    Box::new(move |statements| {
        connection
            .batch_execute(statements)
            .unwrap_or_else(|error| panic!("{statements}: {error}"));
    })
}
