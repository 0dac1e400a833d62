//! Tests of `copy`.

use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use robot_core::{CatalogueExt, Draft, OpenError};

use crate::sandbox::Sandbox;

const COPY: &str = "copy --from sqlite://robots.db --to sqlite://copy.db";

/// The output of `sha256sum` for the list of the three robots in NDJSON, by id.
const CHECKSUM: &str = "97bb2f4fc4ab8d2316e3cf463a38cb3369d61c87fdc592a1093606ab5785c1cf";

#[test]
fn copy_keeps_robots_and_ids() {
    let sandbox = Sandbox::with_three_robots();
    let expected = format!("Copied 3 robots; both have the checksum {CHECKSUM}.\n");
    let _ = sandbox
        .run("add new --type=mechanical --year=2996")
        .success();
    let _ = sandbox.run("delete 4").success();
    sandbox.prints(COPY, &expected);
    let copied = "--database=sqlite://copy.db --format=csv";
    let list = format!("list {copied}");
    let rows =
        "id,name,type,year\n2,Bender,mechanical,2996\n3,HAL 9000,virtual,0\n1,R2-D2,droid,1977\n";
    sandbox.prints(&list, rows);
    // It has robots now.
    sandbox.fails(
        COPY,
        "error: the target is not empty; choose an empty one\n",
    );
    sandbox.prints(&list, rows);
    // The source has used the id 4.
    let add = format!("add new --type=droid --year=1 {copied}");
    sandbox.prints(&add, "id,name,type,year\n5,new,droid,1\n");
    let json = format!("{{\"checksum\":\"{CHECKSUM}\",\"robots\":3}}\n");
    let csv = format!("robots,checksum\n3,{CHECKSUM}\n");
    for (format, expected) in [("csv", csv), ("json", json)] {
        let copy = format!("copy --from sqlite://robots.db --to sqlite://{format}.db");
        sandbox.prints(&format!("{copy} --format {format}"), &expected);
    }
}

#[test]
fn columns_of_other_programs_are_left_out_knowingly() {
    let sandbox = Sandbox::with_three_robots();
    let sql = "ALTER TABLE robots ADD COLUMN maker TEXT; ALTER TABLE robots ADD COLUMN owner TEXT";
    sandbox.execute("robots.db", sql);
    sandbox.fails(
        &format!("{COPY} --ignore owner"),
        "error: the source has columns that the catalogue does not have: maker; store their values in \
         fields (robot-cli fields add), or leave them out with --ignore \"maker\"\n",
    );
    assert!(!sandbox.path().join("copy.db").exists());
    sandbox.stdout(&format!("{COPY} --ignore owner,maker"));
}

#[test]
fn copy_to_same_file_under_any_path_fails() {
    const REFUSAL: &str =
        "error: --from and --to are the same catalogue; choose another one for --to\n";
    let sandbox = Sandbox::with_three_robots();
    let path = |name: &str| sandbox.path().join(name);
    let absolute = path("robots.db").display().to_string();
    let mut names = vec!["robots.db", "./robots.db", &absolute];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("robots.db", path("symbolic.db")).unwrap();
        fs::hard_link(path("robots.db"), path("hard.db")).unwrap();
        names.extend(["symbolic.db", "hard.db"]);
    }
    for name in names {
        for (from, to) in [("robots.db", name), (name, "robots.db")] {
            let copy = format!("copy --from sqlite://{from} --to sqlite://{to}");
            sandbox.fails(&copy, REFUSAL);
        }
    }
}

#[test]
fn copy_of_missing_source_creates_nothing() {
    let sandbox = Sandbox::new();
    assert!(sandbox.stderr(COPY, 1).contains("'robots.db'"));
    assert!(sandbox.is_empty());
}

#[test]
fn copy_leaves_backup_of_older_version_unchanged() {
    let databases = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../robot-core/tests/stores/databases"
    );
    let mut folders = fs::read_dir(databases).unwrap();
    let previous =
        folders.find_map(|folder| fs::read(folder.unwrap().path().join("robots.db")).ok());
    let (sandbox, previous) = (Sandbox::new(), previous.unwrap());
    sandbox.write("robots.db", &previous);
    let printed = sandbox.stdout(COPY);
    assert!(printed.starts_with("Copied 37 robots; "), "{printed}");
    assert!(fs::read(sandbox.path().join("robots.db")).unwrap() == previous);
    for suffix in ["-wal", "-shm"] {
        assert!(!sandbox.path().join(format!("robots.db{suffix}")).exists());
    }
}

