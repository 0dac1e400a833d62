//! Moving a catalogue from one store to another, and proving that it has arrived.

use std::{fmt, ops::ControlFlow};

use sha2::{Digest, Sha256};

use crate::{
    catalogue::{Catalogue, Error, PageItem, PageRequest, Pages, Restoration, Result},
    model::{Entry, Robot},
};

/// How many robots are copied at a time: enough to share the costs of a commit, and few enough to
/// be in nobody's way.
const BATCH: usize = 4000;

/// What a catalogue has, in short: catalogues of the same robots have the same digest, whatever
/// store they are in.
///
/// ```
/// use robot_core::{Draft, MemoryCatalogue, transfer::digest};
///
/// let (one, other) = (MemoryCatalogue::new(), MemoryCatalogue::new());
/// assert_eq!(digest(&one)?, digest(&other)?);
/// one.add(Draft::new("R2-D2", "droid", 1977))?;
/// assert_ne!(digest(&one)?, digest(&other)?);
/// # Ok::<(), robot_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogueDigest {
    /// How many robots there are.
    pub robots: u64,
    /// The checksum of all of them.
    pub checksum: Checksum,
}

/// The SHA-256 of robots in the order of their names, each as JSON on a line of its own. It is what
/// `robot-cli list --format ndjson | sha256sum` prints.
///
/// ```
/// use robot_core::{MemoryCatalogue, transfer::digest};
///
/// // Of no robots, and so of no bytes.
/// let checksum = digest(&MemoryCatalogue::new())?.checksum;
/// assert_eq!(checksum.as_bytes()[..4], [0xe3, 0xb0, 0xc4, 0x42]);
/// assert!(checksum.to_string().starts_with("e3b0c442"));
/// # Ok::<(), robot_core::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Checksum([u8; 32]);

impl Checksum {
    /// The 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Checksum {
    /// 64 digits, `0` to `f`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for Checksum {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// What is being done in the course of a copy.
///
/// ```
/// use std::ops::ControlFlow;
/// use robot_core::{CatalogueExt, Draft, MemoryCatalogue, transfer::{CopyStage, copy}};
///
/// let source = MemoryCatalogue::new();
/// source.add(Draft::new("R2-D2", "droid", 1977))?;
/// let mut stages = Vec::new();
/// copy(&source, &MemoryCatalogue::new(), |progress| {
///     stages.push(progress.stage);
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(stages.last(), Some(&CopyStage::VerifyingTarget));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CopyStage {
    /// The robots of the source are counted.
    Counting,
    /// Robots are copied.
    Copying,
    /// The source is read again.
    VerifyingSource,
    /// The target is read.
    VerifyingTarget,
}

/// How far a copy has got.
///
/// ```
/// use robot_core::transfer::CopyProgress;
///
/// /// A line for people.
/// fn line(progress: CopyProgress) -> String {
///     match progress.total {
///         Some(total) => format!("{} of {total}", progress.robots),
///         None => progress.robots.to_string(),
///     }
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyProgress {
    /// What is being done.
    pub stage: CopyStage,
    /// With how many robots it is done.
    pub robots: u64,
    /// How many there are, as far as is known: the source may change meanwhile.
    pub total: Option<u64>,
}

/// Why a copy failed. What the target has got by then stays there, and is of no use.
///
/// ```
/// use std::ops::ControlFlow;
/// use robot_core::{CatalogueExt, Draft, MemoryCatalogue, transfer::{CopyError, copy}};
///
/// let (source, target) = (MemoryCatalogue::new(), MemoryCatalogue::new());
/// target.add(Draft::new("R2-D2", "droid", 1977))?;
/// let outcome = copy(&source, &target, |_| ControlFlow::Continue(()));
/// assert!(matches!(outcome, Err(CopyError::NotEmpty)));
/// # Ok::<(), robot_core::Error>(())
/// ```
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CopyError {
    /// The target has robots. Nothing was copied.
    #[error("the target has robots already; name an empty one")]
    NotEmpty,
    /// The source cannot be read.
    #[error("the source cannot be read")]
    Source(#[source] Error),
    /// The target cannot be read or written, or somebody else adds robots to it.
    #[error("the target cannot be read or written")]
    Target(#[source] Error),
    /// The caller has broken it off, when so many robots were copied.
    #[error("it was broken off when {copied} robots were copied")]
    BrokenOff {
        /// How many robots the target has got.
        copied: u64,
    },
    /// All was copied, and source and target differ.
    #[error(
        "the source has {} robots with the checksum {}, the target {} with {}: \
         somebody has changed one of them meanwhile",
        source_digest.robots, source_digest.checksum, target_digest.robots, target_digest.checksum
    )]
    Different {
        /// What the source has.
        source_digest: CatalogueDigest,
        /// What the target has.
        target_digest: CatalogueDigest,
    },
}

/// Reads a catalogue, page after page, and digests it.
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
    let mut digester = Digester::default();
    for page in Pages::new(catalogue, "") {
        digester.update(&page?)?;
    }
    Ok(digester.finish())
}

