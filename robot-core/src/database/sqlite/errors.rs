//! Meaning of SQLite's errors.

use diesel::result::Error as DieselError;

use crate::{
    catalogue::Error,
    database::errors::{self, has_message},
};

/// The messages of `SQLITE_BUSY`, `SQLITE_LOCKED` and `SQLITE_PROTOCOL`. The last one means that
/// another process was stopped while it changed the shared memory: SQLite waits for 10 seconds.
const LOCKED: &[&str] = &[
    "database is locked",
    "database table is locked",
    "locking protocol",
];

/// The message of `SQLITE_FULL`.
const FULL: &[&str] = &["database or disk is full"];

/// A part of the messages of `SQLITE_CORRUPT`.
const MALFORMED: &[&str] = &["malformed"];

/// The message of `SQLITE_NOTADB`.
const NOT_A_DATABASE: &[&str] = &["file is not a database"];

/// A file that is damaged.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0}; stop the programs that use the file, check it with 'robot-cli check', and restore a backup"
)]
struct Damaged(DieselError);

/// The error of a statement.
pub(super) fn classify(error: DieselError) -> Error {
    if is_damaged(&error) {
        return Error::store(Damaged(error));
    }
    errors::classify(error, |error| is_locked(error), |error| is_disk_full(error))
}

/// The error of a commit. Whether it reached the WAL is unknown, unless the disk was full: then its
/// end is missing in the WAL, and so it is not applied.
pub(super) fn classify_commit(error: DieselError) -> Error {
    if is_disk_full(&error) {
        Error::disk_full(error)
    } else {
        Error::unknown(error)
    }
}

/// Whether another connection holds the lock that is needed.
pub(super) fn is_locked(error: &(dyn std::error::Error + 'static)) -> bool {
    has_message(error, LOCKED)
}

/// Whether a part of the file is damaged.
pub(super) fn is_malformed(error: &(dyn std::error::Error + 'static)) -> bool {
    has_message(error, MALFORMED)
}

/// Whether the file is damaged, or not a database.
pub(super) fn is_damaged(error: &(dyn std::error::Error + 'static)) -> bool {
    is_malformed(error) || has_message(error, NOT_A_DATABASE)
}

/// Whether the disk is full.
pub(super) fn is_disk_full(error: &(dyn std::error::Error + 'static)) -> bool {
    has_message(error, FULL)
}

#[cfg(test)]
mod tests {
    use diesel::{Connection, SqliteConnection, connection::SimpleConnection};

    use super::*;

    /// Some statements find out before the commit does.
    #[test]
    fn statement_on_a_full_disk_reports_a_full_disk() {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        connection
            .batch_execute("CREATE TABLE texts (text TEXT); PRAGMA max_page_count = 3")
            .unwrap();
        let full = connection
            .batch_execute("INSERT INTO texts VALUES (zeroblob(1000000))")
            .unwrap_err();
        assert!(matches!(classify(full), Error::DiskFull(_)));
    }
}
