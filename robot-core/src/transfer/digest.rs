//! Digest of a catalogue, to compare catalogues in different stores.

use sha2::{Digest, Sha256};

use super::{format::FileFormat, writer::RobotWriter};
use crate::catalogue::{Catalogue, Error, Filter, Pages, Sort};

/// Number of robots per batch. Lower, and each commit of a copy is shared by fewer robots; higher, and a batch
/// may block other writers for more than a second: see [`Catalogue::restore`].
pub(super) const BATCH: usize = 4000;

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
pub fn digest<C: Catalogue + ?Sized>(catalogue: &C) -> Result<CatalogueDigest, Error> {
    digest_with(catalogue, |error| error, |_| Ok(()))
}

/// The digest of a catalogue. Each page is reported with the number of robots so far.
pub(super) fn digest_with<C: Catalogue + ?Sized, E>(
    catalogue: &C,
    failure: impl Fn(Error) -> E,
    mut report: impl FnMut(u64) -> Result<(), E>,
) -> Result<CatalogueDigest, E> {
    let fields = catalogue.definition().default_fields().to_vec();
    let mut writer = RobotWriter::new(FileFormat::Ndjson, fields);
    let (mut robots, mut hash) = (0, Sha256::new());
    for page in Pages::new(catalogue, Filter::all())
        .sorted(Sort::BY_ID)
        .page_size(BATCH)
    {
        let page = page.map_err(&failure)?;
        let mut lines = Vec::new();
        let written = writer.write(&page, &mut lines).map_err(Error::store);
        written.map_err(&failure)?;
        hash.update(&lines);
        robots += page.len() as u64;
        report(robots)?;
    }
    let checksum = hex::encode(hash.finalize());
    Ok(CatalogueDigest { robots, checksum })
}
