//! Tests of `--database` and `DATABASE_URL`.

use assert_cmd::Command;

use crate::sandbox::Sandbox;

const CSV_ROW: &str = "id,name,type,year\n1,R2-D2,droid,1977\n";

/// Asserts status 1 and one line with this beginning and a remedy.
#[track_caller]
fn fails_with_remedy(sandbox: &Sandbox, arguments: &str, beginning: &str) {
    let stderr = sandbox.reports(arguments, 1, &["; check "]);
    assert!(stderr.starts_with(beginning), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn default_database_is_in_working_directory() {
    let sandbox = Sandbox::new();
    // Only commands that add robots create it.
    for arguments in "list;search x;get 1;summary;update 1 --year=1;delete 1".split(';') {
        let message = "error: there is no database 'robots.db'";
        fails_with_remedy(&sandbox, arguments, message);
    }
    assert!(sandbox.is_empty());
    let _ = sandbox.run("add R2-D2 --type=droid --year=1977").success();
    assert!(sandbox.path().join("robots.db").is_file());
}

#[test]
fn database_option_is_accepted_before_and_after_command() {
    let sandbox = Sandbox::new();
    let absolute = format!("sqlite://{}/other.db", sandbox.path().display());
    let add = format!("--database {absolute} add R2-D2 --type=droid --year=1977");
    let _ = sandbox.run(&add).success();
    for arguments in [
        &format!("list --format=csv --database {absolute}"),
        "--format=csv list --database=sqlite://other.db",
        "--format=csv --database=sqlite://other.db get 1",
    ] {
        sandbox.prints(arguments, CSV_ROW);
    }
    assert!(!sandbox.path().join("robots.db").exists());
}

#[test]
fn database_option_takes_precedence_over_environment() {
    let sandbox = Sandbox::with_three_robots();
    let run = |arguments: &str| {
        let mut command = sandbox.command(arguments.split(' '));
        command.env("DATABASE_URL", "sqlite://other.db");
        Command::from_std(command).assert()
    };
    let _ = run("list").failure().stdout("");
    let _ = run("get 1 --format=csv --database=sqlite://robots.db")
        .success()
        .stdout(CSV_ROW);
}

#[test]
fn catalogue_in_memory_is_discarded() {
    let sandbox = Sandbox::new();
    let add = "--database=memory: add R2-D2 --type=droid --year=1977 --format=csv";
    sandbox.prints(add, CSV_ROW);
    sandbox.prints("--database=memory: list --format=json", "[]\n");
    assert!(sandbox.is_empty());
}

#[test]
fn file_that_is_no_database_fails_and_is_unchanged() {
    let sandbox = Sandbox::new();
    let file = sandbox.path().join("notes.txt");
    let notes = "Nothing of this is a database.\n".repeat(50);
    std::fs::write(&file, &notes).unwrap();
    std::fs::create_dir(sandbox.path().join("directory")).unwrap();
    for (url, message) in [
        (
            "notes.txt",
            "error: cannot open the database 'notes.txt': file is not a database; ",
        ),
        (
            "/nonexistent/robots.db",
            "error: there is no database '/nonexistent/robots.db'",
        ),
    ] {
        let list = format!("list --database sqlite://{url}");
        fails_with_remedy(&sandbox, &list, message);
    }
    let message = "error: cannot open the database 'directory': ";
    sandbox.reports("list --database sqlite://directory", 1, &[message]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), notes);
}

#[test]
fn unknown_url_fails_without_printing_secrets() {
    let sandbox = Sandbox::new();
    for (url, message) in [
        (
            "ftp://user:secret@host/robots",
            "URLs that begin with 'ftp'",
        ),
        ("robots.db", "URLs that begin with 'robots.db'"),
        ("", "URLs that begin with ''"),
        ("sqlite://", "error: 'sqlite://' names no database file"),
    ] {
        let stderr = sandbox.reports(&["list", "--database", url], 1, &[message]);
        assert!(!stderr.contains("secret"), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
    assert!(sandbox.is_empty());
}

#[test]
fn control_characters_in_messages_are_escaped() {
    let arguments = ["list", "--database", "sqlite://\u{1b}[2J\n/robots.db"];
    let stderr = Sandbox::new().stderr(&arguments, 1);
    assert!(stderr.contains(r"'\u{1b}[2J\n/robots.db'"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn damaged_database_prints_cause_once() {
    let sandbox = Sandbox::with_three_robots();
    let file = sandbox.path().join("robots.db");
    // Keeps the first page with the header, so that SQLite opens the file.
    let mut bytes = std::fs::read(&file).unwrap();
    let page = 4096;
    assert!(bytes.len() > 2 * page);
    bytes[page..].fill(0xff);
    std::fs::write(&file, bytes).unwrap();
    for name in ["robots.db-wal", "robots.db-shm"] {
        let _ = std::fs::remove_file(sandbox.path().join(name));
    }
    let message = "database disk image is malformed";
    let stderr = sandbox.reports("list", 1, &["error: ", message]);
    assert_eq!(stderr.matches("malformed").count(), 1, "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}
