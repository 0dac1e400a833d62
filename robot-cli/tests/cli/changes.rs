//! Tests of `update` and `delete`, and of ids.

use robot_core::Draft;

use crate::sandbox::{HINT, Sandbox};

#[test]
fn update_keeps_other_fields() {
    let sandbox = Sandbox::with_three_robots();
    for (change, robot) in [
        ("--name R2", "1,R2,droid,1977"),
        ("--type virtual", "1,R2,virtual,1977"),
        ("--year 1980", "1,R2,virtual,1980"),
        ("--year=3 --name=-D2 --type=droid", "1,-D2,droid,3"),
    ] {
        let rows = format!("id,name,type,year\n{robot}\n");
        sandbox.prints(&format!("update 1 --format csv {change}"), &rows);
        sandbox.prints("get 1 --format csv", &rows);
    }
}

/// Robots of which two have the same name.
fn sandbox_with_equal_names() -> Sandbox {
    let sandbox = Sandbox::with_three_robots();
    sandbox.stdout("fields change name --unique=false");
    sandbox.stdout("add R2-D2 --type virtual --year 1983");
    sandbox
}

#[test]
fn names_and_conditions_choose_robots() {
    let no_match = "No robot meets these conditions. List all robots with: robot-cli list\n";
    let no_name = |name| format!("error: No robot has the name '{name}'\n{HINT}");
    let sandbox = sandbox_with_equal_names();
    for (arguments, status, stdout, stderr) in [
        (
            "update --name Bender --set name=Flexo --format csv",
            0,
            "id,name,type,year\n2,Flexo,mechanical,2996\n",
            String::new(),
        ),
        ("update --name flexo --year 1", 1, "", no_name("flexo")),
        (
            "update --name R2-D2 --year 5 --yes",
            0,
            "Changed 2 robots.\n",
            String::new(),
        ),
        (
            "update --words hal --year 9 --format csv",
            0,
            "id,name,type,year\n3,HAL 9000,virtual,9\n",
            String::new(),
        ),
        (
            "update --where type=virtual --set year=7 -y --format json",
            0,
            "{\"robots\":2}\n",
            String::new(),
        ),
        (
            "update --where year=1 --type droid",
            0,
            "",
            no_match.to_owned(),
        ),
        ("delete --year-from 3000", 0, "", no_match.to_owned()),
        (
            "delete --name R2-D2 --name R2-D3 --name Flexo 2 --yes",
            1,
            "Deleted robot 2.\nDeleted robot 1.\nDeleted robot 4.\n",
            no_name("R2-D3"),
        ),
        (
            "delete --containing hal --ignore-case --type virtual",
            0,
            "Deleted 1 robot.\n",
            String::new(),
        ),
    ] {
        sandbox.ends(arguments, status, stdout, &stderr);
    }
    sandbox.has("");
}

#[test]
fn choice_of_robots_is_checked() {
    let sandbox = sandbox_with_equal_names();
    for (arguments, message) in [
        ("update 1", "the new values are missing; add options"),
        ("update --name R2-D2", "the new values are missing"),
        ("update --year 1", "no robots are chosen; give an <ID>,"),
        ("delete", "no robots are chosen"),
        ("delete --ignore-case --yes", "no robots are chosen"),
        (
            "delete --words=\u{301} --containing=\u{301} --ignore-case --yes",
            "no robots are chosen",
        ),
        (
            "delete 1 --where type=droid",
            "ids and names exclude conditions",
        ),
        (
            "update --name a --where year=1 --year 2",
            "exclude conditions",
        ),
        ("update --name R2-D2 --year 1 --if-revision 1", "[ID]"),
        (
            "update --name R2-D2 --year 1",
            "changing 2 robots needs confirmation, and there is no terminal; nothing was changed. Add \
             --yes to confirm\n",
        ),
        (
            "delete --year-from 0",
            "deleting 4 robots needs confirmation",
        ),
    ] {
        sandbox.is_usage_error(arguments, message);
    }
    sandbox.has("2,Bender,mechanical,2996\n3,HAL 9000,virtual,0\n1,R2-D2,droid,1977\n4,R2-D2,virtual,1983\n");
}

