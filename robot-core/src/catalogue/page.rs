//! Request for one page of a catalogue.

use super::{
    cursor::{Cursor, Sort},
    error::Result,
    filter::Filter,
};
use crate::model::Robot;

/// The robots that a page contains.
///
/// ```
/// use robot_core::{Catalogue, CatalogueExt, Cursor, Draft, Filter, MemoryCatalogue, PageRequest};
///
/// let catalogue = MemoryCatalogue::new();
/// for name in ["C-3PO", "R2-D2", "R5-D4"] {
///     catalogue.add(Draft::new(name, "droid", 1977))?;
/// }
/// let page = catalogue.page(PageRequest {
///     filter: &Filter::from("-D"),
///     cursor: &Cursor::after_name("R2-D2"),
///     limit: 10,
/// })?;
/// assert_eq!(page[0].name(), "R5-D4");
/// # Ok::<(), robot_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest<'a> {
    /// Only robots that meet this filter.
    pub filter: &'a Filter,
    /// The order, and where the page starts.
    pub cursor: &'a Cursor,
    /// The maximum number of robots.
    pub limit: usize,
}

impl PageRequest<'_> {
    /// The first of these robots, sorted.
    pub(crate) fn sorted<'r>(&self, robots: impl Iterator<Item = &'r Robot>) -> Vec<&'r Robot> {
        let mut robots: Vec<_> = robots.filter(|robot| self.cursor.precedes(robot)).collect();
        let sort = self.cursor.sort();
        robots.sort_unstable_by(|one, other| sort.compare(one, other));
        robots.truncate(self.limit);
        robots
    }

    /// The page, if its robots must have one of some ids: `read` finds all of them in the order of the ids, by
    /// their index, and they are sorted here. By the index of another order, a server might read all robots.
    pub(crate) fn of_ids(
        &self,
        read: impl FnOnce(PageRequest<'_>) -> Result<Vec<Robot>>,
    ) -> Option<Result<Vec<Robot>>> {
        let limit = self.filter.ids()?.count();
        if self.cursor.sort() == Sort::BY_ID {
            return None;
        }
        let cursor = &Cursor::start(Sort::BY_ID);
        let robots = read(PageRequest {
            cursor,
            limit,
            ..*self
        });
        Some(robots.map(|robots| self.sorted(robots.iter()).into_iter().cloned().collect()))
    }
}
