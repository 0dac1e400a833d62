//! Store in an SQLite file: connections that read, and one thread that writes.

mod connect;
mod errors;
mod maintain;
mod migrations;
mod search;
mod statements;
mod store;
mod trigram_index;
mod write;

pub(crate) use connect::files;
pub(crate) use maintain::{backup, check, restore_backup};
pub(crate) use store::SCHEME;
