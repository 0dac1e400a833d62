//! MariaDB and MySQL.

mod catalogue;
mod connection;
mod statements;

pub use catalogue::MysqlCatalogue;
pub(crate) use catalogue::SCHEME;
