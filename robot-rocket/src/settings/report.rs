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

impl SettingsTable {
    /// The names of settings whose value differs from that in another table. Of secrets, only the
    /// parts that the table shows are compared.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<&str> {
        let differing = self.0.iter().filter(|row| {
            let mut others = other.0.iter();
            !others.any(|other| other[..2] == row[..2])
        });
        differing.map(|row| row[0].as_str()).collect()
    }
}

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
