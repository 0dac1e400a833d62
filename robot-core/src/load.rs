//! Adding many robots at once.

use std::{collections::VecDeque, iter, sync::Arc};

use crate::{
    catalogue::Catalogue,
    error::Result,
    pending::Pending,
    robot::{Draft, Robot},
};

/// How many additions are under way at a time. A store has room for more, from other callers.
pub(crate) const UNDER_WAY: usize = 1024;

/// Adds robots as [`Catalogue::add`] does, and tells of each in their order what it came to. Many
/// are under way at a time, so that a store in a file makes them durable together, which takes a
/// fraction of the time; a database server gets one after the other.
///
/// Nothing is added before the iterator is read, and one that is not read to its end may have
/// added more than it told of. A draft that fails does not keep those behind it from being added.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{Catalogue, Draft, MemoryCatalogue, load};
///
/// let catalogue = Arc::new(MemoryCatalogue::new());
/// let drafts = ["R2-D2", "C-3PO", "R2-D2"].map(|name| Draft::new(name, "droid", 1977));
/// let outcomes: Vec<_> = load(Arc::clone(&catalogue), drafts).collect();
/// assert!(outcomes[0].is_ok() && outcomes[1].is_ok() && outcomes[2].is_err());
/// assert_eq!(catalogue.list()?.len(), 2);
/// # Ok::<(), robot_core::Error>(())
/// ```
pub fn load<C: Catalogue + ?Sized + 'static>(
    catalogue: Arc<C>,
    drafts: impl IntoIterator<Item = Draft>,
) -> impl Iterator<Item = Result<Robot>> {
    let mut drafts = drafts.into_iter().fuse();
    let mut under_way = VecDeque::with_capacity(UNDER_WAY);
    iter::from_fn(move || {
        let room = UNDER_WAY - under_way.len();
        for draft in drafts.by_ref().take(room) {
            under_way.push_back(Arc::clone(&catalogue).begin_add(draft));
        }
        under_way.pop_front().map(Pending::wait)
    })
}
