//! Files: their identity, those that belong to a store, and those that are written.

pub(crate) mod identity;
#[cfg(feature = "sqlite")]
pub(crate) mod mount;
#[cfg(any(feature = "sqlite", feature = "transfer"))]
pub(crate) mod output;
pub(crate) mod path;
pub(crate) mod store_files;

#[cfg(any(feature = "sqlite", feature = "transfer"))]
pub use output::{OutputError, OutputFile};
pub use store_files::StoreFiles;

/// Behaviour if a file exists that is to be written.
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// use robot_core::{Existing, backup};
///
/// let folder = tempfile::tempdir()?;
/// let (url, file) = (format!("sqlite://{}/robots.db", folder.path().display()), folder.path().join("copy.db"));
/// robot_core::open(&url)?;
/// backup(&url, &file, Existing::Keep)?;
/// assert!(backup(&url, &file, Existing::Keep).is_err());
/// assert!(backup(&url, &file, Existing::Replace).is_ok());
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// The file is kept, and writing fails.
    Keep,
    /// The complete new file replaces it atomically.
    Replace,
}
