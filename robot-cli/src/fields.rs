//! The fields of a robot on the command line: arguments of `add`, options of `update`, and the fields
//! that are printed.
//!
//! The rules about their values are in `robot-core`, so that all interfaces report violations with
//! the same messages.

use std::{fmt, str::FromStr};

use clap::Args;
use robot_core::{Draft, Field, ParseFieldsError};

/// The values of a new robot.
#[derive(Debug, Args)]
pub(crate) struct NewRobot {
    /// The name: 1 to 255 characters, unique
    name: String,

    /// The type: droid, mechanical or virtual
    #[arg(long = "type", value_name = "TYPE")]
    robot_type: String,

    /// The year: an integer, 0 or greater
    #[arg(long, allow_negative_numbers = true, value_parser = parse_year)]
    year: i64,
}

/// The new values of a robot: at least one.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct Changes {
    /// The new name; write --name=-NAME if it begins with a hyphen
    #[arg(long)]
    name: Option<String>,

    /// The new type: droid, mechanical or virtual
    #[arg(long = "type", value_name = "TYPE")]
    robot_type: Option<String>,

    /// The new year: an integer, 0 or greater
    #[arg(long, allow_negative_numbers = true, value_parser = parse_year)]
    year: Option<i64>,
}

/// The usage of `update`. The one that clap derives shows the options as alternatives.
pub(crate) const UPDATE_USAGE: &str =
    "robot-cli update [OPTIONS] [--name <NAME>] [--type <TYPE>] [--year <YEAR>] <ID>";

impl From<NewRobot> for Draft {
    fn from(robot: NewRobot) -> Self {
        Self::new(robot.name, robot.robot_type, robot.year)
    }
}

impl From<Changes> for Draft {
    fn from(changes: Changes) -> Self {
        Self {
            name: changes.name,
            robot_type: changes.robot_type,
            year: changes.year,
        }
    }
}

/// The help of `--fields`.
pub(crate) fn fields_help() -> String {
    format!(
        "Fields to print, in the given order: {}",
        Field::names(Field::ALL)
    )
}

/// A value of `--fields`.
#[derive(Debug, Clone)]
pub(crate) struct FieldList(pub(crate) Vec<Field>);

impl Default for FieldList {
    fn default() -> Self {
        Self(Field::DEFAULT.to_vec())
    }
}

impl FromStr for FieldList {
    type Err = ParseFieldsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Field::list(text).map(Self)
    }
}

impl fmt::Display for FieldList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Field::names(&self.0))
    }
}

/// Parses a year. Unlike the standard library's error, this one says what is allowed.
pub(crate) fn parse_year(text: &str) -> Result<i64, String> {
    text.parse()
        .map_err(|_| format!("a year is an integer from 0 to {}", i64::MAX))
}
