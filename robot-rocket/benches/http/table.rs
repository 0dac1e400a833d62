//! Markdown table of the results.

use crate::wrk::{Figures, Row};

/// Runs of one row, one for each round.
pub(crate) struct Results {
    pub(crate) row: Row,
    pub(crate) measured: Vec<Figures>,
    /// Empty if there is no baseline.
    pub(crate) baseline: Vec<Figures>,
}

impl Results {
    /// Number of failed requests to both servers.
    pub(crate) fn failed(&self) -> f64 {
        let runs = self.measured.iter().chain(&self.baseline);
        runs.map(|run| run.failed).sum()
    }

    fn line(&self) -> String {
        let Row {
            title, connections, ..
        } = self.row;
        let mut cells = vec![format!("{title}, {connections} connections")];
        let mut add = |figure: fn(&Figures) -> f64, write: fn(f64) -> String| {
            for runs in [&self.measured, &self.baseline] {
                cells.extend(spread(runs.iter().map(figure)).map(|[_, median, _]| write(median)));
            }
        };
        add(|run| run.per_second, count);
        add(|run| run.median, milliseconds);
        add(|run| run.p99, milliseconds);
        let rounds = self.measured.iter().zip(&self.baseline);
        let ratios = rounds.map(|(measured, baseline)| measured.per_second / baseline.per_second);
        if let Some([min, median, max]) = spread(ratios) {
            cells.push(format!("{median:.2} ({min:.2} to {max:.2})"));
        }
        cells.push(count(self.failed()));
        format!("| {} |", cells.join(" | "))
    }
}

/// Table of rows that all have a baseline or all have none.
pub(crate) fn markdown(results: &[Results]) -> String {
    let headings = if results.iter().all(|row| row.baseline.is_empty()) {
        "| | requests/s | median | 99th percentile | failed |\n|---|--:|--:|--:|--:|"
    } else {
        "| | requests/s | baseline | median | baseline | 99th percentile | baseline \
         | ratio of requests/s (min to max) | failed |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    };
    let mut lines = vec![headings.to_owned()];
    lines.extend(results.iter().map(Results::line));
    lines.join("\n")
}

/// Least, median and greatest of some values, if there are any.
fn spread(values: impl Iterator<Item = f64>) -> Option<[f64; 3]> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let (min, max) = (*values.first()?, *values.last()?);
    let middle = [values[(values.len() - 1) / 2], values[values.len() / 2]];
    Some([min, f64::midpoint(middle[0], middle[1]), max])
}

/// A whole number with commas between thousands.
pub(crate) fn count(number: f64) -> String {
    let digits = format!("{number:.0}");
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(String::from_utf8_lossy).collect();
    groups.join(",")
}

fn milliseconds(number: f64) -> String {
    format!("{number:.2} ms")
}
