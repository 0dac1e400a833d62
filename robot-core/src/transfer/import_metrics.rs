//! Metrics of an import.

use ::metrics::{Counter, counter, gauge};

use super::outcome::{ImportError, Stored};
use crate::metrics::{Counted, IMPORT_READ, IMPORT_RECORDS, IMPORTS, OUTCOMES};

/// Metrics of an import, which runs until they are dropped.
pub(super) struct ImportMetrics {
    pub(super) read: Counter,
    added: Counter,
    replaced: Counter,
    skipped: Counter,
    failed: Counter,
    _running: Counted,
}

impl ImportMetrics {
    pub(super) fn new() -> Self {
        let [added, replaced, skipped, failed] =
            OUTCOMES.map(|outcome| counter!(IMPORT_RECORDS.name, "outcome" => outcome));
        Self {
            read: counter!(IMPORT_READ.name),
            added,
            replaced,
            skipped,
            failed,
            _running: Counted::new(&gauge!(IMPORTS.name)),
        }
    }

    /// Counts the outcome of a record.
    pub(super) fn count(&self, result: &Result<Stored, ImportError>) {
        let counter = match result {
            Ok(Stored::Added) => &self.added,
            Ok(Stored::Replaced) => &self.replaced,
            Ok(Stored::Skipped) => &self.skipped,
            Err(_) => &self.failed,
        };
        counter.increment(1);
    }
}
