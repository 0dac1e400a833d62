//! Tests of all commands in all formats.

use crate::sandbox::Sandbox;

const ADD: [&str; 6] = ["add", "R2-D2", "--type", "droid", "--year", "1977"];

fn in_format<'a>(arguments: &[&'a str], format: &'a str) -> Vec<&'a str> {
    [arguments, &["--format", format]].concat()
}

/// Id, name, type and year.
type Row = (u32, &'static str, &'static str, u32);

const R2_D2: Row = (1, "R2-D2", "droid", 1977);
const BENDER: Row = (2, "Bender", "mechanical", 2996);
const HAL: Row = (3, "HAL 9000", "virtual", 0);

fn object((id, name, kind, year): &Row) -> String {
    format!(r#"{{"id":"{id}","name":"{name}","type":"{kind}","year":{year}}}"#)
}

fn line((id, name, kind, year): &Row) -> String {
    format!("{id},{name},{kind},{year}\n")
}

#[test]
fn robots_are_printed_in_each_format() {
    let new: fn() -> Sandbox = Sandbox::new;
    let three: fn() -> Sandbox = Sandbox::with_three_robots;
    let table = "\
ID  NAME      TYPE        YEAR
 2  Bender    mechanical  2996
 3  HAL 9000  virtual        0
 1  R2-D2     droid       1977
";
    let one = "ID  NAME   TYPE   YEAR\n 1  R2-D2  droid  1977\n";
    let bender = "ID  NAME    TYPE        YEAR\n 2  Bender  mechanical  2996\n";
    let hal = "ID  NAME      TYPE     YEAR\n 3  HAL 9000  virtual     0\n";
    let update = ["update", "1", "--year", "1"];
    let updated = "ID  NAME   TYPE   YEAR\n 1  R2-D2  droid     1\n";
    for (sandbox, arguments, table, rows) in [
        (new, &ADD[..], one, &[R2_D2][..]),
        (three, &["list"], table, &[BENDER, HAL, R2_D2]),
        (three, &["search", ""], table, &[BENDER, HAL, R2_D2]),
        (three, &["search", "e"], bender, &[BENDER]),
        (three, &["get", "3"], hal, &[HAL]),
        (three, &update, updated, &[(1, "R2-D2", "droid", 1)]),
    ] {
        let objects: Vec<_> = rows.iter().map(object).collect();
        let ndjson = format!("{}\n", objects.join("\n"));
        let json = if ["list", "search"].contains(&arguments[0]) {
            format!("[\n{}\n]\n", objects.join(",\n"))
        } else {
            ndjson.clone()
        };
        let lines: String = rows.iter().map(line).collect();
        sandbox().prints(arguments, table);
        for (format, expected) in [
            ("table", table),
            ("json", &json),
            ("ndjson", &ndjson),
            ("csv", &format!("id,name,type,year\n{lines}")),
        ] {
            sandbox().prints(&in_format(arguments, format), expected);
        }
    }
}

#[test]
fn list_and_search_without_result_succeed() {
    let sandbox = Sandbox::with_three_robots();
    let empty = "No robots yet. Add one with: robot-cli add R2-D2 --type droid --year 1977\n";
    let none = "No robot has 'bender\\n' in its name (the search is case-sensitive \
                without --ignore-case). List all robots with: robot-cli list\n";
    for (sandbox, arguments, stderr) in [
        (&Sandbox::with_no_robots(), &["list"][..], empty),
        (&Sandbox::with_no_robots(), &["search", ""], empty),
        (&sandbox, &["search", "bender\n"], none),
    ] {
        let _ = sandbox.run(arguments).success().stdout("").stderr(stderr);
        sandbox.prints(&in_format(arguments, "json"), "[]\n");
        sandbox.prints(&in_format(arguments, "ndjson"), "");
        sandbox.prints(&in_format(arguments, "csv"), "id,name,type,year\n");
    }
}

#[test]
fn chosen_fields_are_printed() {
    let sandbox = Sandbox::with_three_robots();
    let _ = sandbox.run("update 1 --year 1").success();
    let fields = "--fields=revision,id,name";
    sandbox.prints(
        &["get", "1", fields],
        "REVISION  ID  NAME\n       2   1  R2-D2\n",
    );
    sandbox.prints(
        "get 1 --fields=revision --format=json",
        "{\"revision\":2}\n",
    );
    sandbox.prints(
        "list --limit=1 --fields=year,type",
        "YEAR  TYPE\n2996  mechanical\n",
    );
    sandbox.prints(
        &["search", "R2", fields, "--format=csv"],
        "revision,id,name\n2,1,R2-D2\n",
    );
    for arguments in [&["list"][..], &["search", "R2"], &["get", "1"]] {
        let arguments = [arguments, &["--fields=name,colour"]].concat();
        sandbox.is_usage_error(&arguments, "colour");
    }
    sandbox.is_usage_error(&["list", "--count", fields], "cannot be used with");
}

#[test]
fn delete_prints_only_in_table_format() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.prints("delete 1", "Deleted robot 1.\n");
    sandbox.prints(&in_format(&["delete", "2"], "json"), "");
    sandbox.prints(&in_format(&["delete", "3"], "csv"), "");
    let _ = sandbox.run(&ADD).success();
    sandbox.prints(&in_format(&["delete", "4"], "ndjson"), "");
    sandbox.prints(&in_format(&["list"], "ndjson"), "");
}

#[test]
fn max_year_is_exact_and_numbers_are_right_aligned() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.prints(
        "update 2 --year 9223372036854775807 --format=ndjson",
        "{\"id\":\"2\",\"name\":\"Bender\",\"type\":\"mechanical\",\"year\":9223372036854775807}\n",
    );
    sandbox.prints(
        "list",
        "\
ID  NAME      TYPE                       YEAR
 2  Bender    mechanical  9223372036854775807
 3  HAL 9000  virtual                       0
 1  R2-D2     droid                      1977
",
    );
}

#[test]
fn list_of_several_pages_is_complete_and_sorted() {
    let sandbox = Sandbox::new();
    sandbox.add((0..2500).map(|n| robot_core::Draft::new(format!("RX-{n:04}"), "virtual", n)));
    let lines = |line: fn(usize) -> String, separator: &str| {
        (0..2500).map(line).collect::<Vec<_>>().join(separator)
    };
    let object = |n| {
        format!(
            r#"{{"id":"{}","name":"RX-{n:04}","type":"virtual","year":{n}}}"#,
            n + 1
        )
    };
    let table = lines(
        |n| format!("{:>4}  RX-{n:04}  virtual  {n:>4}\n", n + 1),
        "",
    );
    let csv = lines(|n| format!("{},RX-{n:04},virtual,{n}\n", n + 1), "");
    sandbox.prints("list", &format!("  ID  NAME     TYPE     YEAR\n{table}"));
    sandbox.prints(
        &in_format(&["list"], "csv"),
        &format!("id,name,type,year\n{csv}"),
    );
    sandbox.prints(
        &in_format(&["list"], "ndjson"),
        &format!("{}\n", lines(object, "\n")),
    );
    sandbox.prints(
        &in_format(&["search", "RX"], "json"),
        &format!("[\n{}\n]\n", lines(object, ",\n")),
    );
}
