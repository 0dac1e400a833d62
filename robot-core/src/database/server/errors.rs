//! Classes of the errors of database servers.

use diesel::{
    ConnectionError,
    result::{DatabaseErrorKind, Error as DieselError},
};

use super::connect_error::{ConnectError, ConnectFailure, causes};
use crate::{catalogue::Error, database::errors};

/// The message when another process changes the tables for too long.
pub(super) const MIGRATING: &str = "another process changes the tables of the catalogue";

/// The message when a lock is held for too long.
const LOCKED: &str =
    "a transaction that has changed robots is still open, perhaps of another program";

/// What the error of a statement means, beyond what Diesel says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorClass {
    /// The transaction conflicted with another one and may succeed if it is repeated: a deadlock, or a commit that a
    /// cluster rejected.
    Conflict,
    /// Another transaction holds a lock for too long.
    Locked,
    /// A wait was too long, or the server is not ready.
    Busy,
    /// The server rejects writes, and another one may accept them: roles change in a failover.
    ReadOnly,
    /// The user has no right to execute the statement.
    Denied,
    /// The server's disk is full, or a quota is reached.
    DiskFull,
    /// The statement may have taken effect.
    Unknown,
}

/// Parts of messages. The first one decides.
const MESSAGES: &[(&str, ErrorClass)] = &[
    // MariaDB's 1180: a cluster may have split during a commit.
    ("during COMMIT", ErrorClass::Unknown),
    // PostgreSQL: 55P03, 57014.
    (
        "canceling statement due to lock timeout",
        ErrorClass::Locked,
    ),
    (
        "canceling statement due to statement timeout",
        ErrorClass::Busy,
    ),
    // MariaDB and MySQL: 1205, 1047, 1969 and 3024.
    ("Lock wait timeout exceeded", ErrorClass::Locked),
    ("WSREP has not yet prepared node", ErrorClass::Busy),
    (
        "maximum statement execution time exceeded",
        ErrorClass::Busy,
    ),
    ("max_statement_time exceeded", ErrorClass::Busy),
    (MIGRATING, ErrorClass::Busy),
    // MariaDB and MySQL: 1290.
    ("read-only option", ErrorClass::ReadOnly),
    // MariaDB and MySQL: 1142.
    ("command denied to user", ErrorClass::Denied),
    // PostgreSQL's 40P01, and MariaDB's and MySQL's 1020 and, at a commit, 1213.
    ("deadlock detected", ErrorClass::Conflict),
    ("Record has changed since last read", ErrorClass::Conflict),
    (
        "Deadlock found when trying to get lock",
        ErrorClass::Conflict,
    ),
    // PostgreSQL's 53100, and MariaDB's and MySQL's 1021, 1026, 1030, 3 and 1114.
    ("No space left on device", ErrorClass::DiskFull),
    ("Disk quota exceeded", ErrorClass::DiskFull),
    ("Disk full (", ErrorClass::DiskFull),
    ("' is full", ErrorClass::DiskFull),
    // Whatever the language of the system: ENOSPC and EDQUOT on Linux.
    ("Got error 28 ", ErrorClass::DiskFull),
    ("errno: 28 ", ErrorClass::DiskFull),
    ("errno: 122 ", ErrorClass::DiskFull),
    // MariaDB's and MySQL's 1053, and MariaDB's 1927: perhaps during a commit.
    ("Server shutdown in progress", ErrorClass::Unknown),
    ("Connection was killed", ErrorClass::Unknown),
    // MariaDB's 1317, as 1180.
    ("Query execution was interrupted", ErrorClass::Unknown),
];

/// During the set-up of a connection, an error that a retry does not resolve means that the server must be
/// configured in another way.
impl From<DieselError> for ConnectError {
    fn from(error: DieselError) -> Self {
        // PostgreSQL's driver, when the server ends during the set-up.
        let lost = DatabaseErrorKind::UnableToSendCommand;
        let is_lost = matches!(&error, DieselError::DatabaseError(kind, _) if *kind == lost);
        if is_lost || is_transient(&error) {
            Self(ConnectFailure::Unreachable, error.to_string())
        } else {
            Self(ConnectFailure::Refused, error.to_string())
        }
    }
}

