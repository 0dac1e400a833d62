//! Table of the effective settings, with their origin, and without secrets.

use std::{fmt, iter};

/// The settings that a start of the server program uses, as a table.
///
/// ```
/// let figment = robot_rocket::figment().merge(("behaviour", "B"));
/// let table = robot_rocket::ServerSettings::read(&figment)?.table.to_string();
/// assert!(table.lines().any(|line| line.starts_with("behaviour") && line.contains(" B ")));
/// # Ok::<(), robot_rocket::SettingsError>(())
/// ```
#[derive(Debug)]
pub struct SettingsTable(pub(super) Vec<[String; 3]>);

impl fmt::Display for SettingsTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = ["setting", "value", "origin"].map(str::to_owned);
        let rows = || iter::once(&header).chain(&self.0);
        let width = |column: usize| {
            let lengths = rows().map(|row| row[column].chars().count());
            // A long value moves only its own origin.
            lengths.filter(|length| *length <= 40).max().unwrap_or(0)
        };
        let (names, values) = (width(0), width(1));
        rows().try_for_each(|[name, value, origin]| {
            writeln!(formatter, "{name:names$}  {value:values$}  {origin}")
        })
    }
}
