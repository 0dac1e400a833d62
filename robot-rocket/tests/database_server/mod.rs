//! Private database servers, which tests stop, kill and freeze.

use std::path::Path;
use std::{
    process::{self, Command},
    thread,
};

use diesel::{Connection, connection::SimpleConnection};
use robot_core::conformance::{MysqlConnection, PostgresConnection, scratch_database};
use tempfile::TempDir;

use crate::process::wait_for;

/// The script that runs database servers for tests.
const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../robot-core/tests/servers.sh"
);

/// A folder of database servers, which are stopped on drop.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Runs the script with paths relative to the folder, and returns the lines that it prints.
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
        // No panic here: a second one would abort the run. Servers without their folder end anyway.
        let _ = Command::new(SCRIPT).arg("stop").arg(self.0.path()).output();
        if thread::panicking() {
            let mut tail = Command::new("sh");
            tail.args([
                "-c",
                "find . -maxdepth 3 -name log -exec tail -n 40 {} + >&2",
            ]);
            let _ = tail.current_dir(self.0.path()).status();
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Postgres,
    Mariadb,
}

impl Kind {
    /// The URL of an empty database on the server that all tests share, which they must not stop.
    pub(crate) fn shared_database(self) -> String {
        scratch_database(match self {
            Self::Postgres => "TEST_POSTGRES_URL",
            Self::Mariadb => "TEST_MYSQL_URL",
        })
    }

    /// Connects to a database, and returns a function that runs statements on the connection.
    pub(crate) fn connect(self, url: &str) -> Box<dyn FnMut(&str)> {
        match self {
            Self::Postgres => statements_on(PostgresConnection::establish(url).unwrap()),
            Self::Mariadb => statements_on(MysqlConnection::establish(url).unwrap()),
        }
    }
}

fn statements_on(mut connection: impl SimpleConnection + 'static) -> Box<dyn FnMut(&str)> {
    Box::new(move |statements| {
        connection
            .batch_execute(statements)
            .unwrap_or_else(|error| panic!("{statements}: {error}"));
    })
}

/// The host and port in a URL.
pub(crate) fn authority(url: &str) -> &str {
    let (_, rest) = url.split_once('@').unwrap();
    rest.split_once('/').unwrap().0
}

/// A database server with an empty database, for one test.
pub(crate) struct DatabaseServer {
    folder: Folder,
    pub(crate) kind: Kind,
    pub(crate) url: String,
}

impl DatabaseServer {
    pub(crate) fn new(kind: Kind) -> Self {
        let folder = Folder::new();
        let url = start(&folder, kind);
        Self { folder, kind, url }
    }

    /// Starts the server again, at the same URL.
    pub(crate) fn start(&self) {
        assert_eq!(start(&self.folder, self.kind), self.url);
    }

    /// Stops the server cleanly.
    pub(crate) fn stop(&self) {
        self.folder.run(&["stop", "server"]);
    }

    pub(crate) fn kill(&self) {
        self.signal("KILL");
    }

    /// Ends the server at once. It says so to its clients.
    pub(crate) fn shut_down_immediately(&self) {
        self.signal("QUIT");
    }

    /// Runs a statement as PostgreSQL's superuser, and returns the lines of its result.
    pub(crate) fn sql(&self, statement: &str) -> Vec<String> {
        self.folder.run(&["sql", "server", statement])
    }

    /// Suspends all threads of the server, as if it hung, and waits until they are.
    pub(crate) fn freeze(&self) {
        self.signal("STOP");
        let main = self.folder.run(&["pid", "server"]).concat();
        wait_for("the database is frozen", || {
            let mut threads = Command::new("ps");
            threads.args(["-L", "-o", "stat=", "-p", &main, "--ppid", &main]);
            let states = String::from_utf8(threads.output().unwrap().stdout).unwrap();
            let is_stopped = |state: &str| state.starts_with(['T', 'Z']);
            !states.is_empty() && states.lines().all(is_stopped)
        });
    }

    /// Ends a freeze.
    pub(crate) fn resume(&self) {
        self.signal("CONT");
    }

    /// Starts the server again, with TLS besides connections without.
    pub(crate) fn use_tls(&self, certificate: &Path, key: &Path) {
        let (certificate, key) = (certificate.to_str().unwrap(), key.to_str().unwrap());
        self.folder.run(&["tls", "server", certificate, key]);
    }

    /// Starts the server again, without TLS.
    pub(crate) fn drop_tls(&self) {
        self.folder.run(&["without-tls", "server"]);
    }

    fn signal(&self, name: &str) {
        self.folder.run(&["signal", name, "server"]);
    }
}

fn start(folder: &Folder, kind: Kind) -> String {
    let kind = match kind {
        Kind::Postgres => "postgres",
        Kind::Mariadb => "mariadb",
    };
    folder.run(&["start", kind, "server"]).concat()
}
