//! PostgreSQL.

mod connect;
mod connection;
mod migrations;
mod pooler;
mod statements;
mod tls;
mod url;
