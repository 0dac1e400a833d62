//! Tests of `--database` and `DATABASE_URL`.

use std::fs;

use crate::sandbox::Sandbox;

#[test]
fn default_database_is_in_working_directory() {
    let sandbox = Sandbox::new();
    // Only commands that add robots create it.
    for arguments in "list;search x;get 1;summary;update 1 --year=1;delete 1".split(';') {
        let message = "error: there is no database 'robots.db'; check its path and the working directory, or create it with: robot-cli add\n";
        sandbox.fails(arguments, message);
    }
    assert!(sandbox.files().is_empty());
    sandbox.stdout("add R2-D2 --type=droid --year=1977");
    assert!(sandbox.path("robots.db").is_file());
}

#[test]
fn option_or_environment_chooses_the_database() {
    let sandbox = Sandbox::new();
    let absolute = format!("sqlite://{}", sandbox.path("other.db").display());
    let examples = r"
        --database ABSOLUTE add R2-D2 --type=droid --year=1977 -> 0 *
        list --format=csv --database ABSOLUTE -> 0 id,name,type,year\n1,R2-D2,droid,1977
        --format=csv list --database=sqlite://other.db -> 0 id,name,type,year\n1,R2-D2,droid,1977
        --database=memory: add Bender --type=droid --year=1 --format=csv -> 0 id,name,type,year\n1,Bender,droid,1
        --database=memory: list --format=json -> 0 []";
    sandbox.examples(examples.replace("ABSOLUTE", &absolute));
    assert_eq!(sandbox.names("."), ["other.db"]);
    let (stdout, ..) = sandbox.run_with_url("list --count", "sqlite://other.db");
    assert_eq!(stdout, "1\n");
    let list = "list --count --database=sqlite://missing.db";
    assert_eq!(sandbox.run_with_url(list, "sqlite://other.db").2, Some(1));
}

#[test]
fn unusable_database_is_reported_on_one_line() {
    let sandbox = Sandbox::new();
    sandbox.write("notes.txt", "Nothing of this is a database.\n".repeat(50));
    fs::create_dir(sandbox.path("directory")).unwrap();
    let before = sandbox.files();
    for (url, beginning) in [
        (
            "sqlite://notes.txt",
            "error: cannot open the database 'notes.txt': file is not a database; check ",
        ),
        (
            "sqlite:///nonexistent/robots.db",
            "error: there is no database '/nonexistent/robots.db'; check ",
        ),
        (
            "sqlite://directory",
            "error: cannot open the database 'directory': ",
        ),
        (
            "ftp://user:secret@host/robots",
            "URLs that begin with 'ftp'",
        ),
        ("robots.db", "URLs that begin with 'robots.db'"),
        ("", "URLs that begin with ''"),
        ("sqlite://", "error: 'sqlite://' names no database file"),
        (
            "sqlite://\u{1b}[2J\n/robots.db",
            r"error: there is no database '\u{1b}[2J\n/robots.db'",
        ),
    ] {
        let stderr = sandbox.reports(["list", "--database", url], 1, &[beginning]);
        let is_secret = stderr.contains("secret");
        assert_eq!((stderr.lines().count(), is_secret), (1, false), "{stderr}");
    }
    assert!(sandbox.files() == before);
}

#[test]
fn damaged_database_prints_cause_once() {
    let sandbox = Sandbox::with_three_robots();
    // Keeps the first page with the header, so that SQLite opens the file.
    let mut bytes = sandbox.files()["robots.db"].clone();
    assert!(bytes.len() > 2 * 4096);
    bytes[4096..].fill(0xff);
    sandbox.write("robots.db", bytes);
    let message = "database disk image is malformed";
    let stderr = sandbox.reports("list", 1, &["error: ", message]);
    assert_eq!(stderr.matches("malformed").count(), 1, "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}
