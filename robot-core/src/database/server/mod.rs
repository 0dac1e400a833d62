//! Stores on database servers: PostgreSQL, and MariaDB or MySQL.

mod abandoned;
mod address;
mod backend;
mod batcher;
mod changes;
mod connector;
mod errors;
mod limits;
mod lookups;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;
mod store;
mod tasks;
mod watchdog;

#[cfg(feature = "mysql")]
pub use mysql::MysqlCatalogue;
#[cfg(feature = "mysql")]
pub(crate) use mysql::SCHEME as MYSQL;
#[cfg(feature = "postgres")]
pub use postgres::PostgresCatalogue;
#[cfg(feature = "postgres")]
pub(crate) use postgres::SCHEME as POSTGRES;
