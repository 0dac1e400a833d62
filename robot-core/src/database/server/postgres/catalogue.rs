//! The catalogue on a PostgreSQL server.

use std::{fmt, sync::Arc};

use diesel_async::AsyncPgConnection;

use crate::{
    catalogue::{OpenError, OpenOptions, Scheme, store::forward_catalogue},
    database::server::{backend::Backend, store::ServerStore},
};

/// URLs of PostgreSQL databases.
pub(crate) const SCHEME: Scheme = Scheme {
    names: &["postgres", "postgresql"],
    example: <AsyncPgConnection as Backend>::EXAMPLE,
    open: |url, options| Ok(Arc::new(PostgresCatalogue::open_with(url, options)?)),
};

/// A catalogue on a PostgreSQL server (feature `postgres`).
///
/// A write is on the server's disk before its call returns. Any number of processes may use one
/// database at the same time. While the server is unreachable, calls fail with
/// [`Error::Unavailable`](crate::Error::Unavailable), or with
/// [`Error::Unknown`](crate::Error::Unknown) if the connection was lost during a write.
pub struct PostgresCatalogue(ServerStore<AsyncPgConnection>);

impl PostgresCatalogue {
    /// Opens the database that a URL names (see [`open`](crate::open())), creates its tables if they
    /// are missing, and brings them up to date.
    ///
    /// # Errors
    /// An [`OpenError`] whose message says what to do.
    pub fn open(url: &str) -> Result<Self, OpenError> {
        Self::open_with(url, &OpenOptions::new())
    }

    /// Opens a database with these options.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(url: &str, options: &OpenOptions) -> Result<Self, OpenError> {
        ServerStore::open(url, options).map(Self)
    }
}

impl fmt::Debug for PostgresCatalogue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PostgresCatalogue")
            .finish_non_exhaustive()
    }
}

forward_catalogue!([] PostgresCatalogue, self => self.0);
