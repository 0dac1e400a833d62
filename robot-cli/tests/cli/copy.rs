//! Tests of `copy` and `migrate`.

use std::{fs, os::unix::fs::symlink};

use robot_core::{CatalogueExt, Draft, OpenError};
use rustix::process::{Pid, Signal, kill_process};

use crate::sandbox::{Sandbox, wait, wait_until};

const COPY: &str = "copy --from sqlite://robots.db --to sqlite://copy.db";

/// The output of `sha256sum` for the list of the three robots in NDJSON, by id.
const CHECKSUM: &str = "97bb2f4fc4ab8d2316e3cf463a38cb3369d61c87fdc592a1093606ab5785c1cf";

#[test]
fn copy_keeps_robots_and_ids() {
    let sandbox = Sandbox::with_three_robots();
    // The source has used the id 4.
    let examples = r#"
        add new --type=mechanical --year=2996 -> 0 *
        delete 4 -> 0 *
        COPY/copy.db -> 0 Copied 3 robots; both have the checksum SUM.
        COPY/copy.db -> 1 ! error: the target is not empty; choose an empty one
        list --format=csv --database=sqlite://copy.db -> 0 id,name,type,year\n2,Bender,mechanical,2996\n3,HAL 9000,virtual,0\n1,R2-D2,droid,1977
        add new --type=droid --year=1 --format=csv --database=sqlite://copy.db -> 0 id,name,type,year\n5,new,droid,1
        COPY/csv.db --format csv -> 0 robots,checksum\n3,SUM
        COPY/json.db --format json -> 0 {"checksum":"SUM","robots":3}"#;
    let copy = "copy --from sqlite://robots.db --to sqlite:/";
    sandbox.examples(examples.replace("COPY", copy).replace("SUM", CHECKSUM));
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
    assert!(!sandbox.path("copy.db").exists());
    sandbox.stdout(&format!("{COPY} --ignore owner,maker"));
}

#[test]
fn copy_to_same_file_under_any_path_fails() {
    let sandbox = Sandbox::with_three_robots();
    let _in_use = sandbox.open("robots.db");
    symlink("robots.db", sandbox.path("symbolic.db")).unwrap();
    fs::hard_link(sandbox.path("robots.db"), sandbox.path("hard.db")).unwrap();
    let absolute = sandbox.path("robots.db").display().to_string();
    let names = "robots.db ./robots.db symbolic.db hard.db";
    let logs = "robots.db-wal robots.db-shm robots.db-journal";
    let refusal = "error: --from and --to are the same catalogue; choose another one for --to\n";
    for name in names
        .split(' ')
        .chain([absolute.as_str()])
        .chain(logs.split(' '))
    {
        for (from, to) in [("robots.db", name), (name, "robots.db")] {
            let copy = format!("copy --from sqlite://{from} --to sqlite://{to}");
            sandbox.fails(&copy, refusal);
        }
    }
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
    sandbox.examples(format!("{COPY} -> 0 Copied 37 robots; *"));
    assert!(sandbox.files()["robots.db"] == previous);
    assert_eq!(sandbox.names("."), ["copy.db", "robots.db"]);
}

#[test]
fn copy_reads_log_of_killed_process() {
    let (crashed, running) = (Sandbox::new(), Sandbox::with_three_robots());
    let catalogue = running.open("robots.db");
    catalogue.add(Draft::new("Marvin", "droid", 1978)).unwrap();
    for file in ["robots.db", "robots.db-wal"] {
        fs::copy(running.path(file), crashed.path(file)).unwrap();
    }
    crashed.examples(format!("{COPY} -> 0 Copied 4 robots; *"));
}

#[test]
fn source_and_target_of_a_copy_are_named() {
    let sandbox = Sandbox::new();
    let examples = r"
        COPY -> 1 ! *'robots.db'*
        copy --from sqlite://robots.db -> 2 ! *the target is missing*
        COPY --database=sqlite://other.db -> 2 ! *copy does not use --database*
        --database=sqlite://robots.db COPY -> 2 ! *copy does not use --database*";
    sandbox.examples(examples.replace("COPY", COPY));
    assert!(sandbox.files().is_empty());
    sandbox.add([]);
    let (.., status) = sandbox.run_with_url(COPY, "sqlite://other.db");
    assert_eq!(
        (status, sandbox.path("other.db").exists()),
        (Some(0), false)
    );
}

#[test]
fn interrupted_copy_reports_progress_and_remedy() {
    let sandbox = Sandbox::new();
    sandbox.add((0..60_000).map(|number| Draft::new(format!("RX-{number:06}"), "droid", 0)));
    let target = format!("sqlite://{}", sandbox.path("copy.db").display());
    let copy = sandbox.start(COPY);
    let is_incomplete = || {
        let opened = robot_core::open(&target);
        matches!(opened, Err(OpenError::IncompleteCopy(_)))
    };
    wait_until(|| sandbox.path("copy.db").exists() && is_incomplete());
    kill_process(Pid::from_child(&copy), Signal::INT).unwrap();
    let (stdout, stderr, status) = wait(copy);
    assert_eq!((stdout.as_str(), status), ("", Some(130)), "{stderr}");
    let beginning = "error: the copy was stopped after ";
    let ending = " robots; the target is incomplete. To start over, delete 'copy.db', \
                  'copy.db-wal' and 'copy.db-shm', and copy again\n";
    assert!(
        stderr.starts_with(beginning) && stderr.ends_with(ending),
        "{stderr}"
    );
    assert!(is_incomplete());
    sandbox.examples(
        r"
        check --database=sqlite://copy.db -> 1 ! *copy that is running or was stopped*
        list --database=sqlite://copy.db -> 1 ! *copy that is running or was stopped*",
    );
    for file in ["copy.db", "copy.db-wal", "copy.db-shm"] {
        let _ = fs::remove_file(sandbox.path(file));
    }
    sandbox.stdout(COPY);
}

#[test]
fn migrate_to_unknown_version_changes_nothing() {
    let sandbox = Sandbox::with_three_robots();
    let before = sandbox.files();
    sandbox.examples("migrate --to 0.1.0 --yes -> 2 ! *knows no earlier version 0.1.0*");
    assert!(sandbox.files() == before);
}
