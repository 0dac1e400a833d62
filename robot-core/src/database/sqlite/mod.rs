//! Store in an SQLite file: connections that read, and one thread that writes.

mod background;
mod backup;
mod check;
mod checkpoints;
mod commit_queue;
mod connection;
mod errors;
mod file;
mod files;
mod filter_index;
mod folded_search;
mod inline_reads;
mod migrations;
mod reader;
mod readers;
mod replacement;
mod restore_backup;
mod search;
mod sidecars;
mod statements;
mod store;
mod suspension;
mod trigram_index;
mod wal;
mod write_session;
mod writer;

pub(crate) use backup::backup;
pub(crate) use check::check;
pub(crate) use file::files;
pub(crate) use restore_backup::restore_backup;
pub(crate) use store::SCHEME;
pub use store::SqliteCatalogue;
