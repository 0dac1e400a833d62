//! Stores on database servers: PostgreSQL, and MariaDB or MySQL.

mod backend;
mod batcher;
mod catalogue;
mod changes;
mod connect_error;
mod connection;
mod connector;
mod errors;
mod kind;
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
pub(crate) use catalogue::MYSQL;
#[cfg(feature = "mysql")]
pub use catalogue::MysqlCatalogue;
#[cfg(feature = "postgres")]
pub(crate) use catalogue::POSTGRES;
#[cfg(feature = "postgres")]
pub use catalogue::PostgresCatalogue;
