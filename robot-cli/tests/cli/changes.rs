//! What update changes and leaves alone, what delete removes, and ids that no robot has.

use crate::sandbox::{ADVICE, Sandbox};

#[test]
fn update_keeps_what_is_not_given() {
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
        sandbox.prints(
            &["get", "1", "--format", "csv"],
            &format!("{header}{robot}\n"),
        );
    }
}

#[test]
fn update_may_give_a_robot_what_it_has() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.prints(
        &["update", "1", "--name", "R2-D2"],
        "ID  NAME   TYPE   YEAR\n 1  R2-D2  droid  1977\n",
    );
}

#[test]
fn update_without_a_change_is_a_wrong_command_line() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.is_a_wrong_command_line(
        &["update", "1"],
        "<--name <NAME>|--type <TYPE>|--year <YEAR>>",
    );
}

#[test]
fn an_id_that_no_robot_has_is_named() {
    let sandbox = Sandbox::with_three_robots();
    for id in [
        "4",
        "0",
        "9223372036854775807",
        "9223372036854775808",
        "99999999999999999999",
    ] {
        let message = format!("error: No robot has the id {id}\n{ADVICE}");
        sandbox.fails(&["get", id], &message);
        sandbox.fails(&["get", id, "--format", "json"], &message);
        sandbox.fails(&["update", id, "--year", "1"], &message);
        sandbox.fails(&["update", id, "--year", "-1"], &message);
        sandbox.fails(&["delete", id], &message);
    }
}

#[test]
fn leading_zeros_of_an_id_count_for_nothing() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.prints(
        &["get", "0000000000000000000000001", "--format", "csv"],
        "id,name,type,year\n1,R2-D2,droid,1977\n",
    );
    sandbox.fails(
        &["get", "007"],
        &format!("error: No robot has the id 7\n{ADVICE}"),
    );
}

#[test]
fn an_id_that_is_not_digits_is_a_wrong_command_line() {
    let sandbox = Sandbox::with_three_robots();
    for id in ["x", "1x", "+1", "-1", "1.0", " 1", "", "١"] {
        let message = format!(
            "error: invalid value '{id}' for '<ID>': an id is made of the digits 0 to 9 alone"
        );
        sandbox.is_a_wrong_command_line(&["update", "--year", "1", "--", id], &message);
        sandbox.is_a_wrong_command_line(&["get", "--", id], &message);
        sandbox.is_a_wrong_command_line(
            &["delete", "1", "--", id],
            &message.replace("'<ID>'", "'<ID>...'"),
        );
    }
    sandbox.is_a_wrong_command_line(&["get", "-1"], "an id is made of the digits 0 to 9 alone");
    sandbox.prints(
        &["get", "1", "--format", "csv"],
        "id,name,type,year\n1,R2-D2,droid,1977\n",
    );
}

#[test]
fn delete_removes_several_robots() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.prints(
        &["delete", "--yes", "3", "1"],
        "Deleted robot 3.\nDeleted robot 1.\n",
    );
    sandbox.prints(
        &["list", "--format", "csv"],
        "id,name,type,year\n2,Bender,mechanical,2996\n",
    );
}

#[test]
fn delete_removes_what_it_can_and_names_the_rest() {
    let sandbox = Sandbox::with_three_robots();
    let _ = sandbox
        .run(&["delete", "1", "9", "0", "3", "1", "--yes"])
        .code(1)
        .stdout("Deleted robot 1.\nDeleted robot 3.\n")
        .stderr(format!(
            "error: No robot has the id 9\n\
             error: No robot has the id 0\n\
             error: No robot has the id 1\n\
             {ADVICE}",
        ));
    sandbox.prints(
        &["list", "--format", "csv"],
        "id,name,type,year\n2,Bender,mechanical,2996\n",
    );
}

#[test]
fn delete_names_missing_robots_in_machine_formats_too() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.fails(
        &["delete", "2", "9", "-y", "--format", "json"],
        &format!("error: No robot has the id 9\n{ADVICE}"),
    );
    sandbox.fails(
        &["get", "2"],
        &format!("error: No robot has the id 2\n{ADVICE}"),
    );
}

#[test]
fn the_id_of_a_deleted_robot_never_comes_back() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.prints(&["delete", "3"], "Deleted robot 3.\n");
    sandbox.prints(
        &[
            "add",
            "HAL 9000",
            "--type=virtual",
            "--year=0",
            "--format=csv",
        ],
        "id,name,type,year\n4,HAL 9000,virtual,0\n",
    );
}
