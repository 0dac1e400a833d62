//! The table that is printed in the end.

use std::fmt::Write;

use crate::rounds::{Bound, Series, Unit};

const HEADINGS: [&str; 6] = [
    "what",
    "figure of ours",
    "compared with",
    "ratio or value: median (min to max)",
    "must reach",
    "reached",
];

/// A line of the table.
#[derive(Debug, Clone)]
pub(crate) struct Row([String; 6]);

impl Row {
    /// Ours against something else, by a ratio of the rounds.
    pub(crate) fn compared(
        what: impl Into<String>,
        unit: Unit,
        ours: &Series,
        (name, other): (&str, &Series),
        ratio: &Series,
        bound: Bound,
    ) -> Self {
        Self([
            what.into(),
            unit.write(ours.median()),
            format!("{name}: {}", unit.write(other.median())),
            spread(ratio, Unit::Ratio),
            bound.write(Unit::Ratio),
            reached(bound, ratio.median()),
        ])
    }

    /// A figure that is compared with its bound alone.
    pub(crate) fn value(
        what: impl Into<String>,
        unit: Unit,
        values: &Series,
        bound: Bound,
    ) -> Self {
        Self([
            what.into(),
            unit.write(values.median()),
            String::new(),
            spread(values, unit),
            bound.write(unit),
            reached(bound, values.median()),
        ])
    }

    /// What could not be measured because something is missing.
    pub(crate) fn not_measured(what: impl Into<String>, why: &str) -> Self {
        Self([
            what.into(),
            String::new(),
            String::new(),
            why.to_owned(),
            String::new(),
            "not measured".to_owned(),
        ])
    }

    /// What failed.
    pub(crate) fn failed(what: &str, why: &str) -> Self {
        let [what, _, _, why, ..] = Self::not_measured(what, why).0;
        let nothing = String::new;
        Self([
            what,
            nothing(),
            nothing(),
            why,
            nothing(),
            "failed".to_owned(),
        ])
    }
}

fn reached(bound: Bound, figure: f64) -> String {
    let word = match bound {
        Bound::None => "",
        bound if bound.holds(figure) => "yes",
        _ => "no",
    };
    word.to_owned()
}

fn spread(series: &Series, unit: Unit) -> String {
    let [median, min, max] =
        [series.median(), series.min(), series.max()].map(|figure| unit.write(figure));
    format!("{median} ({min} to {max})")
}

/// The table in Markdown, its columns aligned for those who read it as it is.
pub(crate) fn render(rows: &[Row]) -> String {
    let cells: Vec<[String; 6]> = std::iter::once(HEADINGS.map(str::to_owned))
        .chain(
            rows.iter()
                .map(|Row(cells)| cells.each_ref().map(|cell| escaped(cell))),
        )
        .collect();
    let width = |column: usize| {
        cells
            .iter()
            .map(|cells| cells[column].chars().count())
            .max()
    };
    let widths: [usize; 6] = std::array::from_fn(|column| width(column).unwrap_or(0));
    let mut table = String::new();
    for (number, cells) in cells.iter().enumerate() {
        for (cell, width) in cells.iter().zip(widths) {
            // Nothing that is written into a string fails.
            let _ = write!(table, "| {cell:width$} ");
        }
        table.push_str("|\n");
        if number == 0 {
            for width in widths {
                let _ = write!(table, "|{}", "-".repeat(width + 2));
            }
            table.push_str("|\n");
        }
    }
    table
}

/// A text that does not end its cell or its line.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(figures: &[f64]) -> Series {
        let mut series = Series::default();
        for figure in figures {
            series.push(*figure);
        }
        series
    }

    #[test]
    fn a_table_is_markdown_with_a_verdict_in_each_row() {
        let (ours, other) = (series(&[700.0, 900.0, 800.0]), series(&[1000.0; 3]));
        let ratio = ours.over(&other);
        let fixed = ("fixed", &other);
        let rows = [
            Row::compared(
                "GET",
                Unit::PerSecond,
                &ours,
                fixed,
                &ratio,
                Bound::AtLeast(0.7),
            ),
            Row::value("start", Unit::Time, &series(&[0.06]), Bound::Below(0.05)),
            Row::not_measured("load", "sqlite3 is missing"),
            Row::failed("list", "a|b\nc"),
        ];
        let expected = "\
| what  | figure of ours | compared with  | ratio or value: median (min to max) | must reach | reached      |
|-------|----------------|----------------|-------------------------------------|------------|--------------|
| GET   | 800/s          | fixed: 1,000/s | 0.80 (0.70 to 0.90)                 | ≥ 0.70     | yes          |
| start | 60.00 ms       |                | 60.00 ms (60.00 ms to 60.00 ms)     | < 50.00 ms | no           |
| load  |                |                | sqlite3 is missing                  |            | not measured |
| list  |                |                | a\\|b c                              |            | failed       |
";
        assert_eq!(render(&rows), expected);
    }
}
