//! PostgreSQL.

mod catalogue;
mod connection;
mod migrations;
mod pooler;
mod statements;

pub use catalogue::PostgresCatalogue;
pub(crate) use catalogue::SCHEME;
