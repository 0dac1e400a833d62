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

#[cfg(feature = "mysql")]
pub use mysql::MysqlCatalogue;
#[cfg(feature = "mysql")]
pub(crate) use mysql::SCHEME as MYSQL;
#[cfg(feature = "postgres")]
pub use postgres::PostgresCatalogue;
#[cfg(feature = "postgres")]
pub(crate) use postgres::SCHEME as POSTGRES;
