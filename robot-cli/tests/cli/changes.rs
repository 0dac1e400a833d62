//! Tests of `update` and `delete`, and of ids.

use robot_core::Draft;

use crate::sandbox::{ROWS, Sandbox};

#[test]
fn update_keeps_other_fields() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.examples(
        r"
        update 1 --format csv --name R2 -> 0 id,name,type,year\n1,R2,droid,1977
        update 1 --format csv --type virtual -> 0 id,name,type,year\n1,R2,virtual,1977
        update 1 --format csv --year 1980 -> 0 id,name,type,year\n1,R2,virtual,1980
        update 1 --format csv --year=3 --name=-D2 --type=droid -> 0 id,name,type,year\n1,-D2,droid,3
        get 1 --format csv -> 0 id,name,type,year\n1,-D2,droid,3",
    );
}

/// Robots of which two have the same name.
fn with_equal_names() -> Sandbox {
    let sandbox = Sandbox::with_three_robots();
    sandbox.stdout("fields change name --unique=false");
    sandbox.stdout("add R2-D2 --type virtual --year 1983");
    sandbox
}

#[test]
fn names_and_conditions_choose_robots() {
    let sandbox = with_equal_names();
    sandbox.examples(
        r#"
        update --name Bender --set name=Flexo --format csv -> 0 id,name,type,year\n2,Flexo,mechanical,2996
        update --name flexo --year 1 -> 1 ! error: No robot has the name 'flexo'\nList the robots with: robot-cli list
        update --name R2-D2 --year 5 --yes -> 0 Changed 2 robots.
        update --words hal --year 9 --format csv -> 0 id,name,type,year\n3,HAL 9000,virtual,9
        update --where type=virtual --set year=7 -y --format json -> 0 {"changes":[{*}],"robots":2}
        update --where year=1 --type droid -> 0 ! No robot meets these conditions. List all robots with: robot-cli list
        delete --year-from 3000 -> 0 ! No robot meets these conditions. List all robots with: robot-cli list
        delete --name R2-D2 --name R2-D3 --name Flexo 2 --yes -> 1 Deleted robot 2.\nDeleted robot 1.\nDeleted robot 4. ! error: No robot has the name 'R2-D3'\nList *
        delete --containing hal --ignore-case --type virtual -> 0 Deleted 1 robot."#,
    );
    sandbox.has("");
}

#[test]
fn choice_of_robots_is_checked() {
    let sandbox = with_equal_names();
    sandbox.examples(
        r"
        update 1 -> 2 ! *the new values are missing; add options*
        update --name R2-D2 -> 2 ! *the new values are missing*
        update --year 1 -> 2 ! *no robots are chosen; give an <ID>,*
        delete -> 2 ! *no robots are chosen*
        delete --ignore-case --yes -> 2 ! *no robots are chosen*
        delete --words=ACUTE --containing=ACUTE --ignore-case --yes -> 2 ! *no robots are chosen*
        delete 1 --where type=droid -> 2 ! *ids and names exclude conditions*
        update --name a --where year=1 --year 2 -> 2 ! *exclude conditions*
        update --name R2-D2 --year 1 --if-revision 1 -> 2 ! *[ID]*
        update --name R2-D2 --year 1 -> 2 ! error: changing 2 robots needs confirmation, and there is no terminal; nothing was changed. Add --yes to confirm\n*
        delete 2 9 3 2 --format=json -> 2 ! error: deleting 2 robots needs confirmation*
        delete --year-from 0 -> 2 ! error: deleting 4 robots needs confirmation*"
            .replace("ACUTE", "\u{301}"),
    );
    assert_eq!(sandbox.count("robots.db"), 4);
}

#[test]
fn delete_of_one_robot_needs_no_confirmation() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.examples(
        r"
        delete 1 -> 0 Deleted robot 1.
        delete 2 -y -> 0 Deleted robot 2.
        delete 3 03 -> 0 Deleted robot 3.",
    );
    sandbox.has("");
}

#[test]
fn update_of_several_changes_all_or_none() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.stdout("add R5-D4 --type droid --year 1977");
    sandbox.examples(
        r"
        update --where type=droid --yes --set name=R -> 1 ! The robot name must be unique*
        update --where type=droid --yes --set name=Bender -> 1 ! The robot name must be unique*
        update --where type=droid --yes --type toaster --year -1 -> 1 ! *The year cannot be less than zero*",
    );
    sandbox.has(&format!("{ROWS}4,R5-D4,droid,1977\n"));
}

#[test]
fn changes_beyond_10_000_robots_are_complete() {
    let sandbox = Sandbox::new();
    sandbox.add((0..10_001).map(|number| Draft::new(format!("n{number}"), "droid", number)));
    sandbox.examples(
        r"
        update --where type=droid --year 3 --yes -> 0 Changed 10,001 robots.
        delete --year-to 3 --yes -> 0 Deleted 10,001 robots.
        list --count -> 0 0",
    );
}

#[test]
fn ids_that_no_robot_has_are_reported() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.examples(
        r"
        get 4 -> 1 ! error: No robot has the id 4\nList the robots with: robot-cli list
        get 0 -> 1 ! error: No robot has the id 0\n*
        update 007 --year -1 -> 1 ! error: No robot has the id 7\n*
        delete 9223372036854775808 --format json -> 1 ! error: No robot has the id 9223372036854775808\n*
        get 99999999999999999999 -> 1 ! error: No robot has the id 99999999999999999999\n*
        get 0000000000000000000000001 --format csv -> 0 id,name,type,year\n1,R2-D2,droid,1977
        get x -> 2 ! error: invalid value 'x' for '<ID>': an id consists of the digits 0 to 9\n*
        get -1 -> 2 ! *an id consists of the digits 0 to 9*
        update --year=1 -- 1.0 -> 2 ! *an id consists of the digits 0 to 9*
        delete 1 -- +1 -> 2 ! *an id consists of the digits 0 to 9*
        delete 1 9 0 3 1 --yes -> 1 Deleted robot 1.\nDeleted robot 3. ! error: No robot has the id 9\nerror: No robot has the id 0\nList the robots with: robot-cli list",
    );
    sandbox.has("2,Bender,mechanical,2996\n");
}

#[test]
fn update_with_stale_revision_changes_nothing() {
    Sandbox::with_three_robots().examples(
        r"
        update 1 --year 1980 --if-revision 1 -> 0 *
        update 1 --year 1990 --if-revision 1 -> 1 ! error: The robot 1 was changed since it was read; read it again before you change it
        update 1 --year 2000 --if-revision 4 -> 0 *
        export --format csv --fields id,year,revision -> 0 id,year,revision\n1,2000,5\n2,2996,2\n3,0,3
        update 1 --year 1 --if-revision=01 -> 2 ! *a revision is an integer from 1 to 9223372036854775807*",
    );
}

#[test]
fn violations_are_reported_in_order() {
    let sandbox = Sandbox::with_three_robots();
    let messages = "Value of field 'type' must be part of list: droid, mechanical, virtual\n\
                    The robot name must be unique\nThe year cannot be less than zero\n";
    for command in ["add Bender", "update 1 --format json --name Bender"] {
        let values = format!("{command} --type toaster --year=-5");
        sandbox.fails(&values, messages);
    }
    sandbox.fails("add Marvin", "type is required\nyear is required\n");
    sandbox.has(ROWS);
}
