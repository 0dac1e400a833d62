//! Stores on database servers: PostgreSQL, and MariaDB or MySQL.

mod address;
mod backend;
mod errors;
mod executor;
mod limits;
#[cfg(feature = "mysql")]
mod mysql;
mod pool;
#[cfg(feature = "postgres")]
mod postgres;
mod semaphore;
mod session;
mod store;

/// URLs of PostgreSQL databases.
#[cfg(feature = "postgres")]
pub(crate) const POSTGRES: crate::catalogue::Scheme =
    <diesel::PgConnection as backend::Backend>::SCHEME;

/// URLs of MariaDB and MySQL databases.
#[cfg(feature = "mysql")]
pub(crate) const MYSQL: crate::catalogue::Scheme =
    <diesel::MysqlConnection as backend::Backend>::SCHEME;

#[cfg(feature = "mysql")]
pub use mysql::MysqlCatalogue;
#[cfg(feature = "postgres")]
pub use postgres::PostgresCatalogue;
