//! The program over database servers: the same commands with the same output, and what it says
//! of a server that is away.

use std::time::{Duration, Instant};

use assert_cmd::{Command, assert::Assert};
use robot_core::{Catalogue, CatalogueExt, Draft, RobotId, conformance::scratch_database};

const SERVERS: [&str; 2] = ["TEST_POSTGRES_URL", "TEST_MYSQL_URL"];

fn run(database: &str, arguments: &str) -> Assert {
    Command::new(env!("CARGO_BIN_EXE_robot-cli"))
        .args(arguments.split(' '))
        .env("DATABASE_URL", database)
        .assert()
}

fn said(outcome: &Assert) -> String {
    String::from_utf8_lossy(&outcome.get_output().stderr).into_owned()
}

/// The URL of the same database, where it does not listen.
fn elsewhere(url: &str) -> String {
    let (start, rest) = url.split_once("127.0.0.1:").unwrap_or_default();
    let (_, rest) = rest.split_once('/').unwrap_or_default();
    format!("{start}127.0.0.1:1/{rest}")
}

#[test]
fn the_url_is_all_that_changes() {
    for server in SERVERS {
        let url = scratch_database(server);
        let _ = run(&url, "add R2-D2 --type droid --year 1977 --format csv")
            .success()
            .stdout("id,name,type,year\n1,R2-D2,droid,1977\n");
        let _ = run(&url, "add R2-D2 --type toaster --year -1")
            .code(1)
            .stdout("")
            .stderr(
                "Value of field 'type' must be part of list: droid, mechanical, virtual\n\
                 The robot name must be unique\nThe year cannot be less than zero\n",
            );
        let _ = run(&url, "update 1 --year 1980 --format ndjson")
            .success()
            .stdout("{\"id\":\"1\",\"name\":\"R2-D2\",\"type\":\"droid\",\"year\":1980}\n");
        let _ = run(&url, "search 2-D --format csv")
            .success()
            .stdout("id,name,type,year\n1,R2-D2,droid,1980\n");
        let _ = run(&url, "delete 1").success().stdout("Deleted robot 1.\n");
        let _ = run(&url, "delete 1").code(1).stderr(
            "error: No robot has the id 1\nSee which robots there are with: robot-cli list\n",
        );
        let _ = run(&url, "list --format ndjson").success().stdout("");
    }
}

/// The checksum of `list --format ndjson | sha256sum` is one that anybody can compute.
#[test]
fn a_catalogue_moves_from_store_to_store_and_back_with_its_ids() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| format!("sqlite://{}/{name}", folder.path().display());
    let stores = [
        file("first.db"),
        scratch_database(SERVERS[0]),
        scratch_database(SERVERS[1]),
        file("last.db"),
    ];
    let first = robot_core::open(&stores[0]).unwrap();
    for number in 0..50 {
        let name = format!("RX-{number} \u{1f916}");
        first.add(Draft::new(name, "virtual", number)).unwrap();
    }
    let newest = first.add(Draft::new("newest", "droid", 0)).unwrap().id();
    for id in (1..20).map(RobotId::new).chain([Some(newest)]) {
        first.delete(id.unwrap()).unwrap();
    }
    let digest = robot_core::digest(&first).unwrap();
    let expected = format!(
        "Copied 31 robots; both have the checksum {}.\n",
        digest.checksum
    );
    for pair in stores.windows(2) {
        let copy = |to: &str| {
            Command::new(env!("CARGO_BIN_EXE_robot-cli"))
                .args(["copy", "--from", &pair[0], "--to", to])
                .assert()
        };
        let _ = copy(&pair[1]).success().stdout(expected.clone()).stderr("");
        let said = said(&copy(&pair[1]).code(1).stdout(""));
        assert_eq!(
            said,
            "error: the target has robots already; name an empty one\n"
        );
    }
    let last = robot_core::open(&stores[3]).unwrap();
    assert_eq!(last.list().unwrap(), first.list().unwrap());
    for url in &stores[1..] {
        let next = robot_core::open(url).unwrap();
        let next = next.add(Draft::new("next", "droid", 0)).unwrap().id();
        assert!(next > newest, "{next} in {}", robot_core::redact(url));
    }
}

#[test]
fn a_server_makes_its_own_backups() {
    for (server, program) in SERVERS.into_iter().zip(["pg_dump", "mariadb-dump"]) {
        let said = said(
            &run(&scratch_database(server), "backup copy.db")
                .code(1)
                .stdout(""),
        );
        assert!(
            said.starts_with("error: only SQLite files are backed up here"),
            "{said}"
        );
        assert!(
            said.contains(program) && !said.contains("robots@"),
            "{said}"
        );
    }
}

#[test]
fn a_server_that_is_away_is_told_in_a_sentence_without_the_password() {
    for server in SERVERS {
        let url = elsewhere(&scratch_database(server)).replace(":robots@", ":s%65cret@");
        let started = Instant::now();
        let outcome = run(&url, "list").code(1).stdout("");
        let said = said(&outcome);
        assert!(
            said.starts_with("error: cannot reach the database "),
            "{said}"
        );
        assert!(
            said.ends_with("check that it runs and lets you in, and that the URL is right\n"),
            "{said}"
        );
        assert!(
            !said.contains("s%65cret") && !said.contains("secret"),
            "{said}"
        );
        assert!(started.elapsed() < Duration::from_secs(5), "{said}");
    }
}

#[test]
fn a_wrong_password_is_told_in_a_sentence_without_it() {
    for server in SERVERS {
        let url = scratch_database(server).replace(":robots@", ":s3cret@");
        let said = said(&run(&url, "list").code(1).stdout(""));
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains("lets you in"), "{said}");
        assert!(!said.contains("s3cret"), "{said}");
    }
}

#[test]
fn a_url_that_cannot_be_read_is_told_in_a_sentence_without_the_password() {
    for url in [
        "postgres://robots:s3cret%zz@127.0.0.1/robots",
        "postgres://robots:my@s3cret@127.0.0.1/robots",
        "postgres://robots:my@s3cret?robots@127.0.0.1/robots",
        "mysql://robots:my@s3cret@127.0.0.1/robots",
        "postgres://robots:s3cret@127.0.0.1:port/robots",
        "postgres://robots@127.0.0.1/robots?pasword=s3cret",
        "mysql://robots:s3cret@127.0.0.1:port/robots",
        "mysql:robots:s3cret@127.0.0.1/robots",
    ] {
        let said = said(&run(url, "list").code(1).stdout(""));
        assert!(said.contains("percent-encoded"), "{url}: {said}");
        assert!(!said.contains("s3cret"), "{url}: {said}");
    }
}
