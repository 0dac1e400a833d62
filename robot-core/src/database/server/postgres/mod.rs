//! PostgreSQL.

mod catalogue;
mod connect;
mod connection;
mod migrations;
mod pooler;
mod statements;
mod tls;
mod url;

pub use catalogue::PostgresCatalogue;
pub(crate) use catalogue::SCHEME;
