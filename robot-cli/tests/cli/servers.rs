//! Tests of commands on database servers.

use robot_core::{CatalogueExt, Draft, RobotId, conformance::scratch_database, transfer};

use crate::sandbox::{Sandbox, UNDO, wait_with_undo};

const SERVERS: [&str; 2] = ["TEST_POSTGRES_URL", "TEST_MYSQL_URL"];

/// Runs commands, one a line, as [`Sandbox::examples`] does, on a database.
#[track_caller]
fn examples(url: &str, lines: &str) {
    Sandbox::new().examples(lines.replace(" -> ", &format!(" --database={url} -> ")));
}

/// Asserts that a list fails with these parts of the error, on one line.
#[track_caller]
fn fails(url: &str, parts: &[&str]) {
    let stderr = Sandbox::new().reports(["list", "--database", url], 1, parts);
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(
        !stderr.contains("s%65cret") && !stderr.contains("s3cret"),
        "{stderr}"
    );
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
        examples(
            &scratch_database(server),
            r#"
            add R2-D2 --type droid --year 1977 --format csv -> 0 id,name,type,year\n1,R2-D2,droid,1977
            check -> 0 rules: ok\nnames: ok\nlast id: ok\nNo problems found: 1 robot.
            add R2-D2 --type toaster --year -1 -> 1 ! Value of field 'type' must be part of list: droid, mechanical, virtual\nThe robot name must be unique\nThe year cannot be less than zero
            update 1 --year 1980 --format ndjson -> 0 {"id":"1","name":"R2-D2","type":"droid","year":1980}
            search 2-D --format csv -> 0 id,name,type,year\n1,R2-D2,droid,1980
            add C-3PO --type droid --year 1977 -> 0 *
            update --where type=droid --yes --year 3 -> 0 Changed 2 robots.
            update --where year=3 --yes --set name=C-3PO -> 1 ! The robot name must be unique*
            history 1 -> 0 REVISION  WHEN*Z  anna  year: 1980 → 3\n*Z  anna  year: 1977 → 1980\n*Z  anna  added: name=R2-D2, type=droid, year=1977
            revert 1 --to 1 --format csv -> 0 id,name,type,year\n1,R2-D2,droid,1977
            changes -> 0 ! The last changes are printed by: *
            delete --name C-3PO -> 0 Deleted robot 2.
            delete 1 -> 0 Deleted robot 1.
            delete 1 -> 1 ! error: No robot has the id 1\nList the robots with: robot-cli list
            list --format ndjson -> 0"#,
        );
    }
}

#[test]
fn command_that_undoes_a_change_has_no_password() {
    for server in SERVERS {
        let (sandbox, url) = (Sandbox::new(), scratch_database(server));
        sandbox.write("a.csv", "name,type,year\nA,droid,1\nB,droid,2\n");
        let import = sandbox.start(["import", "a.csv", "--database", &url]);
        let (_, stderr, status) = wait_with_undo(import);
        assert_eq!(status, Some(0), "{stderr}");
        let undo = stderr.strip_prefix(UNDO).unwrap().trim_end();
        assert!(undo.ends_with(" --by anna --database URL"), "{undo}");
        let undo = undo.replace("URL", &url);
        sandbox.examples(format!(
            "{undo} --yes -> 0 Undid the changes of 2 robots: 1, 2.\nlist --database {url} -> 0 ! No robots yet*"
        ));
    }
}

#[test]
fn copy_between_all_stores_keeps_ids() {
    let sandbox = Sandbox::new();
    let file = |name: &str| format!("sqlite://{}", sandbox.path(name).display());
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
    let checksum = transfer::digest(&first).unwrap().checksum;
    let copied = format!("Copied 31 robots; both have the checksum {checksum}.\n");
    for pair in stores.windows(2) {
        let copy = ["copy", "--from", &pair[0], "--to", &pair[1]];
        sandbox.prints(copy, &copied);
        sandbox.fails(
            copy,
            "error: the target is not empty; choose an empty one\n",
        );
    }
    let last = robot_core::open(&stores[3]).unwrap();
    let [first, last] = [first, last].map(|catalogue| {
        let robots = catalogue.list().unwrap().into_iter();
        let robots = robots.map(|robot| (robot.id(), Draft::from(robot)));
        robots.collect::<Vec<_>>()
    });
    assert_eq!(first, last);
    for url in &stores[1..] {
        let next = robot_core::open(url).unwrap();
        let next = next.add(Draft::new("next", "droid", 0)).unwrap().id();
        assert!(next > newest, "{next} in {}", robot_core::redact(url));
    }
}

#[test]
fn backup_of_server_names_its_backup_tool() {
    for (server, program) in SERVERS.into_iter().zip(["pg_dump", "mariadb-dump"]) {
        let url = scratch_database(server);
        let backup = ["backup", "copy.db", "--database", &url];
        let stderr = Sandbox::new().reports(backup, 1, &["error: ", program]);
        assert!(!stderr.contains("robots@"), "{stderr}");
    }
}

#[test]
fn failed_connection_is_reported_without_password() {
    for server in SERVERS {
        let url = scratch_database(server);
        let closed = with_closed_port(&url).replace(":robots@", ":s%65cret@");
        let parts = ["error: cannot reach the database ", "; check that it runs"];
        fails(&closed, &parts);
        fails(&url.replace(":robots@", ":s3cret@"), &["; check "]);
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
        fails(url, &["percent-encoded"]);
    }
}
