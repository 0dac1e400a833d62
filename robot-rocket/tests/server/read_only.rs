//! A catalogue that the server cannot write.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
    process::Command,
    sync::Arc,
};

use robot_core::{Catalogue, CatalogueExt, Draft};
use tempfile::TempDir;

use crate::{
    Server, draft,
    process::{PROGRAM, command_of, wait_for},
};

/// A folder with a catalogue that the server cannot write.
struct ReadOnly(TempDir);

impl ReadOnly {
    fn new() -> Self {
        let database = Self(tempfile::tempdir().unwrap());
        let added = database.catalogue().add(Draft::new("R2-D2", "droid", 1977));
        added.unwrap();
        database.set_permissions(0o444, 0o555);
        database
    }

    fn catalogue(&self) -> Arc<dyn Catalogue> {
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
    let copied = Command::new("cp").arg(PROGRAM).arg(&server).status();
    assert!(copied.unwrap().success());
    let mut command = command_of(&server, folder, settings);
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    Server::launch_by(command).unwrap_or_else(|output| panic!("{output:?}"))
}

#[test]
fn read_only_database_is_served_and_writes_return_403() {
    let (database, folder) = (ReadOnly::new(), tempfile::tempdir().unwrap());
    let server = start(folder.path(), &[("DATABASE_URL", &database.url())]);
    let listed = r#"[{"id":"1","name":"R2-D2"}]"#;
    for (target, expected) in [
        ("/api/robots", listed),
        ("/api/robots/search/2-D", listed),
        (
            "/api/robots/1",
            r#"{"status":"FOUND","data":{"id":"1","name":"R2-D2"}}"#,
        ),
        (
            "/api/robots/export?format=csv",
            "id,name,type,year\n1,R2-D2,droid,1977\n",
        ),
    ] {
        assert_eq!(server.get(target).text(), expected);
    }
    for (method, target) in [
        ("POST", "/api/robots"),
        ("PUT", "/api/robots/1"),
        ("DELETE", "/api/robots/1"),
        ("POST", "/api/robots/import?format=ndjson"),
    ] {
        let answer = server.call(method, target, &draft("Bender"));
        let text = answer.text();
        assert_eq!(answer.status, 403, "{method} {target}: {text}");
        assert!(text.contains("The catalogue is read-only"), "{text}");
    }
    // A rule is checked before.
    let wrong = r#"{"name":"x","type":"x","year":1}"#;
    assert_eq!(server.call("POST", "/api/robots", wrong).status, 409);
    let (_, log) = server.stop("TERM");
    assert!(log.contains("is read-only for this program"), "{log}");
    assert_eq!(fs::read_dir(database.0.path()).unwrap().count(), 1);
}

#[test]
fn changes_by_another_program_are_visible_read_only() {
    let (database, folder) = (ReadOnly::new(), tempfile::tempdir().unwrap());
    let server = start(folder.path(), &[("DATABASE_URL", &database.url())]);
    let count = || {
        let answer = server.get("/api/robots");
        (answer.status == 200).then(|| answer.text().matches("name").count())
    };
    assert_eq!(count(), Some(1));
    for round in 0..3 {
        database.set_permissions(0o644, 0o755);
        let catalogue = database.catalogue();
        for number in [2 + 2 * round, 3 + 2 * round] {
            catalogue
                .add(Draft::new(number.to_string(), "droid", 1))
                .unwrap();
            // The log is there now, and is read.
            assert_eq!(count(), Some(number));
        }
        drop(catalogue);
        database.set_permissions(0o444, 0o555);
        // The log is gone.
        wait_for("the server reads the file", || {
            count() == Some(3 + 2 * round)
        });
    }
}
