//! A database that the server may read but not write.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
    process::{Command, Stdio},
};

use robot_core::{CatalogueExt, Draft, conformance::Client};
use tempfile::TempDir;

use crate::{
    Server, call, draft,
    process::{TIMEOUT, command, wait_for},
};

/// A folder with a catalogue that the server cannot write.
struct ReadOnly(TempDir);

impl ReadOnly {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Self(folder);
        database
            .catalogue()
            .add(Draft::new("R2-D2", "droid", 1977))
            .unwrap();
        database.set_permissions(0o444, 0o555);
        database
    }

    fn catalogue(&self) -> std::sync::Arc<dyn robot_core::Catalogue> {
        robot_core::open(&self.url()).unwrap()
    }

    fn url(&self) -> String {
        format!("sqlite://{}/robots.db", self.0.path().display())
    }

    fn set_permissions(&self, file: u32, folder: u32) {
        set_mode(&self.0.path().join("robots.db"), file);
        set_mode(self.0.path(), folder);
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        // Otherwise its files cannot be deleted.
        self.set_permissions(0o644, 0o755);
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Starts a server as a user to whom permissions apply: not as root.
fn start(folder: &Path, settings: &[(&str, &str)]) -> Server {
    const NOBODY: u32 = 65534;
    let server = folder.join("robot-rocket");
    set_mode(folder, 0o755);
    // Where that user can execute it. Not by this process: a child of another test would have the copy
    // open for writing, and it could not be executed.
    let _ = fs::remove_file(&server);
    let copied = Command::new("cp")
        .arg(env!("CARGO_BIN_EXE_robot-rocket"))
        .arg(&server)
        .status();
    assert!(copied.unwrap().success());
    let prepared = command(folder, settings);
    let mut command = Command::new(server);
    command.current_dir(folder).env_clear();
    command.envs(
        prepared
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    Server::launch_by(command).unwrap_or_else(|output| panic!("{output:?}"))
}

#[test]
fn read_only_database_is_served_and_writes_return_403() {
    let (database, folder) = (ReadOnly::new(), tempfile::tempdir().unwrap());
    for behaviour in ["A", "B"] {
        let url = database.url();
        let settings = [
            ("DATABASE_URL", url.as_str()),
            ("ROCKET_BEHAVIOUR", behaviour),
        ];
        let server = start(folder.path(), &settings);
        let client: &dyn Client = &server.client();
        let listed = r#"[{"id":"1","name":"R2-D2"}]"#;
        for target in ["/api/robots", "/api/robots/search/2-D"] {
            assert_eq!(call(client, "GET", target, "").text(), listed);
        }
        let found = call(client, "GET", "/api/robots/1", "").text();
        assert!(found.contains("R2-D2"), "{found}");
        let exported = call(client, "GET", "/api/robots/export?format=csv", "").text();
        assert!(exported.ends_with("1,R2-D2,droid,1977\n"), "{exported}");
        for (method, target) in [
            ("POST", "/api/robots"),
            ("PUT", "/api/robots/1"),
            ("DELETE", "/api/robots/1"),
            ("POST", "/api/robots/import?format=ndjson"),
        ] {
            let answer = call(client, method, target, &draft("Bender"));
            let text = answer.text();
            assert_eq!(answer.status, 403, "{method} {target}: {text}");
            assert!(text.starts_with(r#"{"status":"ERROR""#), "{text}");
            assert!(text.contains("The catalogue is read-only"), "{text}");
        }
        // A rule is checked before.
        let answer = call(
            client,
            "POST",
            "/api/robots",
            r#"{"name":"x","type":"x","year":1}"#,
        );
        assert_eq!(answer.status, if behaviour == "A" { 409 } else { 500 });
        let (_, log) = server.stop("TERM");
        assert!(log.contains("is read-only for this program"), "{log}");
    }
    assert_eq!(fs::read_dir(database.0.path()).unwrap().count(), 1);
}

#[test]
fn changes_by_another_program_are_visible_read_only() {
    let (database, folder) = (ReadOnly::new(), tempfile::tempdir().unwrap());
    let url = database.url();
    let server = start(folder.path(), &[("DATABASE_URL", url.as_str())]);
    let client: &dyn Client = &server.client();
    let count = || {
        let answer = call(client, "GET", "/api/robots", "");
        (answer.status == 200).then(|| answer.text().matches("name").count())
    };
    assert_eq!(count(), Some(1));
    for round in 0..3 {
        database.set_permissions(0o644, 0o755);
        let catalogue = database.catalogue();
        for (number, expected) in [(0, 2 + 2 * round), (1, 3 + 2 * round)] {
            let name = format!("RX-{round}-{number}");
            catalogue.add(Draft::new(name, "droid", 1)).unwrap();
            // The log is there now, and is read.
            assert_eq!(count(), Some(expected));
        }
        drop(catalogue);
        database.set_permissions(0o444, 0o555);
        // The log is gone.
        wait_for("the server reads the file", TIMEOUT, || {
            count() == Some(3 + 2 * round)
        });
    }
}
