//! Metrics of an import.

use ::metrics::{Counter, counter, gauge};

use super::outcome::{ImportError, Stored};
use crate::metrics::{Counted, IMPORT_READ, IMPORT_RECORDS, IMPORTS};

pub(super) struct ImportMetrics {
    pub(super) read: Counter,
    _running: Counted,
}

impl ImportMetrics {
    pub(super) fn new() -> Self {
        Self {
            read: counter!(IMPORT_READ.name),
            _running: Counted::new(gauge!(IMPORTS.name)),
        }
    }

    pub(super) fn count(result: &Result<Stored, ImportError>) {
        let outcome = match result {
            Ok(Stored::Added) => "added",
            Ok(Stored::Replaced) => "replaced",
            Ok(Stored::Unchanged) => "unchanged",
            Ok(Stored::Skipped) => "skipped",
            Err(_) => "failed",
        };
        counter!(IMPORT_RECORDS.name, "outcome" => outcome).increment(1);
    }
}
