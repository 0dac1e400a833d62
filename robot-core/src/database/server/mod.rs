//! Stores on database servers: PostgreSQL, and MariaDB or MySQL.
//!
//! A write is on the server's disk before its call returns. Any number of processes may use one database at the same
//! time. While the server is unreachable, calls fail with `Error::Unavailable`, or with `Error::Unknown` if the
//! connection was lost during a write.

mod backend;
mod batcher;
mod changes;
mod connect_error;
mod connection;
mod connector;
mod define;
mod errors;
mod lookups;
#[cfg(feature = "mysql")]
mod mysql;
mod operation;
mod pattern;
mod pool;
#[cfg(feature = "postgres")]
mod postgres;
mod runtime;
mod store;
mod tls;
mod upkeep;
mod url;

use std::sync::Arc;

use crate::catalogue::Scheme;
use {backend::Backend, store::ServerStore};

/// URLs of PostgreSQL.
#[cfg(feature = "postgres")]
pub(crate) const POSTGRES: Scheme = scheme::<diesel_async::AsyncPgConnection>();

/// URLs of MariaDB and MySQL.
#[cfg(feature = "mysql")]
pub(crate) const MYSQL: Scheme = scheme::<diesel_async::AsyncMysqlConnection>();

const fn scheme<B: Backend>() -> Scheme {
    Scheme {
        names: B::SCHEMES,
        example: B::EXAMPLE,
        open: |url, options| Ok(Arc::new(ServerStore::<B>::open(url, options)?)),
    }
}
