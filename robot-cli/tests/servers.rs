//! Tests of the executable with database servers.

use assert_cmd::{Command, assert::Assert};
use robot_core::{CatalogueExt, Draft, RobotId, conformance::scratch_database, transfer};

const SERVERS: [&str; 2] = ["TEST_POSTGRES_URL", "TEST_MYSQL_URL"];

fn run(database: &str, arguments: &str) -> Assert {
    Command::new(env!("CARGO_BIN_EXE_robot-cli"))
        .args(arguments.split(' '))
        .env("DATABASE_URL", database)
        .assert()
}

/// Asserts that a command fails without output, with these parts of the error, which it returns.
fn fails(database: &str, arguments: &str, parts: &[&str]) -> String {
    let outcome = run(database, arguments).code(1).stdout("");
    let stderr = String::from_utf8_lossy(&outcome.get_output().stderr).into_owned();
    for part in parts {
        assert!(stderr.contains(part), "{part} is not in: {stderr}");
    }
    stderr
}

/// The URL with a port on which no server listens.
fn with_closed_port(url: &str) -> String {
    let (start, rest) = url.split_once("127.0.0.1:").unwrap_or_default();
    let (_, rest) = rest.split_once('/').unwrap_or_default();
    format!("{start}127.0.0.1:1/{rest}")
}

#[test]
fn commands_work_on_servers() {
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
        let _ = run(&url, "add C-3PO --type droid --year 1977").success();
        let _ = run(&url, "update --where type=droid --yes --year 3")
            .success()
            .stdout("Changed 2 robots.\n");
        let _ = run(&url, "update --where year=3 --yes --set name=C-3PO")
            .code(1)
            .stderr("The robot name must be unique\n");
        let _ = run(&url, "delete --name C-3PO")
            .success()
            .stdout("Deleted robot 2.\n");
        let _ = run(&url, "delete 1").success().stdout("Deleted robot 1.\n");
        let _ = run(&url, "delete 1")
            .code(1)
            .stderr("error: No robot has the id 1\nList the robots with: robot-cli list\n");
        let _ = run(&url, "list --format ndjson").success().stdout("");
    }
}

#[test]
fn copy_between_all_stores_keeps_ids() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| format!("sqlite://{}/{name}", directory.path().display());
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
    let digest = transfer::digest(&first).unwrap();
    let checksum = digest.checksum;
    let expected = format!("Copied 31 robots; both have the checksum {checksum}.\n");
    for pair in stores.windows(2) {
        let copy = |to: &str| {
            Command::new(env!("CARGO_BIN_EXE_robot-cli"))
                .args(["copy", "--from", &pair[0], "--to", to])
                .assert()
        };
        let _ = copy(&pair[1]).success().stdout(expected.clone()).stderr("");
        let message = "error: the target is not empty; choose an empty one\n";
        let _ = copy(&pair[1]).code(1).stdout("").stderr(message);
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
fn check_of_server_reads_the_robots() {
    for server in SERVERS {
        let url = scratch_database(server);
        let _ = run(&url, "add R2-D2 --type droid --year 1977").success();
        let _ = run(&url, "check")
            .success()
            .stdout("rules: ok\nnames: ok\nlast id: ok\nNo problems found: 1 robot.\n");
    }
}

#[test]
fn backup_of_server_names_its_backup_tool() {
    for (server, program) in SERVERS.into_iter().zip(["pg_dump", "mariadb-dump"]) {
        let url = scratch_database(server);
        let stderr = fails(&url, "backup copy.db", &["error: ", program]);
        assert!(!stderr.contains("robots@"), "{stderr}");
    }
}

#[test]
fn failed_connection_is_reported_without_password() {
    for server in SERVERS {
        let url = with_closed_port(&scratch_database(server)).replace(":robots@", ":s%65cret@");
        let parts = ["error: cannot reach the database ", "; check that it runs"];
        let stderr = fails(&url, "list", &parts);
        assert!(!stderr.contains("s%65cret") && !stderr.contains("secret"));
        let url = scratch_database(server).replace(":robots@", ":s3cret@");
        let stderr = fails(&url, "list", &["; check "]);
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(!stderr.contains("s3cret"), "{stderr}");
    }
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
        let stderr = fails(url, "list", &["percent-encoded"]);
        assert!(!stderr.contains("s3cret"), "{url}: {stderr}");
    }
}
