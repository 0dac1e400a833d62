//! Tests of all commands in all formats.

use crate::sandbox::Sandbox;

const ADD: &str = "add R2-D2 --type droid --year 1977";

fn in_format(arguments: &str, format: &str) -> String {
    format!("{arguments} --format {format}")
}

/// Id, name, type and year.
type Row = (u32, &'static str, &'static str, i64);

const R2_D2: Row = (1, "R2-D2", "droid", 1977);
const BENDER: Row = (2, "Bender", "mechanical", 2996);
const LATE: Row = (2, "Bender", "mechanical", i64::MAX);
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
    let update = "update 2 --year 9223372036854775807";
    // Numbers are exact, and aligned to the right.
    let updated = "\
ID  NAME    TYPE                       YEAR
 2  Bender  mechanical  9223372036854775807
";
    for (sandbox, arguments, table, rows) in [
        (new, ADD, one, &[R2_D2][..]),
        (three, "list", table, &[BENDER, HAL, R2_D2]),
        (three, "search ", table, &[BENDER, HAL, R2_D2]),
        (three, "search e", bender, &[BENDER]),
        (three, "get 3", hal, &[HAL]),
        (three, update, updated, &[LATE]),
    ] {
        let objects: Vec<_> = rows.iter().map(object).collect();
        let ndjson = format!("{}\n", objects.join("\n"));
        let json = if arguments.starts_with("list") || arguments.starts_with("search") {
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
        (&Sandbox::with_no_robots(), "list", empty),
        (&Sandbox::with_no_robots(), "search ", empty),
        (&sandbox, "search bender\n", none),
    ] {
        sandbox.ends(arguments, 0, "", stderr);
        sandbox.prints(&in_format(arguments, "json"), "[]\n");
        sandbox.prints(&in_format(arguments, "ndjson"), "");
        sandbox.prints(&in_format(arguments, "csv"), "id,name,type,year\n");
    }
}

#[test]
fn chosen_fields_are_printed() {
    let sandbox = Sandbox::with_three_robots();
    let _ = sandbox.run("update 1 --year 1").success();
    for (arguments, expected) in [
        (
            "get 1 --fields=revision,id,name",
            "REVISION  ID  NAME\n       2   1  R2-D2\n",
        ),
        (
            "get 1 --fields=revision --format=json",
            "{\"revision\":2}\n",
        ),
        (
            "list --limit=1 --fields=year,type",
            "YEAR  TYPE\n2996  mechanical\n",
        ),
        (
            "search R2 --fields=revision,id,name --format=csv",
            "revision,id,name\n2,1,R2-D2\n",
        ),
    ] {
        sandbox.prints(arguments, expected);
    }
    for command in ["list", "search R2", "get 1"] {
        sandbox.is_usage_error(&format!("{command} --fields=name,colour"), "colour");
    }
    sandbox.is_usage_error("list --count --fields=id", "cannot be used with");
}

#[test]
fn delete_prints_only_in_table_format() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.prints("delete 1", "Deleted robot 1.\n");
    sandbox.prints(&in_format("delete 2", "json"), "");
    sandbox.prints(&in_format("delete 3", "csv"), "");
    let _ = sandbox.run(ADD).success();
    sandbox.prints(&in_format("delete 4", "ndjson"), "");
    sandbox.prints(&in_format("list", "ndjson"), "");
}
