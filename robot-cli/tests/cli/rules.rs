//! Tests of rule violations: exact messages in order, and no change.

use crate::sandbox::Sandbox;

const TYPE: &str = "Value of field 'type' must be part of list: droid, mechanical, virtual\n";
const NAME: &str = "The robot name must be unique\n";
const EMPTY_NAME: &str = "name is required\n";
const LONG_NAME: &str = "The name must be at most 255 characters long\n";
const YEAR: &str = "The year cannot be less than zero\n";

#[test]
fn violations_are_reported_in_order() {
    let sandbox = Sandbox::with_three_robots();
    let long_name = "é".repeat(256);
    for (name, robot_type, year, messages) in [
        ("Marvin", "Droid", "1", &[TYPE][..]),
        ("Marvin", "", "1", &[TYPE]),
        ("Bender", "droid", "1", &[NAME]),
        ("", "droid", "1", &[EMPTY_NAME]),
        (&long_name, "droid", "1", &[LONG_NAME]),
        ("Marvin", "droid", "-1", &[YEAR]),
        ("Marvin", "droid", "-9223372036854775808", &[YEAR]),
        ("Bender", "toaster", "-5", &[TYPE, NAME, YEAR]),
        ("", "toaster", "-5", &[TYPE, EMPTY_NAME, YEAR]),
    ] {
        let (messages, year) = (messages.concat(), format!("--year={year}"));
        let values = ["--type", robot_type, &year];
        sandbox.fails(&[&["add", name], &values[..]].concat(), &messages);
        let update = ["update", "1", "--name", name];
        sandbox.fails(&[&update, &values[..]].concat(), &messages);
    }
    sandbox.fails("add Marvin --year 1", "type is required\n");
    sandbox.fails("add Marvin", "type is required\nyear is required\n");
    sandbox.fails("update 1 --type toaster", TYPE);
    sandbox.fails("update 1 --year -5", YEAR);
    for format in ["table", "json", "ndjson", "csv"] {
        let add = format!("add Bender --type droid --year -1 --format {format}");
        sandbox.fails(&add, &[NAME, YEAR].concat());
    }
    sandbox.has("2,Bender,mechanical,2996\n3,HAL 9000,virtual,0\n1,R2-D2,droid,1977\n");
}

#[test]
fn longest_name_and_year_zero_are_valid() {
    let sandbox = Sandbox::new();
    let name = "é".repeat(255);
    sandbox.prints(
        &format!("add {name} --type virtual --year 0 --format csv"),
        &format!("id,name,type,year\n1,{name},virtual,0\n"),
    );
}
