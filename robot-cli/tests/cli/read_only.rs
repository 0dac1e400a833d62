//! Tests of a catalogue that the process may read but not write.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
    process::Command,
};

use robot_core::{CatalogueExt, Draft};
use tempfile::TempDir;

use crate::sandbox::{Outcome, ROWS, Sandbox, contains, start, wait};

/// A user who owns no files.
const NOBODY: u32 = 65534;

/// A catalogue with three robots, and the program as a user to whom permissions apply: not as root.
struct ReadOnly {
    sandbox: Sandbox,
    /// Has the program, where that user can execute it, and is writable.
    elsewhere: TempDir,
}

impl ReadOnly {
    fn new(file: u32, folder: u32) -> Self {
        let sandbox = Sandbox::with_three_robots();
        let elsewhere = tempfile::tempdir().unwrap();
        set_mode(elsewhere.path(), 0o777);
        // Not by this process: a child of another test would have the copy open for writing, and it
        // could not be executed.
        let copied = Command::new("cp")
            .args([env!("CARGO_BIN_EXE_robot-cli"), "robot-cli"])
            .current_dir(elsewhere.path())
            .status();
        assert!(copied.unwrap().success());
        let database = Self { sandbox, elsewhere };
        database.set_permissions(file, folder);
        database
    }

    /// Sets the permissions of all files of the catalogue, and of their folder.
    fn set_permissions(&self, file: u32, folder: u32) {
        for name in self.sandbox.names(".") {
            set_mode(&self.sandbox.path(&name), file);
        }
        set_mode(&self.sandbox.path("."), folder);
    }

    fn run(&self, arguments: &str) -> Outcome {
        let mut command = Command::new(self.elsewhere.path().join("robot-cli"));
        let url = format!("sqlite://{}", self.sandbox.path("robots.db").display());
        command
            .args(arguments.split(' '))
            .current_dir(&self.elsewhere);
        command.env_clear().env("DATABASE_URL", url);
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        wait(start(&mut command))
    }

    /// Asserts the rows in CSV.
    #[track_caller]
    fn has(&self, database: &str, rows: &str) {
        let list = format!("list --format=csv{database}");
        self.prints(&list, &format!("id,name,type,year\n{rows}"));
    }

    #[track_caller]
    fn prints(&self, arguments: &str, expected: &str) {
        let expected = (expected.to_owned(), String::new(), Some(0));
        assert_eq!(self.run(arguments), expected, "{arguments:?}");
    }

    /// Asserts that a command fails without output, with these parts of the error, on one line.
    #[track_caller]
    fn fails(&self, arguments: &str, parts: &[&str]) {
        let (stdout, stderr, status) = self.run(arguments);
        assert_eq!((stdout.as_str(), status), ("", Some(1)), "{stderr}");
        contains(&stderr, parts);
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }

    #[track_caller]
    fn is_read_only(&self) {
        self.has("", ROWS);
        for arguments in [
            "add Marvin --type=droid --year=1978",
            "update 1 --year=1",
            "delete 1",
        ] {
            let parts = ["error: The catalogue is read-only: '", "folder writable"];
            self.fails(arguments, &parts);
        }
        self.has("", ROWS);
    }

    fn files(&self) -> usize {
        self.sandbox.names(".").len()
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

#[test]
fn read_only_catalogue_is_read_by_all_commands() {
    let database = ReadOnly::new(0o444, 0o555);
    database.has("", ROWS);
    let row = "id,name,type,year\n1,R2-D2,droid,1977\n";
    database.prints("search 2-D --format=csv", row);
    database.prints("get 1 --format=csv", row);
    database.prints("export a.csv", "Exported 3 robots to a.csv.\n");
    let exported = fs::read_to_string(database.elsewhere.path().join("a.csv")).unwrap();
    assert_eq!(exported.lines().count(), 4, "{exported}");
    contains(&database.run("backup b.db").0, &["Backed up 3 robots"]);
    database.has(" --database=sqlite://b.db", ROWS);
    let from = database.sandbox.path("robots.db");
    let copy = format!("copy --from=sqlite://{} --to=sqlite://c.db", from.display());
    contains(&database.run(&copy).0, &["Copied 3 robots"]);
    assert_eq!(database.files(), 1);
}

#[test]
fn import_into_read_only_catalogue_stops_at_the_first_line() {
    let database = ReadOnly::new(0o444, 0o555);
    let file = database.elsewhere.path().join("new.csv");
    fs::write(&file, "name,type,year\na,droid,1\nb,droid,1\nc,droid,1\n").unwrap();
    let (_, stderr, status) = database.run("import new.csv --keep-going");
    assert_eq!(status, Some(1));
    let count = stderr.matches("The catalogue is read-only").count();
    assert_eq!(count, 1, "{stderr}");
    database.has("", ROWS);
}

#[test]
fn file_or_folder_alone_makes_a_catalogue_read_only() {
    for (file, folder) in [(0o444, 0o777), (0o666, 0o555)] {
        let database = ReadOnly::new(file, folder);
        database.is_read_only();
        assert_eq!(database.files(), 1, "{file:o} {folder:o}");
        // Nothing that was left behind keeps it read-only.
        database.set_permissions(0o666, 0o777);
        let (_, stderr, status) = database.run("add Marvin --type=droid --year=1978");
        assert_eq!(status, Some(0), "{stderr}");
    }
}

#[test]
fn log_of_a_read_only_catalogue_is_read() {
    let database = ReadOnly::new(0o644, 0o755);
    let catalogue = database.sandbox.open("robots.db");
    let marvin = catalogue.add(Draft::new("Marvin", "droid", 1978)).unwrap();
    // In use by another program, whose log has the newest robot.
    database.set_permissions(0o444, 0o555);
    let (stdout, stderr, _) = database.run("list --format=csv");
    assert_eq!((stdout.lines().count(), stderr.as_str()), (5, ""));
    catalogue.delete(marvin.id()).unwrap();
    database.is_read_only();
    // Copied while it was in use: nothing may be written, and the log must not be ignored.
    database.set_permissions(0o644, 0o755);
    let copy = ReadOnly::new(0o644, 0o755);
    for name in ["robots.db", "robots.db-wal", "robots.db-shm"] {
        fs::copy(database.sandbox.path(name), copy.sandbox.path(name)).unwrap();
    }
    copy.set_permissions(0o444, 0o555);
    copy.is_read_only();
    copy.set_permissions(0o644, 0o755);
    fs::remove_file(copy.sandbox.path("robots.db-shm")).unwrap();
    copy.set_permissions(0o444, 0o555);
    let parts = [
        "its WAL (the file '-wal') was not applied",
        "copy it with all files beside it",
    ];
    copy.fails("list", &parts);
}

#[test]
fn catalogue_in_unwritable_folder_is_not_replaced() {
    let database = ReadOnly::new(0o666, 0o777);
    assert_eq!(database.run("backup copy.db").2, Some(0));
    database.set_permissions(0o666, 0o555);
    let files = database.files();
    let parts = [
        "Permission denied (os error 13)",
        "check that its folder exists and may be written",
    ];
    database.fails("restore --replace copy.db", &parts);
    assert_eq!(database.files(), files);
    database.has("", ROWS);
}
