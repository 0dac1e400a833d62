//! A catalogue is copied to another one.

use std::{
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use robot_core::{Catalogue, CatalogueExt, Draft};

use crate::sandbox::Sandbox;

const COPY: [&str; 5] = [
    "copy",
    "--from",
    "sqlite://robots.db",
    "--to",
    "sqlite://copy.db",
];

/// What `sha256sum` has for the list of Bender, HAL 9000 and R2-D2, an object a line.
const CHECKSUM: &str = "8f94c6c3b9cd1f5e5b0bf65e361ff7fd23e783aacebcac568d310f10ff832f75";

#[test]
fn a_copy_has_the_same_robots_with_the_same_ids() {
    let sandbox = Sandbox::with_three_robots();
    let _ = sandbox.run(&["delete", "2"]).success();
    let _ = sandbox
        .run(&["add", "Bender", "--type=mechanical", "--year=2996"])
        .success();
    let _ = sandbox.run(&["delete", "4"]).success();
    let outcome = sandbox.run(&COPY).success().stderr("");
    let printed = String::from_utf8_lossy(&outcome.get_output().stdout);
    assert!(
        printed.starts_with("Copied 2 robots; both have the checksum "),
        "{printed}"
    );
    sandbox.prints(
        &["list", "--database=sqlite://copy.db", "--format=csv"],
        "id,name,type,year\n3,HAL 9000,virtual,0\n1,R2-D2,droid,1977\n",
    );
    // The id 4 was given in the first.
    let add = ["add", "new", "--type=droid", "--year=1", "--format=csv"];
    let add = [&add[..], &["--database=sqlite://copy.db"]].concat();
    sandbox.prints(&add, "id,name,type,year\n5,new,droid,1\n");
}

#[test]
fn the_checksum_is_that_of_the_list() {
    let sandbox = Sandbox::with_three_robots();
    let expected = format!("Copied 3 robots; both have the checksum {CHECKSUM}.\n");
    sandbox.prints(&COPY, &expected);
    let again = |name: &str, format: &str| {
        let to = format!("sqlite://{name}");
        let arguments = [&COPY[..4], &[to.as_str(), "--format", format]].concat();
        let outcome = sandbox.run(&arguments).success().stderr("");
        String::from_utf8_lossy(&outcome.get_output().stdout).into_owned()
    };
    let csv = format!("robots,checksum\n3,{CHECKSUM}\n");
    assert_eq!(again("a.db", "csv"), csv);
    let json = format!("{{\"checksum\":\"{CHECKSUM}\",\"robots\":3}}\n");
    assert_eq!(again("b.db", "json"), json);
}

#[test]
fn a_target_that_is_not_empty_is_refused_and_left_as_it_is() {
    let sandbox = Sandbox::with_three_robots();
    let _ = sandbox.run(&COPY).success();
    let _ = sandbox
        .run(&["delete", "--yes", "1", "2", "--database=sqlite://copy.db"])
        .success();
    sandbox.fails(
        &COPY,
        "error: the target has robots already; name an empty one\n",
    );
    sandbox.prints(
        &["list", "--database=sqlite://copy.db", "--format=csv"],
        "id,name,type,year\n3,HAL 9000,virtual,0\n",
    );
}

#[test]
fn a_catalogue_is_not_copied_onto_itself_by_any_name() {
    const REFUSAL: &str =
        "error: both URLs are of the same catalogue; name another one to copy to\n";
    let sandbox = Sandbox::with_three_robots();
    let absolute = format!("sqlite://{}/robots.db", sandbox.path().display());
    let mut names = vec![
        "sqlite://robots.db",
        "sqlite://./robots.db",
        absolute.as_str(),
    ];
    #[cfg(unix)]
    {
        let link = |name: &str| sandbox.path().join(name);
        std::os::unix::fs::symlink("robots.db", link("symbolic.db")).unwrap();
        std::fs::hard_link(link("robots.db"), link("hard.db")).unwrap();
        names.extend(["sqlite://symbolic.db", "sqlite://hard.db"]);
    }
    for name in names {
        sandbox.fails(
            &["copy", "--from", "sqlite://robots.db", "--to", name],
            REFUSAL,
        );
        sandbox.fails(
            &["copy", "--from", name, "--to", "sqlite://robots.db"],
            REFUSAL,
        );
    }
}

#[test]
fn a_source_that_is_not_there_is_told_and_nothing_is_created() {
    let sandbox = Sandbox::new();
    sandbox.fails(
        &COPY,
        "error: there is no database 'robots.db'; check its path\n",
    );
    assert_eq!(sandbox.path().read_dir().unwrap().count(), 0);
}

#[test]
fn the_environment_does_not_matter_and_the_option_is_refused() {
    let sandbox = Sandbox::with_three_robots();
    let mut command = sandbox.command(COPY);
    command.env("DATABASE_URL", "sqlite://other.db");
    let _ = assert_cmd::Command::from_std(command).assert().success();
    assert!(!sandbox.path().join("other.db").exists());
    for arguments in [
        [&COPY[..], &["--database=sqlite://other.db"]].concat(),
        [&["--database=sqlite://robots.db"], &COPY[..]].concat(),
    ] {
        sandbox.is_a_wrong_command_line(&arguments, "copy does not use --database");
    }
}

#[test]
fn memory_is_no_place_to_copy_from_or_to() {
    let sandbox = Sandbox::new();
    for arguments in [
        ["copy", "--from", "memory:", "--to", "sqlite://copy.db"],
        ["copy", "--from", "sqlite://robots.db", "--to", "memory:"],
    ] {
        sandbox.is_a_wrong_command_line(&arguments, "gone at the end");
    }
    sandbox.is_a_wrong_command_line(&["copy", "--from", "sqlite://robots.db"], "--to <URL>");
    assert_eq!(sandbox.path().read_dir().unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_copy_which_says_how_far_it_got_and_how_to_start_over() {
    const ROBOTS: i64 = 60_000;
    let sandbox = Sandbox::new();
    let url = |name: &str| format!("sqlite://{}/{name}", sandbox.path().display());
    let source = robot_core::open(&url("robots.db")).unwrap();
    let drafts = (0..ROBOTS).map(|number| Draft::new(format!("RX-{number:06}"), "droid", 0));
    for outcome in robot_core::load(source, drafts) {
        let _ = outcome.unwrap();
    }
    let mut command = sandbox.command(COPY);
    let copy = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while !robot_core::OpenOptions::new()
        .existing()
        .open(&url("copy.db"))
        .is_ok_and(|target| target.last_id().unwrap().is_some())
    {
        assert!(started.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(5));
    }
    let kill = Command::new("kill")
        .arg("-INT")
        .arg(copy.id().to_string())
        .status();
    assert!(kill.unwrap().success());
    let outcome = copy.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&outcome.stderr);
    assert_eq!(outcome.status.code(), Some(130), "{said}");
    assert!(outcome.stdout.is_empty());
    let beginning = "error: the copy was broken off when ";
    let ending = " robots were copied; the target is incomplete: to start over, delete 'copy.db' and \
                  what is beside it, 'copy.db-wal' and 'copy.db-shm', and copy again\n";
    let copied = said
        .strip_prefix(beginning)
        .and_then(|said| said.strip_suffix(ending));
    let copied: u64 = copied
        .unwrap_or_else(|| panic!("{said}"))
        .replace(',', "")
        .parse()
        .unwrap();
    let target = robot_core::open(&url("copy.db")).unwrap();
    assert_eq!(robot_core::digest(&target).unwrap().robots, copied);
}
