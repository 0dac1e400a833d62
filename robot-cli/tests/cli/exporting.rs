//! Robots that are exported, and come back as they were.

use std::{fmt::Write as _, fs};

use robot_core::Draft;

use crate::sandbox::Sandbox;

/// The content of a file of the sandbox.
fn content(sandbox: &Sandbox, name: &str) -> String {
    fs::read_to_string(sandbox.path().join(name)).unwrap()
}

/// The names of all files but those of the catalogue.
fn files(sandbox: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(sandbox.path()).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with("robots.db"))
        .collect();
    names.sort();
    names
}

#[test]
fn standard_output_gets_ndjson_unless_another_format_is_named() {
    let sandbox = Sandbox::with_three_robots();
    let ndjson = "{\"id\":\"2\",\"name\":\"Bender\",\"type\":\"mechanical\",\"year\":2996}\n";
    sandbox.prints(&["export", "--containing", "ende"], ndjson);
    sandbox.prints(&["export", "-", "--containing=ende"], ndjson);
    for format in ["csv", "json", "ndjson"] {
        let list = sandbox.run(&["list", "--format", format]).success();
        let listed = String::from_utf8(list.get_output().stdout.clone()).unwrap();
        sandbox.prints(&["export", "--format", format], &listed);
    }
}

#[test]
fn the_fields_are_those_that_are_named_in_their_order() {
    let sandbox = Sandbox::with_three_robots();
    for (format, expected) in [
        ("csv", "year,name\n2996,Bender\n0,HAL 9000\n1977,R2-D2\n"),
        (
            "json",
            "[\n{\"year\":2996,\"name\":\"Bender\"},\n{\"year\":0,\"name\":\"HAL 9000\"},\n\
             {\"year\":1977,\"name\":\"R2-D2\"}\n]\n",
        ),
    ] {
        sandbox.prints(
            &["export", "--fields=year,name", "--format", format],
            expected,
        );
    }
}

#[test]
fn a_catalogue_that_is_not_there_is_no_empty_one() {
    let sandbox = Sandbox::new();
    sandbox.put("good.csv", "what was there before");
    let outcome = sandbox.run(&["export", "good.csv", "--database", "sqlite://typo.db"]);
    let outcome = outcome.code(1).stdout("");
    let said = String::from_utf8_lossy(&outcome.get_output().stderr);
    assert!(said.contains("typo.db"), "{said}");
    assert_eq!(files(&sandbox), ["good.csv"]);
    assert_eq!(content(&sandbox, "good.csv"), "what was there before");
}

#[test]
fn a_file_is_replaced_when_the_new_one_is_complete() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.put("robots.csv", "what was there before");
    sandbox.prints(
        &["export", "robots.csv"],
        "Exported 3 robots to robots.csv.\n",
    );
    assert_eq!(
        content(&sandbox, "robots.csv"),
        "id,name,type,year\n2,Bender,mechanical,2996\n3,HAL 9000,virtual,0\n1,R2-D2,droid,1977\n"
    );
    assert_eq!(files(&sandbox), ["robots.csv"]);
}

#[test]
fn an_export_that_fails_leaves_what_was_there_before() {
    let sandbox = Sandbox::new();
    sandbox.put(
        "robots.db",
        "this is no database, and long enough to be read as if it were one",
    );
    sandbox.put("robots.csv", "what was there before");
    let _ = sandbox.run(&["export", "robots.csv"]).code(1).stdout("");
    assert_eq!(content(&sandbox, "robots.csv"), "what was there before");
    assert_eq!(files(&sandbox), ["robots.csv"]);
}

#[test]
fn a_place_that_takes_no_file_is_told() {
    let sandbox = Sandbox::with_three_robots();
    let unchanged = "what was there before is unchanged, so make room or name another place, and \
                     run the command again\n";
    fs::create_dir(sandbox.path().join("folder.csv")).unwrap();
    sandbox.fails(
        &["export", "folder.csv"],
        &format!("error: 'folder.csv' could not be written: is a directory; {unchanged}"),
    );
    let outcome = sandbox.run(&["export", "missing/robots.csv"]).code(1);
    let said = String::from_utf8_lossy(&outcome.get_output().stderr).into_owned();
    assert!(
        said.starts_with("error: 'missing/robots.csv' could not be written: No such file"),
        "{said}"
    );
    assert!(said.ends_with(unchanged), "{said}");
}

#[cfg(unix)]
#[test]
fn a_link_and_who_may_read_stay_as_they_are() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let sandbox = Sandbox::with_three_robots();
    sandbox.put("real.csv", "what was there before");
    let real = sandbox.path().join("real.csv");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real.csv", sandbox.path().join("link.csv")).unwrap();
    let _ = sandbox.run(&["export", "link.csv"]).success();
    assert!(content(&sandbox, "real.csv").starts_with("id,name"));
    assert_eq!(
        fs::metadata(&real).unwrap().permissions().mode() & 0o777,
        0o640
    );
    assert!(
        fs::symlink_metadata(sandbox.path().join("link.csv"))
            .unwrap()
            .is_symlink()
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_written_to_as_it_is() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.prints(
        &["export", "/dev/null", "--format=csv"],
        "Exported 3 robots to /dev/null.\n",
    );
    let outcome = sandbox
        .run(&["export", "/dev/full", "--format=csv"])
        .code(1);
    let said = String::from_utf8_lossy(&outcome.get_output().stderr).into_owned();
    assert!(said.contains("No space left on device"), "{said}");
}

#[test]
fn names_come_back_byte_for_byte_by_way_of_every_format() {
    let names = [
        " x ",
        "\"",
        "a,b",
        "a\nb",
        "\r\n",
        "\u{1}\u{1b}[31m",
        "\u{feff}",
        "=1+1",
        "🤖",
        "e\u{301}",
        "-",
        "\\",
    ];
    let sandbox = Sandbox::new();
    sandbox.keep(names.map(|name| Draft::new(name, "virtual", 7)));
    let listed = |database: &str| {
        let arguments = ["export", "--fields=name,type,year", "--database", database];
        sandbox
            .run(&arguments)
            .success()
            .get_output()
            .stdout
            .clone()
    };
    for file in ["a.csv", "a.json", "a.ndjson"] {
        let database = format!("sqlite://{file}.db");
        let _ = sandbox.run(&["export", file]).success();
        sandbox.prints(
            &["import", file, "--database", &database],
            "Added 12 robots.\n",
        );
        assert!(listed(&database) == listed("sqlite://robots.db"), "{file}");
    }
}

#[test]
fn a_hundred_thousand_robots_are_imported_searched_exported_and_equal() {
    let sandbox = Sandbox::new();
    let mut file = "name,type,year\n".to_owned();
    for number in 0..100_000 {
        let kind = ["droid", "mechanical", "virtual"][number % 3];
        writeln!(file, "\"RX, \"\"{number:06}\"\"\",{kind},{number}").unwrap();
    }
    sandbox.put("robots.csv", &file);
    sandbox.prints(&["import", "robots.csv"], "Added 100,000 robots.\n");
    let mut found = "id,name,type,year\n".to_owned();
    for number in 42_420..42_430 {
        let id = number + 1;
        let kind = ["droid", "mechanical", "virtual"][number % 3];
        writeln!(found, "{id},\"RX, \"\"{number:06}\"\"\",{kind},{number}").unwrap();
    }
    sandbox.prints(&["search", "\"04242", "--format=csv"], &found);
    sandbox.prints(
        &["export", "again.csv", "--fields=name,type,year"],
        "Exported 100,000 robots to again.csv.\n",
    );
    assert!(content(&sandbox, "again.csv") == file);
}
