//! Which catalogue is used, and what is said where it cannot be.

use assert_cmd::Command;

use crate::sandbox::Sandbox;

const CSV_ROW: &str = "id,name,type,year\n1,R2-D2,droid,1977\n";
const REMEDY: &str = "check that its folder exists and that both may be written, \
                      that the disk has room, and that it is a database of robots; \
                      or name another one\n";

/// The run ends with status 1, prints nothing, and says one line of this beginning and end.
#[track_caller]
fn fails_with_a_remedy(sandbox: &Sandbox, url: &str, beginning: &str) {
    let outcome = sandbox.run(&["list", "--database", url]).code(1).stdout("");
    let said = String::from_utf8_lossy(&outcome.get_output().stderr);
    assert!(said.starts_with(beginning), "{said}");
    assert!(said.ends_with(REMEDY), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn the_default_is_a_file_in_the_working_directory() {
    let sandbox = Sandbox::new();
    let _ = sandbox.run(&["list"]).success();
    assert!(sandbox.path().join("robots.db").is_file());
}

#[test]
fn the_option_stands_before_or_after_the_command() {
    let sandbox = Sandbox::new();
    let url = format!("sqlite://{}/other.db", sandbox.path().display());
    let _ = sandbox
        .run(&[
            "--database",
            &url,
            "add",
            "R2-D2",
            "--type=droid",
            "--year=1977",
        ])
        .success();
    sandbox.prints(&["list", "--format=csv", "--database", &url], CSV_ROW);
    sandbox.prints(
        &["--format=csv", "list", "--database=sqlite://other.db"],
        CSV_ROW,
    );
    sandbox.prints(
        &["--format=csv", "--database=sqlite://other.db", "get", "1"],
        CSV_ROW,
    );
    sandbox.prints(&["list", "--format=csv"], "id,name,type,year\n");
}

#[test]
fn the_environment_names_the_catalogue_and_the_option_outweighs_it() {
    let sandbox = Sandbox::with_three_robots();
    let run = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        command.env("DATABASE_URL", "sqlite://other.db");
        Command::from_std(command).assert().success().stderr("")
    };
    let _ = run(&["list", "--format=csv"]).stdout("id,name,type,year\n");
    assert!(sandbox.path().join("other.db").is_file());
    let _ = run(&["get", "1", "--format=csv", "--database=sqlite://robots.db"]).stdout(CSV_ROW);
}

#[test]
fn a_catalogue_in_memory_is_gone_at_the_end() {
    let sandbox = Sandbox::new();
    sandbox.prints(
        &[
            "--database=memory:",
            "add",
            "R2-D2",
            "--type=droid",
            "--year=1977",
            "--format=csv",
        ],
        CSV_ROW,
    );
    sandbox.prints(&["--database=memory:", "list", "--format=json"], "[]\n");
    assert_eq!(sandbox.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_folder_that_is_not_there_is_told_with_a_remedy() {
    fails_with_a_remedy(
        &Sandbox::new(),
        "sqlite:///nonexistent/robots.db",
        "error: cannot open the database '/nonexistent/robots.db': ",
    );
}

#[test]
fn a_folder_in_the_place_of_the_file_is_told_with_a_remedy() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path().join("folder")).unwrap();
    sandbox.fails(
        &["list", "--database", "sqlite://folder"],
        "error: cannot open the database 'folder': unable to open database file; \
         it is a folder; name a file in it\n",
    );
}

#[test]
fn a_file_that_is_no_database_is_told_and_left_alone() {
    let sandbox = Sandbox::new();
    let file = sandbox.path().join("notes.txt");
    let notes = "Nothing of this is a database.\n".repeat(50);
    std::fs::write(&file, &notes).unwrap();
    fails_with_a_remedy(
        &sandbox,
        "sqlite://notes.txt",
        "error: cannot open the database 'notes.txt': file is not a database; ",
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), notes);
}

#[test]
fn a_url_of_no_known_store_is_told_without_what_may_be_secret() {
    let sandbox = Sandbox::new();
    for (url, message) in [
        (
            "ftp://user:secret@host/robots",
            "error: 'ftp' is no store that this program knows; it knows ",
        ),
        (
            "robots.db",
            "error: 'robots.db' is no store that this program knows; it knows ",
        ),
        (
            "",
            "error: '' is no store that this program knows; it knows ",
        ),
        (
            "sqlite://",
            "error: 'sqlite://' names no database file; write it as sqlite://robots.db",
        ),
    ] {
        let outcome = sandbox.run(&["list", "--database", url]).code(1).stdout("");
        let said = String::from_utf8_lossy(&outcome.get_output().stderr);
        assert!(said.starts_with(message), "{said}");
        assert!(!said.contains("secret"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    assert_eq!(sandbox.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_message_does_not_drive_the_terminal_either() {
    let outcome = Sandbox::new()
        .run(&["list", "--database", "sqlite://\u{1b}[2J\n/robots.db"])
        .code(1)
        .stdout("");
    let said = String::from_utf8_lossy(&outcome.get_output().stderr);
    assert!(said.contains(r"'\u{1b}[2J\n/robots.db'"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn a_damaged_database_is_told_in_its_words_once() {
    let sandbox = Sandbox::with_three_robots();
    let file = sandbox.path().join("robots.db");
    // The first page, which says what is in the file, is left, so that it passes for a database.
    let mut bytes = std::fs::read(&file).unwrap();
    let page = 4096;
    assert!(bytes.len() > 2 * page);
    bytes[page..].fill(0xff);
    std::fs::write(&file, bytes).unwrap();
    for name in ["robots.db-wal", "robots.db-shm"] {
        let _ = std::fs::remove_file(sandbox.path().join(name));
    }
    let outcome = sandbox.run(&["list"]).code(1).stdout("");
    let said = String::from_utf8_lossy(&outcome.get_output().stderr);
    assert!(said.starts_with("error: "), "{said}");
    assert!(said.contains("database disk image is malformed"), "{said}");
    assert_eq!(said.matches("malformed").count(), 1, "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}
