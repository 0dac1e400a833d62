//! How long past versions of robots are kept.

use std::time::Duration;

use crate::model::Timestamp;

/// Which past versions are kept: those that were replaced not longer ago than this, and so many.
///
/// ```
/// use robot_core::{Catalogue, CatalogueExt, Draft, Extent, MemoryCatalogue, Retention};
///
/// let catalogue = MemoryCatalogue::new();
/// let start = catalogue.position()?;
/// let id = catalogue.add(Draft::new("R2-D2", "droid", 1977))?.id();
/// catalogue.delete(id)?;
/// assert_eq!(catalogue.prune(Retention::default())?, 0);
/// assert_eq!(catalogue.prune(Retention::NONE)?, 1);
/// assert!(catalogue.changes(&start, Extent::Latest, 10).is_err());
/// # Ok::<(), robot_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// How long a version is kept after it was replaced: 90 days by default.
    pub age: Duration,
    /// How many versions are kept: ten million by default.
    pub versions: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            age: Duration::from_secs(90 * 24 * 60 * 60),
            versions: 10_000_000,
        }
    }
}

impl Retention {
    /// No past versions.
    pub const NONE: Self = Self {
        age: Duration::ZERO,
        versions: 0,
    };

    /// The versions of so many days, ten million at most; none for 0.
    #[must_use]
    pub fn of_days(days: u32) -> Self {
        match days {
            0 => Self::NONE,
            days => Self {
                age: Duration::from_secs(u64::from(days) * 24 * 60 * 60),
                ..Self::default()
            },
        }
    }

    /// The time from which on versions that were replaced are kept.
    pub(crate) fn oldest(self) -> Timestamp {
        let age = i64::try_from(self.age.as_millis()).unwrap_or(i64::MAX);
        let oldest = Timestamp::now().milliseconds().saturating_sub(age);
        Timestamp::from_milliseconds(oldest).unwrap_or(Timestamp::MIN)
    }
}
