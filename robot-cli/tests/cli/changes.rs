//! Tests of `update` and `delete`, and of ids.

use crate::sandbox::{HINT, Sandbox};

#[test]
fn update_keeps_other_fields() {
    let sandbox = Sandbox::with_three_robots();
    for (change, robot) in [
        (&["--name", "R2"][..], "1,R2,droid,1977"),
        (&["--type", "virtual"], "1,R2,virtual,1977"),
        (&["--year", "1980"], "1,R2,virtual,1980"),
        (&["--year=3", "--name=-D2", "--type=droid"], "1,-D2,droid,3"),
    ] {
        let header = "id,name,type,year\n";
        sandbox.prints(
            &[&["update", "1", "--format", "csv"], change].concat(),
            &format!("{header}{robot}\n"),
        );
        sandbox.prints("get 1 --format csv", &format!("{header}{robot}\n"));
    }
}

#[test]
fn update_without_options_is_usage_error() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.is_usage_error("update 1", "<--name <NAME>|--type <TYPE>|--year <YEAR>>");
}

#[test]
fn missing_id_is_reported() {
    let sandbox = Sandbox::with_three_robots();
    for id in [
        "4",
        "0",
        "9223372036854775807",
        "9223372036854775808",
        "99999999999999999999",
    ] {
        let message = format!("error: No robot has the id {id}\n{HINT}");
        sandbox.fails(&["get", id], &message);
        sandbox.fails(&["get", id, "--format", "json"], &message);
        sandbox.fails(&["update", id, "--year", "1"], &message);
        sandbox.fails(&["update", id, "--year", "-1"], &message);
        sandbox.fails(&["delete", id], &message);
        sandbox.fails(&["delete", id, "--format", "json"], &message);
    }
}

#[test]
fn leading_zeros_of_id_are_ignored() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.prints(
        "get 0000000000000000000000001 --format csv",
        "id,name,type,year\n1,R2-D2,droid,1977\n",
    );
    sandbox.fails("get 007", &format!("error: No robot has the id 7\n{HINT}"));
}

#[test]
fn update_with_stale_revision_changes_nothing() {
    let sandbox = Sandbox::with_three_robots();
    let update = |year, revision| {
        let arguments = ["update", "1", "--year", year, "--if-revision", revision];
        sandbox.run(&arguments)
    };
    let _ = update("1980", "1").success();
    let _ = update("1990", "1").code(1).stdout("").stderr(
        "error: The robot 1 was changed since it was read; read it again before you change it\n",
    );
    let _ = update("2000", "2").success();
    let export = ["export", "--format", "csv", "--fields", "id,year,revision"];
    let _ = sandbox
        .run(&export)
        .stdout("id,year,revision\n2,2996,1\n3,0,1\n1,2000,3\n");
    for revision in ["0", "-1", "x", "01", ""] {
        sandbox.is_usage_error(
            &[
                "update",
                "1",
                "--year",
                "1",
                &format!("--if-revision={revision}"),
            ],
            "a revision is an integer from 1 to 9223372036854775807",
        );
    }
}

#[test]
fn id_with_other_characters_is_usage_error() {
    let sandbox = Sandbox::with_three_robots();
    for id in ["x", "1x", "+1", "-1", "1.0", " 1", "", "١"] {
        let message =
            format!("error: invalid value '{id}' for '<ID>': an id consists of the digits 0 to 9");
        sandbox.is_usage_error(&["update", "--year", "1", "--", id], &message);
        sandbox.is_usage_error(&["get", "--", id], &message);
        sandbox.is_usage_error(
            &["delete", "1", "--", id],
            &message.replace("'<ID>'", "'<ID>...'"),
        );
    }
    sandbox.is_usage_error("get -1", "an id consists of the digits 0 to 9");
    sandbox.prints(
        "get 1 --format csv",
        "id,name,type,year\n1,R2-D2,droid,1977\n",
    );
}

#[test]
fn delete_reports_missing_ids_and_deletes_the_rest() {
    let sandbox = Sandbox::with_three_robots();
    let _ = sandbox
        .run("delete 1 9 0 3 1 --yes")
        .code(1)
        .stdout("Deleted robot 1.\nDeleted robot 3.\n")
        .stderr(format!(
            "error: No robot has the id 9\n\
             error: No robot has the id 0\n\
             error: No robot has the id 1\n\
             {HINT}",
        ));
    sandbox.has("2,Bender,mechanical,2996\n");
}
