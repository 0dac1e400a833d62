//! Digest of a catalogue, to compare catalogues in different stores.

use sha2::{Digest, Sha256};

use super::{format::Format, writer::RobotWriter};
use crate::{
    catalogue::{Catalogue, Error, Pages, Result},
    model::{Definition, Robot},
};

/// The digest of a catalogue: catalogues with the same robots have the same digest, whatever store
/// they are in.
///
/// ```
/// use robot_core::{CatalogueExt, Draft, MemoryCatalogue, transfer::digest};
///
/// let (one, other) = (MemoryCatalogue::new(), MemoryCatalogue::new());
/// assert_eq!(digest(&one)?, digest(&other)?);
/// one.add(Draft::new("R2-D2", "droid", 1977))?;
/// assert_ne!(digest(&one)?, digest(&other)?);
/// # Ok::<(), robot_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueDigest {
    /// The number of robots.
    pub robots: u64,
    /// The checksum of all robots.
    pub checksum: String,
}

/// Reads a catalogue page by page, and returns its digest.
///
/// # Errors
/// [`Error::Unavailable`], [`Error::Store`].
///
/// ```
/// use robot_core::{CatalogueExt, Draft, MemoryCatalogue, transfer::digest};
///
/// let catalogue = MemoryCatalogue::new();
/// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
/// let digest = digest(&catalogue)?;
/// assert_eq!(digest.robots, 1);
/// assert!(digest.checksum.to_string().starts_with("de8c44c0"));
/// # Ok::<(), robot_core::Error>(())
/// ```
pub fn digest<C: Catalogue + ?Sized>(catalogue: &C) -> Result<CatalogueDigest> {
    let mut digester = Digester::new(&catalogue.definition());
    for page in Pages::new(catalogue, "") {
        digester.update(&page?)?;
    }
    Ok(digester.finish())
}

/// Computes the digest of robots that are added in order.
pub(super) struct Digester {
    writer: RobotWriter,
    pub(super) robots: u64,
    hash: Sha256,
}

impl Digester {
    pub(super) fn new(definition: &Definition) -> Self {
        let fields = definition.default_fields().to_vec();
        Self {
            writer: RobotWriter::new(Format::Ndjson).fields(fields),
            robots: 0,
            hash: Sha256::new(),
        }
    }

    pub(super) fn update(&mut self, robots: &[Robot]) -> Result<()> {
        let mut lines = Vec::new();
        self.writer
            .write(robots, &mut lines)
            .map_err(Error::store)?;
        self.hash.update(&lines);
        self.robots += count(robots);
        Ok(())
    }

    pub(super) fn finish(self) -> CatalogueDigest {
        CatalogueDigest {
            robots: self.robots,
            checksum: hex::encode(self.hash.finalize()),
        }
    }
}

pub(super) fn count<T>(page: &[T]) -> u64 {
    u64::try_from(page.len()).unwrap_or(u64::MAX)
}
