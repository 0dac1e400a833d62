//! Connections to a database file: the file itself, its settings, and the connections that read.

mod connection;
mod file;
mod inline_reads;
mod pool;
mod reader;
mod sidecars;

pub(crate) use connection::{
    LOCK_PAUSE, Purpose, WAL_LIMIT, begin, enable_wal, retry_while_locked, uri,
};
pub(crate) use file::{DatabaseFile, files};
pub(crate) use inline_reads::InlineReads;
pub(crate) use pool::ReaderPool;
pub(crate) use sidecars::{JOURNAL, LOGS, SHARED_MEMORY, SIDECARS, WAL};
