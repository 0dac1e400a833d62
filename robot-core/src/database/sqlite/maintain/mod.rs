//! Backups of a database file, restoring one, and checks.

mod background;
mod backup;
mod check;
mod restore;
pub(crate) use backup::backup;
pub(crate) use check::check;
pub(crate) use restore::restore_backup;
