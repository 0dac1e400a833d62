//! Files: their identity, those that belong to a store, and those that are written.

pub(crate) mod identity;
#[cfg(any(feature = "sqlite", feature = "transfer"))]
pub(crate) mod output;
pub(crate) mod path;
pub(crate) mod store_files;

#[cfg(any(feature = "sqlite", feature = "transfer"))]
pub use output::{OutputError, OutputFile};
pub use store_files::StoreFiles;
