//! Aligned columns for people.
//!
//! The widths come from the robots themselves, but a catalogue may be too large to be looked
//! through before its first line is shown. So each page is laid out when it arrives, with
//! columns that fit it and are never narrower than those of the page before.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use robot_core::Robot;
use unicode_width::UnicodeWidthStr;

use crate::printable::printable;

const HEADER: Row<'static> = Row {
    id: Cow::Borrowed("ID"),
    name: Cow::Borrowed("NAME"),
    robot_type: "TYPE",
    year: Cow::Borrowed("YEAR"),
};

/// A table that has been printed so far.
#[derive(Default)]
pub(crate) struct Table {
    /// None before the first page.
    widths: Option<Widths>,
}

impl Table {
    /// Prints some robots, below those of the pages before.
    pub(crate) fn print(&mut self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()> {
        let rows: Vec<_> = robots.iter().map(Row::of).collect();
        let before = self.widths.unwrap_or_else(|| Widths::of(&HEADER));
        let widths = rows.iter().map(Widths::of).fold(before, Widths::at_least);
        if self.widths.replace(widths).is_none() {
            HEADER.print(widths, output)?;
        }
        rows.iter().try_for_each(|row| row.print(widths, output))
    }
}

/// The cells of a row, as they are shown.
struct Row<'a> {
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    robot_type: &'a str,
    year: Cow<'a, str>,
}

impl<'a> Row<'a> {
    fn of(robot: &'a Robot) -> Self {
        Self {
            id: robot.id().to_string().into(),
            name: printable(robot.name()),
            robot_type: robot.robot_type().as_str(),
            year: robot.year().to_string().into(),
        }
    }

    /// Numbers stand at the right of their columns and text at the left. The padding of the
    /// name is written by hand because formatting counts characters, and some are two
    /// columns wide and some none.
    fn print(&self, widths: Widths, output: &mut dyn Write) -> io::Result<()> {
        let padding = widths.name - self.name.width();
        writeln!(
            output,
            "{:>id_width$}  {}{:padding$}  {:type_width$}  {:>year_width$}",
            self.id,
            self.name,
            "",
            self.robot_type,
            self.year,
            id_width = widths.id,
            type_width = widths.robot_type,
            year_width = widths.year,
        )
    }
}

/// How many columns of the terminal each column of the table takes.
#[derive(Clone, Copy)]
struct Widths {
    id: usize,
    name: usize,
    robot_type: usize,
    year: usize,
}

impl Widths {
    fn of(row: &Row<'_>) -> Self {
        Self {
            id: row.id.len(),
            name: row.name.width(),
            robot_type: row.robot_type.len(),
            year: row.year.len(),
        }
    }

    /// The greater of the two, column by column.
    fn at_least(self, other: Self) -> Self {
        Self {
            id: self.id.max(other.id),
            name: self.name.max(other.name),
            robot_type: self.robot_type.max(other.robot_type),
            year: self.year.max(other.year),
        }
    }
}

#[cfg(test)]
mod tests {
    use robot_core::{Draft, Rejection, RobotId, ValidDraft};

    use super::*;

    fn robot(id: RobotId, name: &str) -> Result<Robot, Rejection> {
        Ok(ValidDraft::new(Draft::new(name, "droid", 1977))?.with_id(id))
    }

    #[test]
    fn columns_grow_with_later_pages_and_never_shrink() -> Result<(), Box<dyn std::error::Error>> {
        let mut table = Table::default();
        let mut output = Vec::new();
        for (id, name) in [
            (1, "R2"),
            (1_000_000, "机器人 C-3PO"),
            (3, "e\u{301}\u{1b}"),
        ] {
            let id = RobotId::new(id).ok_or("not positive")?;
            table.print(&[robot(id, name)?], &mut output)?;
        }
        assert_eq!(
            String::from_utf8(output)?,
            "ID  NAME  TYPE   YEAR\n \
             1  R2    droid  1977\n\
             1000000  机器人 C-3PO  droid  1977\n      \
                   3  e\u{301}\\u{1b}       droid  1977\n"
        );
        Ok(())
    }
}
