//! The query of an import.

use super::{
    failure::Failure,
    parameters::{IMPORT, flag, parameters},
    query::named_format,
};
use crate::transfer::{AfterFailure, DryRun, Format, ImportOptions, OnConflict};

/// The parameters of an import.
pub(super) struct ImportQuery {
    /// Unless the content type decides.
    pub(super) format: Option<Format>,
    pub(super) mode: Mode,
    pub(super) options: ImportOptions,
}

/// Whether a record that fails prevents the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Each record is a change of its own.
    Each,
    /// All records are stored, or none.
    Atomic,
}

impl ImportQuery {
    pub(super) fn parse(query: &str) -> Result<Self, Failure> {
        let mut read = Self {
            format: None,
            mode: Mode::Each,
            options: ImportOptions::default().after_failure(AfterFailure::Continue),
        };
        parameters(query, &IMPORT, |parameter, value| {
            let name = parameter.name;
            match name {
                "format" => read.format = Some(named_format(&value)?),
                "on_conflict" => {
                    read.options.on_conflict = OnConflict::of_name(&value)
                        .ok_or("on_conflict must be fail, skip or replace")?;
                }
                "atomic" => {
                    read.mode = if flag(name, &value)? {
                        Mode::Atomic
                    } else {
                        Mode::Each
                    };
                }
                _ => {
                    read.options.dry_run = if flag(name, &value)? {
                        DryRun::Yes
                    } else {
                        DryRun::No
                    };
                }
            }
            Ok(())
        })?;
        Ok(read)
    }
}
