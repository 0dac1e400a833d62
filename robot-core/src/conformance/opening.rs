//! How the suite opens a store, and whether the store keeps its robots.

use std::{fmt, path::Path, sync::Arc};

use crate::catalogue::Catalogue;

/// Opens the catalogue of a case, each time the same one.
pub(super) type Open = dyn Fn() -> Box<dyn Catalogue>;

/// Prepares a case in its folder.
type Start = dyn Fn(&Path) -> Box<Open> + Send + Sync;

/// A store for a [`Suite`](super::Suite): how it is opened, and whether it keeps its robots.
///
/// ```
/// use robot_core::{MemoryCatalogue, conformance::Store};
///
/// let memory = Store::volatile(MemoryCatalogue::new);
///
/// # #[cfg(feature = "sqlite")] {
///
/// let sqlite = Store::persistent(
///     |folder| format!("sqlite://{}/robots.db", folder.display()),
///     |url| robot_core::open(url).unwrap(),
/// );
/// # }
/// ```
pub struct Store {
    pub(super) start: Arc<Start>,
    pub(super) retention: Retention,
}

/// Whether a catalogue that is closed and opened again has its robots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retention {
    Persistent,
    Volatile,
}

impl Store {
    /// A store that keeps its robots when it is closed.
    ///
    /// `create` is called once for each case, with an empty folder that is deleted after it. It returns
    /// the place of a catalogue that does not exist yet: a path, a URL, a configuration. `open` opens
    /// the catalogue at that place, first an empty one, and again after it was dropped.
    ///
    /// Both panic if they fail, which fails the case.
    ///
    /// No case opens a catalogue twice at the same time, or cuts the power: that every process sees the
    /// latest state, and that a write is on disk when it returns, needs tests of the store's own.
    #[must_use]
    pub fn persistent<P: 'static, C: Catalogue + 'static>(
        create: impl Fn(&Path) -> P + Send + Sync + 'static,
        open: impl Fn(&P) -> C + Send + Sync + 'static,
    ) -> Self {
        let open = Arc::new(open);
        Self {
            start: Arc::new(move |folder| {
                let (place, open) = (create(folder), Arc::clone(&open));
                Box::new(move || Box::new(open(&place)))
            }),
            retention: Retention::Persistent,
        }
    }

    /// A store that keeps nothing: each `open` returns a new, empty catalogue. Instead of the cases of
    /// reopening, one case checks that.
    #[must_use]
    pub fn volatile<C: Catalogue + 'static>(open: impl Fn() -> C + Send + Sync + 'static) -> Self {
        let open = Arc::new(open);
        Self {
            start: Arc::new(move |_| {
                let open = Arc::clone(&open);
                Box::new(move || Box::new(open()))
            }),
            retention: Retention::Volatile,
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Store")
            .field("retention", &self.retention)
            .finish_non_exhaustive()
    }
}