#[test]
fn update_of_several_changes_all_or_none() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.stdout("add R5-D4 --type droid --year 1977");
    let rows =
        "2,Bender,mechanical,2996\n3,HAL 9000,virtual,0\n1,R2-D2,droid,1977\n4,R5-D4,droid,1977\n";
    for (change, message) in [
        ("--set name=R", "The robot name must be unique\n"),
        ("--set name=Bender", "The robot name must be unique\n"),
        (
            "--type toaster --year -1",
            "The year cannot be less than zero\n",
        ),
    ] {
        let arguments = format!("update --where type=droid --yes {change}");
        sandbox.reports(&arguments, 1, &[message]);
        sandbox.has(rows);
    }
}

#[test]
fn changes_beyond_10_000_robots_are_complete() {
    let sandbox = Sandbox::new();
    sandbox.add((0..10_001).map(|number| Draft::new(format!("n{number}"), "droid", number)));
    sandbox.prints(
        "update --where type=droid --year 3 --yes",
        "Changed 10,001 robots.\n",
    );
    let deleted = sandbox.stdout("delete --year-to 3 --yes");
    assert_eq!(deleted, "Deleted 10,001 robots.\n");
    sandbox.prints("list --count", "0\n");
}

#[test]
fn missing_id_is_reported() {
    let sandbox = Sandbox::with_three_robots();
    for (id, shown) in [
        ("4", "4"),
        ("0", "0"),
        ("007", "7"),
        ("9223372036854775808", "9223372036854775808"),
        ("99999999999999999999", "99999999999999999999"),
    ] {
        let message = format!("error: No robot has the id {shown}\n{HINT}");
        for command in ["get ID", "update ID --year -1", "delete ID --format json"] {
            sandbox.fails(&command.replace("ID", id), &message);
        }
    }
    sandbox.prints(
        "get 0000000000000000000000001 --format csv",
        "id,name,type,year\n1,R2-D2,droid,1977\n",
    );
}

#[test]
fn update_with_stale_revision_changes_nothing() {
    let sandbox = Sandbox::with_three_robots();
    let _ = sandbox
        .run("update 1 --year 1980 --if-revision 1")
        .success();
    sandbox.fails(
        "update 1 --year 1990 --if-revision 1",
        "error: The robot 1 was changed since it was read; read it again before you change it\n",
    );
    let _ = sandbox
        .run("update 1 --year 2000 --if-revision 2")
        .success();
    sandbox.prints(
        "export --format csv --fields id,year,revision",
        "id,year,revision\n1,2000,3\n2,2996,1\n3,0,1\n",
    );
    for revision in ["0", "-1", "x", "01", ""] {
        sandbox.is_usage_error(
            &format!("update 1 --year 1 --if-revision={revision}"),
            "a revision is an integer from 1 to 9223372036854775807",
        );
    }
}

#[test]
fn id_with_other_characters_is_usage_error() {
    let sandbox = Sandbox::with_three_robots();
    for id in ["x", "1x", "+1", "-1", "1.0", " 1", "", "١"] {
        let message = format!("error: invalid value '{id}' for '");
        for command in [&["update", "--year=1"][..], &["get"], &["delete", "1"]] {
            let arguments = [command, &["--", id]].concat();
            let parts = [&message, "an id consists of the digits 0 to 9"];
            sandbox.reports(&arguments, 2, &parts);
        }
    }
    sandbox.is_usage_error("get -1", "an id consists of the digits 0 to 9");
}

#[test]
fn delete_reports_missing_ids_and_deletes_the_rest() {
    let sandbox = Sandbox::with_three_robots();
    let missing = ["9", "0"].map(|id| format!("error: No robot has the id {id}\n"));
    sandbox.ends(
        "delete 1 9 0 3 1 --yes",
        1,
        "Deleted robot 1.\nDeleted robot 3.\n",
        &format!("{}{HINT}", missing.concat()),
    );
    sandbox.has("2,Bender,mechanical,2996\n");
}

#[test]
fn violations_are_reported_in_order() {
    let sandbox = Sandbox::with_three_robots();
    let messages = "Value of field 'type' must be part of list: droid, mechanical, virtual\n\
                    The robot name must be unique\nThe year cannot be less than zero\n";
    for command in ["add", "update 1 --name"] {
        for format in ["table", "json", "ndjson", "csv"] {
            let values = format!("--type toaster --year=-5 --format {format}");
            sandbox.fails(&format!("{command} Bender {values}"), messages);
        }
    }
    sandbox.fails("add Marvin", "type is required\nyear is required\n");
    sandbox.has("2,Bender,mechanical,2996\n3,HAL 9000,virtual,0\n1,R2-D2,droid,1977\n");
}
