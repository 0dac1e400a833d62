//! Copy of a catalogue to another store, with verification.

use std::ops::ControlFlow;

use super::digest::{BATCH, CatalogueDigest, digest_with};
use crate::{
    catalogue::{
        Catalogue, CatalogueExt, Error, Filter, Pages, Redefinition, Restoration, Result, Sort,
    },
    model::{Definition, Field, Revision, Robot},
};

/// A stage of a copy.
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
    /// Robots are copied.
    Copying,
    /// The source is read again.
    VerifyingSource,
    /// The target is read.
    VerifyingTarget,
}

/// The progress of a copy.
///
/// ```
/// use robot_core::transfer::CopyProgress;
///
/// /// The progress as text.
/// fn line(progress: CopyProgress) -> String {
///     format!("{} of {}", progress.robots, progress.total)
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyProgress {
    /// The current stage.
    pub stage: CopyStage,
    /// The number of robots that are done in this stage.
    pub robots: u64,
    /// The number of robots that were counted. The source may change meanwhile.
    pub total: u64,
}

/// Why a copy failed. Robots that were copied stay in the target, which is incomplete.
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
    /// The target contains robots. Nothing was copied.
    #[error("the target is not empty; use an empty one")]
    NotEmpty,
    /// The target has another definition than the source, which is not the built-in one.
    #[error(
        "the target has another definition than the source, which differs in: {fields}; define the target \
         as the source, or use a new one"
    )]
    OtherDefinition {
        /// The names of the fields that differ.
        fields: String,
    },
    /// The source cannot be read.
    #[error("the source cannot be read")]
    Source(#[source] Error),
    /// The target cannot be read or written, or another program adds robots to it.
    #[error("the target cannot be read or written")]
    Target(#[source] Error),
    /// The caller cancelled the copy.
    #[error("the copy was cancelled when {copied} robots were copied")]
    Cancelled {
        /// The number of robots that were copied.
        copied: u64,
    },
    /// All robots were copied, but source and target differ.
    #[error(
        "the source has {} robots with the checksum {}, the target {} with {}: \
         another program changed one of them meanwhile",
        source_digest.robots, source_digest.checksum, target_digest.robots, target_digest.checksum
    )]
    Mismatch {
        /// The digest of the source.
        source_digest: CatalogueDigest,
        /// The digest of the target.
        target_digest: CatalogueDigest,
    },
}

/// Copies all robots, with their ids but neither their revisions nor their history, into an empty
/// catalogue, and then verifies it by comparing the digests of both. New robots of the target get ids that no robot of the source ever had. Memory
/// is constant.
///
/// Columns that other programs have added to the source ([`Catalogue::foreign_columns`]) are not copied.
///
/// Stop writers first: changes of the source during the copy are detected, and are then an error.
/// `progress` is called after each page of some thousand robots, and can cancel the copy.
///
/// # Errors
/// A [`CopyError`]. Except for [`CopyError::NotEmpty`], the target may contain some of the robots.
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
/// assert_eq!(target.find("R2-D2")?.map(|copy| copy.id()), Some(robot.id()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn copy<S: Catalogue + ?Sized, T: Catalogue + ?Sized>(
    source: &S,
    target: &T,
    mut progress: impl FnMut(CopyProgress) -> ControlFlow<()>,
) -> Result<CatalogueDigest, CopyError> {
    let present = Pages::new(target, "").page_size(1).next().transpose();
    if present.map_err(CopyError::Target)?.is_some() {
        return Err(CopyError::NotEmpty);
    }
    copy_definition(source, target)?;
    let total = source.count(&Filter::all()).map_err(CopyError::Source)?;
    let mut copied = 0;
    let mut report = |stage, robots, copied| {
        let progress = progress(CopyProgress {
            stage,
            robots,
            total,
        });
        match progress {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(CopyError::Cancelled { copied }),
        }
    };
    let last_id = || source.last_id().map_err(CopyError::Source);
    let restore = |robots: Vec<Robot>, last_id| {
        let restoration = Restoration::new(robots, last_id);
        let restored = restoration.and_then(|restoration| target.restore(&restoration));
        restored.map_err(CopyError::Target)
    };
    // Makes sure that the target assigns no id that the source has assigned. First, so that the target raises its
    // last id once; and again at the end, for ids that were assigned meanwhile.
    restore(Vec::new(), last_id()?)?;
    let mut fields = source.definition().all().to_vec();
    // A store of an earlier version has no times.
    if source.position().is_ok() {
        fields.extend_from_slice(Field::AUDIT);
    }
    for page in Pages::new(source, Filter::all())
        .with_fields(fields.into())
        .sorted(Sort::BY_ID)
        .page_size(BATCH)
    {
        let page = page.map_err(CopyError::Source)?;
        let robots = page.len() as u64;
        restore(page, None)?;
        copied += robots;
        report(CopyStage::Copying, copied, copied)?;
    }
    restore(Vec::new(), last_id()?)?;
    let source_digest = digest_with(source, CopyError::Source, |robots| {
        report(CopyStage::VerifyingSource, robots, copied)
    })?;
    let target_digest = digest_with(target, CopyError::Target, |robots| {
        report(CopyStage::VerifyingTarget, robots, copied)
    })?;
    if source_digest != target_digest {
        return Err(CopyError::Mismatch {
            source_digest,
            target_digest,
        });
    }
    Ok(target_digest)
}

/// Gives a target that has the built-in definition the definition of the source.
fn copy_definition<S: Catalogue + ?Sized, T: Catalogue + ?Sized>(
    source: &S,
    target: &T,
) -> Result<(), CopyError> {
    let (wanted, present) = (source.definition(), target.definition());
    // Robots may be older than the rules of a definition that was changed, even if it was changed back.
    let was_changed = |definition: &Definition| definition.revision() > Revision::FIRST;
    if wanted == present && (was_changed(&present) || !was_changed(&wanted)) {
        return Ok(());
    }
    if present != *Definition::built_in() {
        let fields = wanted.differences(&present).join(", ");
        return Err(CopyError::OtherDefinition { fields });
    }
    let mut redefinition = Redefinition::new((*wanted).clone());
    redefinition.expected = Some(present.revision());
    let defined = target.define(redefinition);
    defined.map(drop).map_err(CopyError::Target)
}
