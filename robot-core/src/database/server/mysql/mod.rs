//! MariaDB and MySQL.

mod catalogue;
mod connection;
mod migrations;
mod statements;
mod url;

pub use catalogue::MysqlCatalogue;
pub(crate) use catalogue::SCHEME;
