//! Interface of a server backend: connecting, and the meaning of errors.

use std::time::Duration;

use diesel::{ConnectionError, ConnectionResult, QueryResult, r2d2::R2D2Connection};

use crate::{
    catalogue::OpenOptions,
    database::{migrations::Migrate, statements::Statements},
};

/// Purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To check the database and to bring its tables up to date.
    Prepare,
    /// To read and write robots.
    Use,
}

/// Why a server did not accept a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectFailure {
    /// It is unreachable or not ready yet.
    Unreachable,
    /// It rejects the connection until its configuration or the URL changes.
    Rejected,
    /// The URL is invalid.
    InvalidUrl,
}

/// A connection to a kind of database server.
pub(super) trait Backend: Statements + Migrate + R2D2Connection + 'static {
    /// A URL, as an example for messages.
    const EXAMPLE: &'static str;

    /// What the operator can do about a server that rejects a connection.
    const REMEDY: &'static str;

    /// The URL to connect to, with parameters that it does not set itself.
    fn complete_url(url: &str, options: &OpenOptions) -> String;

    /// Connects, and sets what the catalogue relies on.
    fn connect(url: &str, purpose: Purpose, timeout: Duration) -> ConnectionResult<Self>;

    /// Why a connection failed.
    fn connect_failure(error: &ConnectionError) -> ConnectFailure;

    /// Sets how long a statement may take, where `connect` has not set a limit for all of them.
    fn limit_statements(&mut self, limit: Duration) -> QueryResult<()> {
        let _ = limit;
        Ok(())
    }

    /// Prepares the database, after its tables are up to date.
    fn prepare(&mut self, database: &str) {
        let _ = database;
    }
}
