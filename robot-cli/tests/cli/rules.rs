//! Tests of rule violations: exact messages in order, and no change.

use crate::sandbox::Sandbox;

const TYPE: &str = "Value of field 'type' must be part of list: droid, mechanical, virtual\n";
const NAME: &str = "The robot name must be unique\n";
const EMPTY_NAME: &str = "name is required\n";
const LONG_NAME: &str = "The name must be at most 255 characters long\n";
const YEAR: &str = "The year cannot be less than zero\n";

/// Asserts that the catalogue is still that of `Sandbox::with_three_robots`.
#[track_caller]
fn assert_unchanged(sandbox: &Sandbox) {
    sandbox.has("2,Bender,mechanical,2996\n3,HAL 9000,virtual,0\n1,R2-D2,droid,1977\n");
}

#[test]
fn add_reports_each_violation() {
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
fn add_reports_all_violations_in_order() {
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
fn violations_are_the_same_in_every_format() {
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
fn update_reports_violations() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.fails("update 1 --type toaster", TYPE);
    sandbox.fails("update 1 --name Bender", NAME);
    sandbox.fails(&["update", "1", "--name", ""], EMPTY_NAME);
    sandbox.fails(&["update", "1", "--name", &"x".repeat(256)], LONG_NAME);
    sandbox.fails("update 1 --year=-1", YEAR);
    sandbox.fails(
        "update 1 --year -1 --name=Bender --type=x",
        &[TYPE, NAME, YEAR].concat(),
    );
    assert_unchanged(&sandbox);
}

#[test]
fn negative_year_is_a_violation() {
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
fn longest_name_and_year_zero_are_valid() {
    let sandbox = Sandbox::new();
    let name = "é".repeat(255);
    sandbox.prints(
        &[
            "add", &name, "--type", "virtual", "--year", "0", "--format", "csv",
        ],
        &format!("id,name,type,year\n1,{name},virtual,0\n"),
    );
}
