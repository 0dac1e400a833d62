//! Identity of a file: what distinguishes it from every other file, whatever its name.
//!
//! It is read from metadata only. To open and close a file of a database would drop all POSIX locks
//! that SQLite has on it in this process.

use std::fs::Metadata;

/// Device and inode.
#[cfg(unix)]
pub(crate) type Identity = (u64, u64);

#[cfg(unix)]
pub(crate) fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Elsewhere an open file cannot be deleted or replaced.
#[cfg(not(unix))]
pub(crate) type Identity = ();

#[cfg(not(unix))]
pub(crate) fn identity(_: &Metadata) -> Identity {}
