//! Stores on database servers: PostgreSQL, and MariaDB or MySQL.

mod backend;
mod batcher;
mod changes;
mod connect_error;
mod connection;
mod connections;
mod connector;
mod errors;
mod limits;
mod lookups;
#[cfg(feature = "mysql")]
mod mysql;
mod pool;
#[cfg(feature = "postgres")]
mod postgres;
mod runtime;
mod store;
mod tls;
mod url;

#[cfg(feature = "mysql")]
pub use mysql::MysqlCatalogue;
#[cfg(feature = "mysql")]
pub(crate) use mysql::SCHEME as MYSQL;
#[cfg(feature = "postgres")]
pub use postgres::PostgresCatalogue;
#[cfg(feature = "postgres")]
pub(crate) use postgres::SCHEME as POSTGRES;
