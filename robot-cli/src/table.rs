//! Table printer with aligned columns.
//!
//! A catalogue may be too large to measure all names before the first line is printed. So each page
//! is laid out on its own, with columns at least as wide as on the previous page. On a terminal,
//! long texts are truncated, and fields are left out, so that each robot takes one line.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use anstyle::{AnsiColor, Style};
use robot_core::{Field, Kind, Robot, Value};
use unicode_width::UnicodeWidthStr;

use crate::{fields::PrintedFields, printable::printable, terminal::Screen};

/// The number of spaces between two columns.
const GAP: usize = 2;

/// The minimum width of texts, even if the row is wider than the terminal.
const MIN_TEXT: usize = 8;

/// A table that is printed in pages.
pub(crate) struct Table {
    columns: PrintedFields,
    screen: Screen,
    /// The display width of each column; empty before the first page.
    widths: Vec<usize>,
}

impl Table {
    /// A table of these columns, in this order.
    pub(crate) fn new(screen: Screen, columns: &PrintedFields) -> Self {
        Self {
            columns: columns.clone(),
            screen,
            widths: Vec::new(),
        }
    }

    /// Prints a page.
    pub(crate) fn print(&mut self, robots: &[Robot], output: &mut dyn Write) -> io::Result<()> {
        let fields = &self.columns.fields;
        let is_first = self.widths.is_empty();
        let header = is_first.then(|| header(fields));
        let rows = robots.iter().map(|robot| row(robot, fields));
        let rows: Vec<_> = header.into_iter().chain(rows).collect();
        self.widths.resize(fields.len(), 0);
        for cells in &rows {
            for (width, (cell, _)) in self.widths.iter_mut().zip(cells) {
                *width = cell.width().max(*width);
            }
        }
        if let Some(screen) = self.screen.width {
            if is_first {
                self.drop_columns(screen);
            }
            self.narrow_texts(screen);
        }
        rows.iter().try_for_each(|row| self.print_row(row, output))
    }

    /// Drops the last columns that do not fit the screen, even with narrow texts.
    fn drop_columns(&mut self, screen: usize) {
        let columns = self.columns.fields.iter().zip(&self.widths);
        let ends = columns.scan(0, |end, (field, width)| {
            *end += least_width(field, *width) + GAP;
            Some(*end)
        });
        let fitting = ends.take_while(|end| *end <= screen + GAP).count();
        let kept = fitting.max(self.columns.fixed);
        self.columns.fields.truncate(kept);
        self.widths.truncate(kept);
    }

    /// Narrows the widest texts so that a row fits the screen.
    fn narrow_texts(&mut self, screen: usize) {
        let gaps = GAP * self.widths.len().saturating_sub(1);
        let total = self.widths.iter().sum::<usize>() + gaps;
        for _ in screen..total {
            let columns = self.columns.fields.iter().zip(&mut self.widths);
            let texts = columns.filter(|(field, width)| least_width(field, **width) < **width);
            match texts.max_by_key(|(_, width)| **width) {
                Some((_, width)) => *width -= 1,
                None => break,
            }
        }
    }

    fn print_row(&self, row: &Row<'_>, output: &mut dyn Write) -> io::Result<()> {
        let columns = self.columns.fields.iter().zip(&self.widths);
        let cells = columns.zip(row).map(|((field, width), (cell, style))| {
            let style = Some(*style).filter(|_| self.screen.is_colored);
            let text = truncate(cell, *width);
            let is_number = field.kind().is_number();
            (text, style.unwrap_or_default(), *width, is_number)
        });
        print_row(cells, output)
    }
}

/// Prints texts and their styles in columns of these widths, right-aligned if they are numbers, without blanks at the end.
/// The padding is computed from the display width of a text, because format widths count characters.
pub(crate) fn print_row<'a>(
    cells: impl Iterator<Item = (Cow<'a, str>, Style, usize, bool)>,
    output: &mut dyn Write,
) -> io::Result<()> {
    let mut gap = 0;
    for (text, style, width, is_number) in cells {
        let padding = width - text.width();
        let before = if is_number { padding } else { 0 };
        if text.is_empty() {
            gap += padding + GAP;
        } else {
            write!(output, "{:1$}{style}{text}{style:#}", "", gap + before)?;
            gap = padding - before + GAP;
        }
    }
    writeln!(output)
}

/// The width to which a column of a width can be narrowed.
fn least_width(field: &Field, width: usize) -> usize {
    match field.kind() {
        kind @ Kind::Text { .. } if !kind.is_time() => width.min(MIN_TEXT.max(field.name().len())),
        _ => width,
    }
}

/// The text, shortened with an ellipsis if it is wider than `columns`.
fn truncate(text: &str, columns: usize) -> Cow<'_, str> {
    if text.width() <= columns {
        return Cow::Borrowed(text);
    }
    let prefixes = text.char_indices().map(|(end, _)| &text[..end]);
    let fitting = prefixes.take_while(|prefix| prefix.width() < columns);
    let prefix = fitting.last().unwrap_or_default();
    // A zero-width joiner at the end would join the ellipsis.
    Cow::Owned(format!("{}…", prefix.trim_end_matches('\u{200d}')))
}

/// The colors of choices, by their position.
const COLORS: [AnsiColor; 6] = [
    AnsiColor::Cyan,
    AnsiColor::Yellow,
    AnsiColor::Magenta,
    AnsiColor::Green,
    AnsiColor::Blue,
    AnsiColor::Red,
];

/// The style of a choice; none for a value of another kind.
fn style_of(field: &Field, value: &str) -> Style {
    let mut choices = field.choices().iter();
    let position = choices.position(|choice| *choice == value);
    let color = position.map(|position| COLORS[position % COLORS.len()]);
    color.map_or_else(Style::new, AnsiColor::on_default)
}

/// The texts of the columns, and their styles.
type Row<'a> = Vec<(Cow<'a, str>, Style)>;

fn header(fields: &[Field]) -> Row<'static> {
    let names = fields.iter().map(|field| field.name().to_uppercase());
    names
        .map(|name| (name.into(), Style::new().bold()))
        .collect()
}

fn row<'a>(robot: &'a Robot, fields: &[Field]) -> Row<'a> {
    let cells = fields.iter().map(|field| {
        let text = match robot.value_of(field) {
            Some(Value::Text(Cow::Borrowed(text))) => printable(text),
            Some(value) => value.to_string().into(),
            None => "".into(),
        };
        let style = style_of(field, &text);
        (text, style)
    });
    cells.collect()
}

#[cfg(test)]
mod tests {
    use robot_core::{Definition, Draft, Rejection, RobotId, ValidDraft};

    use super::*;

    fn robot(id: RobotId, name: &str) -> Result<Robot, Rejection> {
        Ok(ValidDraft::new(Draft::new(name, "droid", 1977))?.with_id(id))
    }

    #[test]
    fn columns_grow_with_later_pages_and_never_shrink() -> Result<(), Box<dyn std::error::Error>> {
        let mut table = Table::new(
            Screen::default(),
            &PrintedFields::of(Definition::built_in()),
        );
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
            ("👩\u{200d}🚀👩\u{200d}🚀", 3, "👩\u{200d}🚀…"),
            ("👩\u{200d}🚀👩\u{200d}🚀", 2, "…"),
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
        let mut table = Table::new(screen, &PrintedFields::of(Definition::built_in()));
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
