//! Tests of `update` and `delete`, and of ids.

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
    let missing = "<--name <NAME>|--type <TYPE>|--year <YEAR>|--set <FIELD=VALUE>|--unset <FIELD>>";
    sandbox.is_usage_error("update 1", missing);
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
        "id,year,revision\n2,2996,1\n3,0,1\n1,2000,3\n",
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
    let missing = ["9", "0", "1"].map(|id| format!("error: No robot has the id {id}\n"));
    sandbox.ends(
        "delete 1 9 0 3 1 --yes",
        1,
        "Deleted robot 1.\nDeleted robot 3.\n",
        &format!("{}{HINT}", missing.concat()),
    );
    sandbox.has("2,Bender,mechanical,2996\n");
}
