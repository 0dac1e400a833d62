//! Progress bar of a long command, on standard error.
//!
//! It is shown only on a terminal, and cleared at the end.

use std::{io::Read, time::Duration};

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar, which is cleared when dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
}

/// The template if the total is known.
const BAR: &str = "{msg} [{bar:30}] {percent}%, {eta} left";

/// The template if the total is unknown.
const SPINNER: &str = "{spinner} {msg}, {elapsed}";

/// The interval at which the spinner moves between updates.
const TICK: Duration = Duration::from_millis(200);

impl Progress {
    /// A bar for a total of bytes or robots, if known. The text is shown until the first update.
    pub(crate) fn new(total: Option<u64>, text: &'static str) -> Self {
        let template = if total.is_some() { BAR } else { SPINNER };
        // Hidden unless standard error is a terminal.
        let target = ProgressDrawTarget::stderr();
        let bar = ProgressBar::with_draw_target(total, target).with_message(text);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        if !bar.is_hidden() {
            bar.enable_steady_tick(TICK);
        }
        Self { bar }
    }

    /// Shows a number of robots as the position, and as a text like "12,345 robots copied".
    pub(crate) fn update(&self, robots: u64, action: &str) {
        self.bar.set_position(robots);
        self.set_text(robots, action);
    }

    /// Shows only the text, unless there are none yet; the position is that of a [`reader`](Self::reader).
    pub(crate) fn set_text(&self, robots: u64, action: &str) {
        if robots > 0 && !self.bar.is_hidden() {
            let text = format!("{} robots {action}", HumanCount(robots));
            self.bar.set_message(text);
        }
    }

    /// A reader that shows how many bytes of the total were read.
    pub(crate) fn reader<R: Read>(&self, input: R) -> impl Read + use<R> {
        self.bar.wrap_read(input)
    }

    /// Hides the bar while a function writes to the terminal.
    pub(crate) fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A number of robots for messages: `1 robot`, `1,234 robots`.
pub(crate) fn robot_count(count: impl TryInto<u64>) -> String {
    match count.try_into().unwrap_or(u64::MAX) {
        1 => "1 robot".to_owned(),
        count => format!("{} robots", HumanCount(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn robot_count_has_plural_and_separators() {
        assert_eq!(robot_count(0_u64), "0 robots");
        assert_eq!(robot_count(1_u64), "1 robot");
        assert_eq!(robot_count(1_234_567_u64), "1,234,567 robots");
    }
}
