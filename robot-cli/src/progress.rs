//! How far a long command has got: a line on the terminal that is redrawn while it goes on.
//!
//! It is on standard error, only where that is a terminal, and is gone when the command is done,
//! so that no script ever gets to see it.

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The line on the terminal, which is taken away when this is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
}

/// With a length that is known: how much of it is done, and how long the rest will take.
const BAR: &str = "{msg} [{bar:30}] {percent}%, {eta} left";

/// Without: something that moves while the program does.
const SPINNER: &str = "{spinner} {msg}, {elapsed}";

/// How often the spinner moves while nothing is told.
const PAUSE: Duration = Duration::from_millis(200);

impl Progress {
    /// The progress of so many parts (bytes or robots), if their number is known. Until something
    /// is told, the line says what begins.
    pub(crate) fn of(total: Option<u64>, begins: &'static str) -> Self {
        let template = if total.is_some() { BAR } else { SPINNER };
        let bar = ProgressBar::with_draw_target(total, target()).with_message(begins);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        if !bar.is_hidden() {
            bar.enable_steady_tick(PAUSE);
        }
        Self { bar }
    }

    /// No progress that anybody sees.
    pub(crate) fn hidden() -> Self {
        Self {
            bar: ProgressBar::hidden(),
        }
    }

    /// So many parts are done, which is this many robots: "12,345 robots read".
    pub(crate) fn tell(&self, parts: u64, robots: u64, what: &str) {
        // Nobody is to pay for a text that is not shown.
        if !self.bar.is_hidden() {
            self.bar.set_position(parts);
            self.bar
                .set_message(format!("{} robots {what}", HumanCount(robots)));
        }
    }

    /// Does what writes to the terminal, without the line in its way.
    pub(crate) fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        self.bar.suspend(work)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn target() -> ProgressDrawTarget {
    if io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    }
}

/// A number of robots as people read it: `1 robot`, `1,234 robots`.
pub(crate) fn robots(count: u64) -> String {
    let noun = if count == 1 { "robot" } else { "robots" };
    format!("{} {noun}", HumanCount(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_robots_are_told_as_people_read_them() {
        assert_eq!(robots(0), "0 robots");
        assert_eq!(robots(1), "1 robot");
        assert_eq!(robots(1_234_567), "1,234,567 robots");
    }
}