impl From<ConnectionError> for ConnectError {
    fn from(error: ConnectionError) -> Self {
        Self(ConnectFailure::Unreachable, error.to_string())
    }
}

/// The error of a statement.
pub(super) fn classify(error: DieselError) -> Error {
    if meaning(&error) == Some(ErrorClass::Locked) {
        return Error::unavailable(format!("{LOCKED}: {error}"));
    }
    errors::classify(
        error,
        |error| is_transient(error),
        |error| meaning(error) == Some(ErrorClass::DiskFull),
    )
}

/// Whether a retry may succeed.
pub(super) fn is_transient(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut meanings = causes(error).filter_map(meaning);
    meanings.any(|one| {
        matches!(
            one,
            ErrorClass::Conflict | ErrorClass::Locked | ErrorClass::Busy | ErrorClass::ReadOnly
        )
    })
}

/// The meaning of an error, without that of its causes.
pub(super) fn meaning(error: &(dyn std::error::Error + 'static)) -> Option<ErrorClass> {
    let message = match error.downcast_ref() {
        Some(DieselError::DatabaseError(DatabaseErrorKind::SerializationFailure, _)) => {
            return Some(ErrorClass::Conflict);
        }
        Some(DieselError::DatabaseError(DatabaseErrorKind::ReadOnlyTransaction, _)) => {
            return Some(ErrorClass::ReadOnly);
        }
        Some(DieselError::DatabaseError(DatabaseErrorKind::NotNullViolation, cause)) => {
            // MariaDB's 1048, for a number outside of its transaction, which a Galera node has ended.
            let columns =
                ["revision", "replaced", "next_id"].map(|name| format!("Column '{name}' "));
            let is_lost = columns
                .iter()
                .any(|column| cause.message().starts_with(column));
            return is_lost.then_some(ErrorClass::Conflict);
        }
        None | Some(DieselError::DatabaseError(DatabaseErrorKind::Unknown, _)) => error.to_string(),
        // The message may quote a name: MariaDB quotes the one that is taken.
        Some(_) => return None,
    };
    let mut messages = MESSAGES.iter();
    let found = messages.find(|(part, _)| message.contains(part));
    found.map(|(_, meaning)| *meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_key_error_quoting_a_message_is_not_transient() {
        let error = |kind, message: String| DieselError::DatabaseError(kind, Box::new(message));
        for (name, _) in MESSAGES {
            let message = format!("Duplicate entry '{name}' for key 'robots_name'");
            let taken = error(DatabaseErrorKind::UniqueViolation, message);
            assert_eq!(meaning(&taken), None, "{name}");
            assert!(matches!(classify(taken), Error::Rejected(_)), "{name}");
        }
        let message = "The server is running with the --read-only option so it cannot execute this";
        let read_only = error(DatabaseErrorKind::Unknown, message.to_owned());
        assert_eq!(meaning(&read_only), Some(ErrorClass::ReadOnly));
    }

    #[test]
    fn full_disk_is_recognised_by_its_message() {
        for message in [
            "could not extend file \"base/16384/16397\": No space left on device",
            "could not write to file \"base/pgsql_tmp/1\": Disk quota exceeded",
            "Disk full (/tmp/#sql-1); waiting for someone to free some space... (errno: 28)",
            "Error writing file '/tmp/x' (errno: 28 \"No space left on device\")",
            "Got error 28 \"No space left on device\" from storage engine InnoDB",
            "The table 'robots' is full",
        ] {
            let information = Box::new(message.to_owned());
            let error = DieselError::DatabaseError(DatabaseErrorKind::Unknown, information);
            assert!(matches!(classify(error), Error::DiskFull(_)), "{message}");
        }
    }
}
