//! The rules: their messages word for word, a line each, in order, and nothing stored.

use crate::sandbox::Sandbox;

const TYPE: &str = "Value of field 'type' must be part of list: droid, mechanical, virtual\n";
const NAME: &str = "The robot name must be unique\n";
const EMPTY_NAME: &str = "name is required\n";
const LONG_NAME: &str = "The name must be at most 255 characters long\n";
const YEAR: &str = "The year cannot be less than zero\n";

/// The catalogue is what `Sandbox::with_three_robots` made it.
#[track_caller]
fn assert_unchanged(sandbox: &Sandbox) {
    sandbox.prints(
        &["list", "--format", "csv"],
        "id,name,type,year\n2,Bender,mechanical,2996\n3,HAL 9000,virtual,0\n1,R2-D2,droid,1977\n",
    );
}

#[test]
fn add_tells_each_broken_rule() {
    let sandbox = Sandbox::with_three_robots();
    let long_name = "é".repeat(256);
    for (name, robot_type, year, messages) in [
        ("Marvin", "Droid", "1", TYPE),
        ("Marvin", "", "1", TYPE),
        ("R2-D2", "droid", "1", NAME),
        ("", "droid", "1", EMPTY_NAME),
        (long_name.as_str(), "droid", "1", LONG_NAME),
        ("Marvin", "droid", "-1", YEAR),
        ("Marvin", "droid", "-9223372036854775808", YEAR),
    ] {
        sandbox.fails(
            &["add", name, "--type", robot_type, "--year", year],
            messages,
        );
    }
    assert_unchanged(&sandbox);
}

#[test]
fn add_tells_all_broken_rules_in_order() {
    let sandbox = Sandbox::with_three_robots();
    let long_name = "é".repeat(256);
    for (name, robot_type, year, messages) in [
        ("R2-D2", "toaster", "1", [TYPE, NAME].concat()),
        ("R2-D2", "droid", "-5", [NAME, YEAR].concat()),
        ("Marvin", "toaster", "-5", [TYPE, YEAR].concat()),
        ("R2-D2", "toaster", "-5", [TYPE, NAME, YEAR].concat()),
        ("", "toaster", "-5", [TYPE, EMPTY_NAME, YEAR].concat()),
        (
            &long_name,
            "toaster",
            "-5",
            [TYPE, LONG_NAME, YEAR].concat(),
        ),
    ] {
        sandbox.fails(
            &["add", name, "--type", robot_type, "--year", year],
            &messages,
        );
    }
    assert_unchanged(&sandbox);
}

#[test]
fn the_messages_are_the_same_in_every_format() {
    let sandbox = Sandbox::with_three_robots();
    for format in ["table", "json", "ndjson", "csv"] {
        sandbox.fails(
            &[
                "add", "Bender", "--type", "droid", "--year", "-1", "--format", format,
            ],
            &[NAME, YEAR].concat(),
        );
    }
}

#[test]
fn update_tells_the_broken_rules_of_what_it_would_make() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.fails(&["update", "1", "--type", "toaster"], TYPE);
    sandbox.fails(&["update", "1", "--name", "Bender"], NAME);
    sandbox.fails(&["update", "1", "--name", ""], EMPTY_NAME);
    sandbox.fails(&["update", "1", "--name", &"x".repeat(256)], LONG_NAME);
    sandbox.fails(&["update", "1", "--year=-1"], YEAR);
    sandbox.fails(
        &["update", "1", "--year", "-1", "--name=Bender", "--type=x"],
        &[TYPE, NAME, YEAR].concat(),
    );
    assert_unchanged(&sandbox);
}

#[test]
fn a_negative_year_reaches_the_rule_in_both_spellings() {
    let sandbox = Sandbox::with_three_robots();
    for year in [&["--year", "-5"][..], &["--year=-5"]] {
        sandbox.fails(
            &[&["add", "Marvin", "--type", "droid"], year].concat(),
            YEAR,
        );
        sandbox.fails(&[&["update", "1"], year].concat(), YEAR);
    }
    assert_unchanged(&sandbox);
}

#[test]
fn the_limits_themselves_are_allowed() {
    let sandbox = Sandbox::new();
    let name = "é".repeat(255);
    sandbox.prints(
        &[
            "add", &name, "--type", "virtual", "--year", "0", "--format", "csv",
        ],
        &format!("id,name,type,year\n1,{name},virtual,0\n"),
    );
}
