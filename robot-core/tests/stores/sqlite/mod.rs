//! The SQLite store: its files, locks, commits, search index and backups.

mod backup;
mod changed_files;
mod group_commit;
mod locks;
mod opening;
mod search_index;
mod upgrade;
mod visibility;
mod wal;

pub(crate) use search_index::{LEADING, add_leading_names, index_all_names};