/// Copies all robots, with their ids, into an empty catalogue, and then reads both to see that they
/// are the same. New robots of the target get ids that no robot of the source has ever had. Memory
/// stays constant.
///
/// Nobody should change the source meanwhile: what is changed behind the copy is missing in it,
/// which is then an error. `tell` is called after each page of some thousand robots, and breaks the
/// copy off when it says so.
///
/// # Errors
/// A [`CopyError`]. But for [`CopyError::NotEmpty`], the target may have got robots by then.
///
/// ```
/// use std::ops::ControlFlow;
/// use robot_core::{Catalogue, CatalogueExt, Draft, MemoryCatalogue, transfer::copy};
///
/// let (source, target) = (MemoryCatalogue::new(), MemoryCatalogue::new());
/// let gone = source.add(Draft::new("Marvin", "droid", 1978))?;
/// let robot = source.add(Draft::new("R2-D2", "droid", 1977))?;
/// source.delete(gone.id())?;
///
/// let copied = copy(&source, &target, |_| ControlFlow::Continue(()))?;
/// assert_eq!(copied.robots, 1);
/// assert_eq!(target.get(robot.id())?, Some(robot));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn copy<S: Catalogue + ?Sized, T: Catalogue + ?Sized>(
    source: &S,
    target: &T,
    mut tell: impl FnMut(CopyProgress) -> ControlFlow<()>,
) -> Result<CatalogueDigest, CopyError> {
    let any = PageRequest {
        containing: "",
        after: "",
        limit: 1,
    };
    if !target.entries(any).map_err(CopyError::Target)?.is_empty() {
        return Err(CopyError::NotEmpty);
    }
    let mut copy = Copy {
        tell: &mut tell,
        copied: 0,
        total: None,
    };
    copy.read::<Entry>(source, CopyStage::Counting, CopyError::Source, |_| Ok(()))
        .map(|count| copy.total = Some(count))?;
    copy.copy(source, target)?;
    let source_digest = copy.digest(source, CopyStage::VerifyingSource, CopyError::Source)?;
    let target_digest = copy.digest(target, CopyStage::VerifyingTarget, CopyError::Target)?;
    if source_digest != target_digest {
        return Err(CopyError::Different {
            source_digest,
            target_digest,
        });
    }
    Ok(target_digest)
}

/// A copy that is under way.
struct Copy<'a> {
    tell: &'a mut dyn FnMut(CopyProgress) -> ControlFlow<()>,
    copied: u64,
    total: Option<u64>,
}

impl Copy<'_> {
    /// Copies the robots, and what their ids go on from.
    fn copy<S: Catalogue + ?Sized, T: Catalogue + ?Sized>(
        &mut self,
        source: &S,
        target: &T,
    ) -> Result<(), CopyError> {
        // First, so that what the ids of the target go on from moves once, and at last for those
        // that were given meanwhile.
        spend_ids(source, target)?;
        let mut copied = 0;
        let outcome = self.read::<Robot>(source, CopyStage::Copying, CopyError::Source, |robots| {
            let restoration = Restoration::new(robots.iter().cloned(), None);
            restoration
                .and_then(|restoration| target.restore(&restoration))
                .map_err(CopyError::Target)?;
            copied += count(robots);
            Ok(())
        });
        self.copied = copied;
        match outcome {
            Err(CopyError::BrokenOff { .. }) => Err(CopyError::BrokenOff { copied }),
            outcome => outcome.and_then(|_| spend_ids(source, target)),
        }
    }

    /// Digests a catalogue.
    fn digest<C: Catalogue + ?Sized>(
        &mut self,
        catalogue: &C,
        stage: CopyStage,
        failure: fn(Error) -> CopyError,
    ) -> Result<CatalogueDigest, CopyError> {
        let mut digester = Digester::default();
        self.read::<Robot>(catalogue, stage, failure, |robots| {
            digester.update(robots).map_err(failure)
        })?;
        Ok(digester.finish())
    }

    /// Reads a catalogue, and tells how far that has got; how many there were.
    fn read<T: PageItem>(
        &mut self,
        catalogue: &(impl Catalogue + ?Sized),
        stage: CopyStage,
        failure: fn(Error) -> CopyError,
        mut take: impl FnMut(&[T]) -> Result<(), CopyError>,
    ) -> Result<u64, CopyError> {
        let mut robots = 0;
        let pages = Pages::<_, T>::of(catalogue, String::new(), String::new());
        for page in pages.page_size(BATCH) {
            let page = page.map_err(failure)?;
            take(&page)?;
            robots += count(&page);
            let total = self.total;
            let progress = CopyProgress {
                stage,
                robots,
                total,
            };
            if (self.tell)(progress).is_break() {
                let copied = self.copied;
                return Err(CopyError::BrokenOff { copied });
            }
        }
        Ok(robots)
    }
}

/// Keeps the target from giving ids that the source has given.
fn spend_ids<S: Catalogue + ?Sized, T: Catalogue + ?Sized>(
    source: &S,
    target: &T,
) -> Result<(), CopyError> {
    let last_id = source.last_id().map_err(CopyError::Source)?;
    Restoration::new([], last_id)
        .and_then(|restoration| target.restore(&restoration))
        .map_err(CopyError::Target)
}

fn count<T>(page: &[T]) -> u64 {
    u64::try_from(page.len()).unwrap_or(u64::MAX)
}

/// What makes a digest of robots that come in order.
#[derive(Default)]
struct Digester {
    robots: u64,
    hash: Sha256,
    line: Vec<u8>,
}

impl Digester {
    fn update(&mut self, robots: &[Robot]) -> Result<()> {
        for robot in robots {
            self.line.clear();
            serde_json::to_writer(&mut self.line, robot).map_err(Error::store)?;
            self.line.push(b'\n');
            self.hash.update(&self.line);
        }
        self.robots += count(robots);
        Ok(())
    }

    fn finish(self) -> CatalogueDigest {
        CatalogueDigest {
            robots: self.robots,
            checksum: Checksum(self.hash.finalize().into()),
        }
    }
}
