//! One page of a catalogue, and the request for it.

use std::borrow::Borrow;

use super::{
    cursor::{Cursor, Sort},
    error::Result,
    filter::Filter,
};
use crate::model::{Field, Member, Robot};

/// The robots that a page contains.
///
/// ```
/// use robot_core::{Catalogue, CatalogueExt, Cursor, Draft, Filter, MemoryCatalogue, PageRequest};
///
/// let catalogue = MemoryCatalogue::new();
/// for name in ["C-3PO", "R2-D2", "R5-D4"] {
///     catalogue.add(Draft::new(name, "droid", 1977))?;
/// }
/// let (filter, cursor) = (Filter::from("-D"), Cursor::after_name("R2-D2"));
/// let page = catalogue.page(PageRequest { limit: 10, ..PageRequest::new(&filter, &cursor) })?;
/// assert_eq!((page.items[0].name(), page.is_last), ("R5-D4", true));
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
    /// The number of bytes after which the page ends: it has no robot after the first ones whose names and
    /// own values take so many. `usize::MAX` for a page of any size.
    pub max_bytes: usize,
    /// The fields that the robots have: a store may leave out the values of others, but not the id and the field of the
    /// order. Empty for all fields but those of [`Field::AUDIT`].
    pub fields: &'a [Field],
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The robots, in the order of the request.
    pub items: Vec<T>,
    /// Whether there are no more robots for certain. If the page has as many as the request permits, there
    /// may be none after it.
    pub is_last: bool,
}

/// What still fits into a page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) robots: usize,
    pub(crate) bytes: usize,
}

impl Room {
    /// For so many robots of any size.
    pub(crate) fn of_robots(robots: usize) -> Self {
        Self {
            robots,
            bytes: usize::MAX,
        }
    }

    pub(crate) fn is_full(self) -> bool {
        self.robots == 0 || self.bytes == 0
    }

    /// Takes the room of a robot.
    pub(crate) fn take(&mut self, bytes: usize) {
        self.robots = self.robots.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// The page that has these items.
    pub(crate) fn page<T>(self, items: Vec<T>) -> Page<T> {
        let is_last = !self.is_full();
        Page { items, is_last }
    }

    /// The page of the first robots of a list, each as it is read.
    pub(crate) fn first<R: Borrow<Robot>>(
        mut self,
        mut list: impl Iterator<Item = R>,
        read: impl Fn(R) -> Robot,
    ) -> Page<Robot> {
        let mut robots = Vec::new();
        while !self.is_full()
            && let Some(robot) = list.next()
        {
            self.take(robot.borrow().size());
            robots.push(read(robot));
        }
        self.page(robots)
    }
}

impl<'a> PageRequest<'a> {
    /// All robots that meet the filter and come after the place of the cursor, with all fields.
    #[must_use]
    pub fn new(filter: &'a Filter, cursor: &'a Cursor) -> Self {
        Self {
            filter,
            cursor,
            limit: usize::MAX,
            max_bytes: usize::MAX,
            fields: &[],
        }
    }

    /// Whether ids and names are enough.
    pub(crate) fn has_names_only(&self) -> bool {
        let mut fields = self.fields.iter().chain([&self.cursor.sort().field]);
        let is_of_name = |field: &Field| matches!(field.member(), Member::Id | Member::Name);
        !self.fields.is_empty() && fields.all(is_of_name)
    }

    /// Whether the robots have their times and the author of their last change.
    pub(crate) fn has_audit(&self) -> bool {
        let mut fields = self.fields.iter().chain([&self.cursor.sort().field]);
        fields.any(Field::is_audit)
    }

    pub(crate) fn room(&self) -> Room {
        Room {
            robots: self.limit,
            bytes: self.max_bytes,
        }
    }

    /// The page that a store returns which has all these robots in memory.
    pub fn page_of<'r>(&self, robots: impl Iterator<Item = &'r Robot>) -> Page<Robot> {
        let matcher = self.filter.matcher();
        let robots = self.sorted(robots.filter(|robot| matcher.matches(robot)));
        self.room().first(robots.into_iter(), Robot::clone)
    }

    /// Those of these robots that come after the place of the page, sorted.
    pub(crate) fn sorted<R: Borrow<Robot>>(&self, robots: impl Iterator<Item = R>) -> Vec<R> {
        let robots = robots.filter(|robot| self.cursor.precedes(robot.borrow()));
        let mut robots: Vec<_> = robots.collect();
        let sort = self.cursor.sort();
        robots.sort_unstable_by(|one, other| sort.compare(one.borrow(), other.borrow()));
        robots
    }

    /// The page, if its robots must have one of some ids: `read` finds all of them in the order of the ids, by
    /// their index, and they are sorted here. By the index of another order, a server might read all robots.
    pub(crate) fn of_ids(
        &self,
        read: impl Fn(PageRequest<'_>) -> Result<Page<Robot>>,
    ) -> Option<Result<Page<Robot>>> {
        let limit = self.filter.ids()?.count();
        if *self.cursor.sort() == Sort::BY_ID {
            return None;
        }
        let mut cursor = Cursor::start(Sort::BY_ID);
        let mut found = self.room().page(Vec::new());
        loop {
            let request = PageRequest {
                cursor: &cursor,
                limit,
                // They are sorted by any of them.
                fields: if self.has_audit() { Field::AUDIT } else { &[] },
                ..*self
            };
            let page = match read(request) {
                Ok(page) => page,
                Err(error) => return Some(Err(error)),
            };
            let end = page.items.last();
            let end = end.map(|robot| Cursor::after(Sort::BY_ID, robot));
            let (is_complete, had_all) = (found.is_last, page.is_last);
            let robots = found.items.into_iter().chain(page.items);
            found = self
                .room()
                .first(self.sorted(robots).into_iter(), |robot| robot);
            found.is_last &= is_complete;
            match end {
                Some(end) if !had_all => cursor = end,
                _ => return Some(Ok(found)),
            }
        }
    }
}