#[test]
fn copy_reads_log_of_killed_process() {
    let (crashed, running) = (Sandbox::new(), Sandbox::with_three_robots());
    let catalogue = running.open("robots.db");
    catalogue.add(Draft::new("Marvin", "droid", 1978)).unwrap();
    for file in ["robots.db", "robots.db-wal"] {
        fs::copy(running.path().join(file), crashed.path().join(file)).unwrap();
    }
    let printed = crashed.stdout(COPY);
    assert!(printed.starts_with("Copied 4 robots; "), "{printed}");
}

#[test]
fn copy_ignores_database_url_and_rejects_database() {
    let sandbox = Sandbox::with_three_robots();
    let mut command = sandbox.command(COPY.split(' '));
    command.env("DATABASE_URL", "sqlite://other.db");
    let _ = assert_cmd::Command::from_std(command).assert().success();
    assert!(!sandbox.path().join("other.db").exists());
    let message = "copy does not use --database";
    sandbox.is_usage_error(&format!("{COPY} --database=sqlite://other.db"), message);
    sandbox.is_usage_error(&format!("--database=sqlite://robots.db {COPY}"), message);
}

#[test]
fn copy_without_target_is_usage_error() {
    let sandbox = Sandbox::new();
    sandbox.is_usage_error("copy --from sqlite://robots.db", "the target is missing");
    assert!(sandbox.is_empty());
}

#[cfg(unix)]
#[test]
fn interrupted_copy_reports_progress_and_remedy() {
    const ROBOTS: i64 = 60_000;
    let sandbox = Sandbox::new();
    sandbox.add((0..ROBOTS).map(|number| Draft::new(format!("RX-{number:06}"), "droid", 0)));
    let target = format!("sqlite://{}/copy.db", sandbox.path().display());
    let mut command = sandbox.command(COPY.split(' '));
    let copy = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let is_incomplete = || {
        let opened = robot_core::open(&target);
        matches!(opened, Err(OpenError::IncompleteCopy(_)))
    };
    while !(sandbox.path().join("copy.db").exists() && is_incomplete()) {
        assert!(started.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(5));
    }
    let kill = Command::new("kill")
        .arg("-INT")
        .arg(copy.id().to_string())
        .status();
    assert!(kill.unwrap().success());
    let outcome = copy.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&outcome.stderr);
    assert_eq!(outcome.status.code(), Some(130), "{stderr}");
    assert!(outcome.stdout.is_empty());
    let beginning = "error: the copy was stopped after ";
    let ending = " robots; the target is incomplete. To start over, delete 'copy.db', \
                  'copy.db-wal' and 'copy.db-shm', and copy again\n";
    let copied = stderr
        .strip_prefix(beginning)
        .and_then(|stderr| stderr.strip_suffix(ending));
    assert!(copied.is_some(), "{stderr}");
    assert!(is_incomplete());
    for command in ["check", "list"] {
        let command = format!("{command} --database=sqlite://copy.db");
        sandbox.reports(&command, 1, &["copy that is running or was stopped"]);
    }
    for file in ["copy.db", "copy.db-wal", "copy.db-shm"] {
        let _ = fs::remove_file(sandbox.path().join(file));
    }
    let _ = sandbox.run(COPY).success();
}

#[test]
fn migrate_to_unknown_version_changes_nothing() {
    let sandbox = Sandbox::with_three_robots();
    for version in ["0.1.0", "0.0.9"] {
        let message = format!("knows no earlier version {version}");
        sandbox.is_usage_error(&format!("migrate --to {version} --yes"), &message);
    }
    sandbox.is_usage_error("migrate", "--to <VERSION>");
    sandbox.prints(
        "get 1 --format=csv",
        "id,name,type,year\n1,R2-D2,droid,1977\n",
    );
}
