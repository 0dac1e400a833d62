//! The catalogues on the kinds of servers.

use std::{fmt, sync::Arc};

use super::{backend::Backend, store::ServerStore};
use crate::catalogue::{OpenError, OpenOptions, Scheme, store::forward_catalogue};

/// Defines the catalogue on a kind of server, and its URLs.
macro_rules! server_catalogue {
    ($(#[$documentation:meta])* $catalogue:ident, $connection:ty, $scheme:ident, $names:expr) => {
        /// URLs of such databases.
        pub(crate) const $scheme: Scheme = Scheme {
            names: $names,
            example: <$connection as Backend>::EXAMPLE,
            open: |url, options| Ok(Arc::new($catalogue::open_with(url, options)?)),
        };

        $(#[$documentation])*
        ///
        /// A write is on the server's disk before its call returns. Any number of processes may use one
        /// database at the same time. While the server is unreachable, calls fail with
        /// [`Error::Unavailable`](crate::Error::Unavailable), or with
        /// [`Error::Unknown`](crate::Error::Unknown) if the connection was lost during a write.
        pub struct $catalogue(ServerStore<$connection>);

        impl $catalogue {
            /// Opens the database that a URL names (see [`open`](crate::open())), creates its tables if they
            /// are missing, and brings them up to date.
            ///
            /// # Errors
            /// An [`OpenError`] whose message says what to do.
            pub fn open(url: &str) -> Result<Self, OpenError> {
                Self::open_with(url, &OpenOptions::default())
            }

            /// Opens a database with these options.
            ///
            /// # Errors
            /// As [`open`](Self::open).
            pub fn open_with(url: &str, options: &OpenOptions) -> Result<Self, OpenError> {
                ServerStore::open(url, options).map(Self)
            }
        }

        impl fmt::Debug for $catalogue {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut debug = formatter.debug_struct(stringify!($catalogue));
                debug.finish_non_exhaustive()
            }
        }

        forward_catalogue!([] $catalogue, self => self.0);
    };
}

#[cfg(feature = "postgres")]
server_catalogue!(
    /// A catalogue on a PostgreSQL server (feature `postgres`).
    PostgresCatalogue,
    diesel_async::AsyncPgConnection,
    POSTGRES,
    &["postgres", "postgresql"]
);

#[cfg(feature = "mysql")]
server_catalogue!(
    /// A catalogue on a MariaDB or MySQL server (feature `mysql`).
    MysqlCatalogue,
    diesel_async::AsyncMysqlConnection,
    MYSQL,
    &["mysql"]
);
