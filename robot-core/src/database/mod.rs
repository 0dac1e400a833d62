//! Stores in SQL databases, through Diesel.
//!
//! `sqlite` and `server` are two stores of their own. They share what is the same for every backend:
//! the schema, the statements, migrations and the restoration of robots with their ids. A backend
//! implements [`dialect::Dialect`], [`execute::Execute`] and [`migrations::Migrate`] for its connection.

mod conditions;
mod define;
mod dialect;
mod errors;
mod execute;
mod fragment;
mod history;
mod index;
mod locks;
mod measuring;
mod migrations;
mod refresher;
mod restore;
mod rewrite;
mod schema;
mod search_text;
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(crate) mod server;
mod slow_statements;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;
mod statements;
mod trigrams;
mod version;
