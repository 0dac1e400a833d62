//! Meaning of SQLite's errors.

use diesel::result::Error as DieselError;

use crate::{catalogue::Error, database::errors};

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

/// Whether another connection holds the lock that is needed: `SQLITE_BUSY`, `SQLITE_LOCKED`, or
/// `SQLITE_PROTOCOL`. The last one means that another process was stopped while it changed the shared
/// memory: SQLite waits for 10 seconds.
pub(super) fn is_locked(error: &(dyn std::error::Error + 'static)) -> bool {
    let messages = [
        "database is locked",
        "database table is locked",
        "locking protocol",
    ];
    has_message(error, &messages)
}

/// Whether a statement names an index that does not exist.
pub(super) fn is_missing_index(error: &DieselError) -> bool {
    has_message(error, &["no such index"])
}

/// Whether a part of the file is damaged: `SQLITE_CORRUPT`.
pub(super) fn is_malformed(error: &(dyn std::error::Error + 'static)) -> bool {
    has_message(error, &["malformed"])
}

/// Whether the file is damaged, or not a database: `SQLITE_NOTADB`.
pub(super) fn is_damaged(error: &(dyn std::error::Error + 'static)) -> bool {
    is_malformed(error) || has_message(error, &["file is not a database"])
}

/// Whether the disk is full: `SQLITE_FULL`.
pub(super) fn is_disk_full(error: &(dyn std::error::Error + 'static)) -> bool {
    has_message(error, &["database or disk is full"])
}

/// Whether an error, or one that caused it, has a message with one of these parts: Diesel reports codes only in
/// the message, and setup errors are wrapped.
fn has_message(error: &(dyn std::error::Error + 'static), parts: &[&str]) -> bool {
    std::iter::successors(Some(error), |error| error.source()).any(|cause| {
        let message = cause.to_string();
        parts.iter().any(|part| message.contains(part))
    })
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
