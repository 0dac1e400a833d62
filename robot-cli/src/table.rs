//! Table printer with aligned columns.
//!
//! A catalogue may be too large to measure all names before the first line is printed. So each page
//! is laid out on its own, with columns at least as wide as on the previous page. On a terminal,
//! long names are truncated so that each robot takes one line.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use anstyle::{AnsiColor, Style};
use robot_core::{Robot, RobotType};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::{printable::printable, terminal::Screen};

const HEADER: Row<'static> = Row {
    id: Cow::Borrowed("ID"),
    name: Cow::Borrowed("NAME"),
    robot_type: "TYPE",
    year: Cow::Borrowed("YEAR"),
    style: Style::new().bold(),
    type_style: Style::new(),
};

/// The number of spaces between two columns.
const GAP: usize = 2;

/// The minimum width of names, even if the row is wider than the terminal.
const MIN_NAME: usize = 8;

/// A table that is printed in pages.
pub(crate) struct Table {
    screen: Screen,
    /// `None` before the first page.
    widths: Option<Widths>,
}

impl Table {
    pub(crate) fn new(screen: Screen) -> Self {
        Self {
            screen,
            widths: None,
        }
    }

    /// Prints a page.
    pub(crate) fn print(&mut self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()> {
        let rows: Vec<_> = robots.iter().map(Row::of).collect();
        let previous = self.widths.unwrap_or_else(|| Widths::of(&HEADER));
        let widths = rows.iter().map(Widths::of).fold(previous, Widths::max);
        let widths = widths.fit(self.screen.width);
        if self.widths.replace(widths).is_none() {
            self.print_row(&HEADER, widths, output)?;
        }
        rows.iter()
            .try_for_each(|row| self.print_row(row, widths, output))
    }

    /// Numbers are right-aligned. The padding of the name is computed from its display width,
    /// because format widths count characters.
    fn print_row(&self, row: &Row<'_>, widths: Widths, output: &mut dyn Write) -> io::Result<()> {
        let name = truncate(&row.name, widths.name);
        let (style, type_style) = if self.screen.is_colored {
            (row.style, row.type_style)
        } else {
            (Style::new(), Style::new())
        };
        writeln!(
            output,
            "{style}{:>id_width$}  {name}{:padding$}  \
             {type_style}{:type_width$}{type_style:#}  {:>year_width$}{style:#}",
            row.id,
            "",
            row.robot_type,
            row.year,
            padding = widths.name - name.width(),
            id_width = widths.id,
            type_width = widths.robot_type,
            year_width = widths.year,
        )
    }
}

/// The text, shortened with an ellipsis if it is wider than `columns`.
fn truncate(text: &str, columns: usize) -> Cow<'_, str> {
    if text.width() <= columns {
        return Cow::Borrowed(text);
    }
    let mut width = 0;
    let mut prefix = text;
    for (start, character) in text.char_indices() {
        width += character.width().unwrap_or(0);
        if width >= columns {
            prefix = &text[..start];
            break;
        }
    }
    // Variation selectors widen the character before them, so a text can be wider than the sum of
    // its characters.
    while prefix.width() >= columns {
        let mut characters = prefix.chars();
        characters.next_back();
        prefix = characters.as_str();
    }
    // A zero-width joiner at the end would join the ellipsis.
    Cow::Owned(format!("{}…", prefix.trim_end_matches('\u{200d}')))
}

fn style_of(robot_type: RobotType) -> Style {
    match robot_type {
        RobotType::Droid => AnsiColor::Cyan,
        RobotType::Mechanical => AnsiColor::Yellow,
        RobotType::Virtual => AnsiColor::Magenta,
        _ => AnsiColor::White,
    }
    .on_default()
}

/// The printed cells of a row.
struct Row<'a> {
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    robot_type: &'a str,
    year: Cow<'a, str>,
    /// The style of the whole row.
    style: Style,
    type_style: Style,
}

impl<'a> Row<'a> {
    fn of(robot: &'a Robot) -> Self {
        Self {
            id: robot.id().to_string().into(),
            name: printable(robot.name()),
            robot_type: robot.robot_type().as_str(),
            year: robot.year().to_string().into(),
            style: Style::new(),
            type_style: style_of(robot.robot_type()),
        }
    }
}

/// The display width of each column.
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

    /// Narrows the names so that a row fits the screen.
    fn fit(self, screen: Option<usize>) -> Self {
        let others = self.id + self.robot_type + self.year + 3 * GAP;
        let room = screen.map_or(usize::MAX, |columns| columns.saturating_sub(others));
        Self {
            name: self.name.min(room.max(MIN_NAME)),
            ..self
        }
    }

    /// The maximum of each column.
    fn max(self, other: Self) -> Self {
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
        let mut table = Table::new(Screen::default());
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

    #[test]
    fn truncate_counts_display_columns() {
        for (text, columns, shown) in [
            ("R2-D2", 5, "R2-D2"),
            ("R2-D2", 4, "R2-…"),
            ("机器人", 6, "机器人"),
            ("机器人", 5, "机器…"),
            ("机器人", 4, "机…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            // The variation selector makes the heart two columns wide.
            ("❤\u{fe0f}❤\u{fe0f}❤\u{fe0f}", 4, "❤\u{fe0f}❤…"),
            ("👩\u{200d}🚀👩\u{200d}🚀", 3, "👩…"),
        ] {
            let truncated = truncate(text, columns);
            assert_eq!(truncated, shown, "{text} to {columns}");
            assert!(truncated.width() <= columns, "{text} to {columns}");
        }
    }

    #[test]
    fn names_shrink_when_later_pages_have_wider_ids() -> Result<(), Box<dyn std::error::Error>> {
        let screen = Screen {
            is_colored: false,
            width: Some(30),
        };
        let mut table = Table::new(screen);
        let mut output = Vec::new();
        for id in [1, 1_000_000] {
            let id = RobotId::new(id).ok_or("not positive")?;
            table.print(&[robot(id, "abcdefghijklmnopqrstuvwxyz")?], &mut output)?;
        }
        assert_eq!(
            String::from_utf8(output)?,
            "ID  NAME           TYPE   YEAR\n \
             1  abcdefghijkl…  droid  1977\n\
             1000000  abcdefg…  droid  1977\n"
        );
        Ok(())
    }
}
