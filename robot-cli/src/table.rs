//! Aligned columns for people.
//!
//! The widths come from the robots themselves, but a catalogue may be too large to be looked
//! through before its first line is shown. So each page is laid out when it arrives, with
//! columns that fit it and are never narrower than those of the page before. On a terminal,
//! names that do not fit beside the other columns are cut, so that a robot takes one line;
//! elsewhere they are whole.

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

/// What stands between two columns.
const GAP: usize = 2;

/// How wide the names are at least, however narrow the terminal is: less would say nothing.
const LEAST_NAME: usize = 8;

/// A table that has been printed so far.
pub(crate) struct Table {
    screen: Screen,
    /// None before the first page.
    widths: Option<Widths>,
}

impl Table {
    pub(crate) fn new(screen: Screen) -> Self {
        Self {
            screen,
            widths: None,
        }
    }

    /// Prints some robots, below those of the pages before.
    pub(crate) fn print(&mut self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()> {
        let rows: Vec<_> = robots.iter().map(Row::of).collect();
        let before = self.widths.unwrap_or_else(|| Widths::of(&HEADER));
        let widths = rows.iter().map(Widths::of).fold(before, Widths::at_least);
        let widths = widths.within(self.screen.width);
        if self.widths.replace(widths).is_none() {
            self.print_row(&HEADER, widths, output)?;
        }
        rows.iter()
            .try_for_each(|row| self.print_row(row, widths, output))
    }

    /// Numbers stand at the right of their columns and text at the left. The padding of the
    /// name is written by hand because formatting counts characters, and some are two
    /// columns wide and some none.
    fn print_row(&self, row: &Row<'_>, widths: Widths, output: &mut dyn Write) -> io::Result<()> {
        let name = cut(&row.name, widths.name);
        let (style, type_style) = if self.screen.is_coloured {
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

/// The text, or where it is wider than so many columns its beginning and an ellipsis.
fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    if text.width() <= columns {
        return Cow::Borrowed(text);
    }
    let mut taken = 0;
    let mut beginning = text;
    for (start, character) in text.char_indices() {
        taken += character.width().unwrap_or(0);
        if taken >= columns {
            beginning = &text[..start];
            break;
        }
    }
    // Some characters make those before them wider, so that together they are wider than one
    // by one.
    while beginning.width() >= columns {
        let mut characters = beginning.chars();
        characters.next_back();
        beginning = characters.as_str();
    }
    // What joins two characters must not join the ellipsis.
    Cow::Owned(format!("{}…", beginning.trim_end_matches('\u{200d}')))
}

fn style_of(robot_type: RobotType) -> Style {
    match robot_type {
        RobotType::Droid => AnsiColor::Cyan,
        RobotType::Mechanical => AnsiColor::Yellow,
        RobotType::Virtual => AnsiColor::Magenta,
    }
    .on_default()
}

/// The cells of a row, as they are shown.
struct Row<'a> {
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    robot_type: &'a str,
    year: Cow<'a, str>,
    /// Of the row as a whole.
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

    /// The same, with names so narrow that all columns fit beside each other on a screen.
    fn within(self, screen: Option<usize>) -> Self {
        let others = self.id + self.robot_type + self.year + 3 * GAP;
        let room = screen.map_or(usize::MAX, |columns| columns.saturating_sub(others));
        Self {
            name: self.name.min(room.max(LEAST_NAME)),
            ..self
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
    fn a_text_is_cut_by_what_a_terminal_shows() {
        for (text, columns, shown) in [
            ("R2-D2", 5, "R2-D2"),
            ("R2-D2", 4, "R2-…"),
            ("机器人", 6, "机器人"),
            ("机器人", 5, "机器…"),
            ("机器人", 4, "机…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            // A selector makes two columns of the heart's one.
            ("❤\u{fe0f}❤\u{fe0f}❤\u{fe0f}", 4, "❤\u{fe0f}❤…"),
            ("👩\u{200d}🚀👩\u{200d}🚀", 3, "👩…"),
        ] {
            let cut = cut(text, columns);
            assert_eq!(cut, shown, "{text} to {columns}");
            assert!(cut.width() <= columns, "{text} to {columns}");
        }
    }

    #[test]
    fn a_screen_bounds_names_and_makes_room_for_wider_columns_of_later_pages()
    -> Result<(), Box<dyn std::error::Error>> {
        let screen = Screen {
            is_coloured: false,
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
