//! Progress of one client.

use super::outcome::Outcome;

#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Progress {
    pub(crate) writes_done: usize,
    pub(crate) writes_failed: usize,
    pub(crate) reads_done: usize,
    pub(crate) reads_failed: usize,
    /// Writes and reads that were done since the last failure.
    writes_in_a_row: usize,
    reads_in_a_row: usize,
}

impl Progress {
    pub(crate) fn count_write(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Done => {
                self.writes_done += 1;
                self.writes_in_a_row += 1;
            }
            // A store that works rejects these.
            Outcome::NameTaken | Outcome::NotFound => {}
            _ => {
                self.writes_failed += 1;
                self.restart_row();
            }
        }
    }

    pub(crate) fn count_read(&mut self, outcome: Outcome) {
        if outcome == Outcome::Done {
            self.reads_done += 1;
            self.reads_in_a_row += 1;
        } else {
            self.reads_failed += 1;
            self.restart_row();
        }
    }

    /// Starts counting calls that are done in a row.
    pub(crate) fn restart_row(&mut self) {
        (self.writes_in_a_row, self.reads_in_a_row) = (0, 0);
    }

    /// Whether two writes and two reads were done in a row. The first of each may have been sent
    /// before the row was restarted.
    pub(crate) fn is_served(&self) -> bool {
        self.writes_in_a_row > 1 && self.reads_in_a_row > 1
    }

    pub(crate) fn calls(&self) -> usize {
        self.done() + self.failed()
    }

    pub(crate) fn done(&self) -> usize {
        self.writes_done + self.reads_done
    }

    pub(crate) fn failed(&self) -> usize {
        self.writes_failed + self.reads_failed
    }
}
