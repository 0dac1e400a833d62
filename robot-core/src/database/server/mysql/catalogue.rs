//! The catalogue on a MariaDB or MySQL server.

use std::{fmt, sync::Arc};

use diesel_async::AsyncMysqlConnection;

use crate::{
    catalogue::{OpenError, OpenOptions, Scheme, store::forward_catalogue},
    database::server::{backend::Backend, store::ServerStore},
};

/// URLs of MariaDB and MySQL databases.
pub(crate) const SCHEME: Scheme = Scheme {
    names: &["mysql"],
    example: <AsyncMysqlConnection as Backend>::EXAMPLE,
    open: |url, options| Ok(Arc::new(MysqlCatalogue::open_with(url, options)?)),
};

/// A catalogue on a MariaDB or MySQL server (feature `mysql`).
///
/// A write is on the server's disk before its call returns. Any number of processes may use one
/// database at the same time. While the server is unreachable, calls fail with
/// [`Error::Unavailable`](crate::Error::Unavailable), or with
/// [`Error::Unknown`](crate::Error::Unknown) if the connection was lost during a write.
pub struct MysqlCatalogue(ServerStore<AsyncMysqlConnection>);

impl MysqlCatalogue {
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

impl fmt::Debug for MysqlCatalogue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("MysqlCatalogue")
            .finish_non_exhaustive()
    }
}

forward_catalogue!([] MysqlCatalogue, self => self.0);
