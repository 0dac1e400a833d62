//! Iterator over the pages of a catalogue.

use std::{borrow::Cow, iter::FusedIterator};

use super::{
    cursor::{Cursor, Sort},
    error::Result,
    filter::Filter,
    page::{Page, PageRequest},
    store::Catalogue,
};
use crate::model::{Field, Robot};

/// The robots of a catalogue, by name unless another order is chosen, page by page: memory stays
/// constant, and the store is used only while a page is read.
///
/// Each page is read when it is requested. A robot that exists unchanged from the first page to the
/// last is returned exactly once; one that is added, changed or deleted meanwhile may or may not be
/// returned. An error ends the iteration.
///
/// ```
/// use robot_core::{CatalogueExt, Draft, Error, Field, Filter, MemoryCatalogue, Pages};
///
/// let catalogue = MemoryCatalogue::new();
/// for number in 0..25 {
///     catalogue.add(Draft::new(format!("RX-{number}"), "virtual", 2001))?;
/// }
/// let sizes: Result<Vec<usize>, Error> = Pages::new(&catalogue, "RX")
///     .page_size(10)
///     .map(|page| page.map(|robots| robots.len()))
///     .collect();
/// assert_eq!(sizes?, [10, 10, 5]);
///
/// // Those of some years, the newest first.
/// let recent = Filter::all().at_least(Field::YEAR, 2000);
/// let newest = Pages::new(&catalogue, recent).sorted("-id".parse()?);
/// assert_eq!(newest.flatten().flatten().count(), 25);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pages<C> {
    catalogue: C,
    filter: Filter,
    fields: Cow<'static, [Field]>,
    pub(crate) cursor: Cursor,
    page_size: usize,
    max_bytes: usize,
    /// The maximum number of robots of the next page, if it is less than the page size.
    pub(crate) limit: usize,
    pub(crate) finished: bool,
}

/// The default number of robots per page.
const PAGE_SIZE: usize = 1000;

/// The default number of bytes after which a page ends. Lower, and robots with many values need more queries;
/// higher, and each reader may need more memory.
const PAGE_BYTES: usize = 1024 * 1024;

/// How many times as many robots as the last page the next one may have. A store reads the sizes of so many, also
/// if only the first ones are returned. Lower, and the pages after a large robot are small for longer.
const GROWTH: usize = 16;

impl<C: Catalogue> Pages<C> {
    /// The robots of `catalogue` that meet a filter, or whose name contains a text; `""` for all.
    /// Pass a reference, or an [`Arc`](std::sync::Arc) if the pages must outlive the caller.
    pub fn new(catalogue: C, filter: impl Into<Filter>) -> Self {
        Self {
            catalogue,
            filter: filter.into(),
            fields: Cow::default(),
            cursor: Cursor::default(),
            page_size: PAGE_SIZE,
            max_bytes: PAGE_BYTES,
            limit: usize::MAX,
            finished: false,
        }
    }

    /// With the values of these fields at least. See [`PageRequest::fields`].
    #[must_use]
    pub fn with_fields(self, fields: Cow<'static, [Field]>) -> Self {
        Self { fields, ..self }
    }

    /// In this order, from the beginning.
    #[must_use]
    pub fn sorted(self, sort: Sort) -> Self {
        self.starting_at(Cursor::start(sort))
    }

    /// In the order of a cursor, from its place.
    #[must_use]
    pub fn starting_at(mut self, cursor: Cursor) -> Self {
        self.cursor = cursor;
        self
    }

    /// The number of bytes after which a page ends.
    pub(crate) fn max_bytes(self, max_bytes: usize) -> Self {
        Self { max_bytes, ..self }
    }

    /// The maximum number of robots per page: 1000 by default; 0 means 1. A page has fewer if its robots are
    /// large.
    #[must_use]
    pub fn page_size(mut self, robots: usize) -> Self {
        self.page_size = robots.max(1);
        self
    }

    /// Whether no pages remain for certain. May be `false` before an empty last page.
    ///
    /// ```
    /// use robot_core::{CatalogueExt, Draft, MemoryCatalogue, Pages};
    ///
    /// let catalogue = MemoryCatalogue::new();
    /// for name in ["C-3PO", "R2-D2", "R5-D4"] {
    ///     catalogue.add(Draft::new(name, "droid", 1977))?;
    /// }
    /// let mut pages = Pages::new(&catalogue, "").page_size(2);
    /// assert_eq!(pages.next().transpose()?.map(|page| page.len()), Some(2));
    /// assert!(!pages.is_finished());
    /// assert_eq!(pages.flatten().count(), 1);
    /// # Ok::<(), robot_core::Error>(())
    /// ```
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.finished
    }
}

impl<C: Catalogue> Iterator for Pages<C> {
    /// A page is never empty.
    type Item = Result<Vec<Robot>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.finished {
            return None;
        }
        let request = PageRequest {
            filter: &self.filter,
            cursor: &self.cursor,
            limit: self.limit.min(self.page_size),
            max_bytes: self.max_bytes,
            fields: &self.fields,
        };
        match self.catalogue.page(request) {
            Ok(Page { items, is_last }) => {
                self.finished = is_last || items.is_empty();
                self.limit = items.len().saturating_mul(GROWTH);
                self.cursor = Cursor::after(self.cursor.sort().clone(), items.last()?);
                Some(Ok(items))
            }
            Err(error) => {
                self.finished = true;
                Some(Err(error))
            }
        }
    }
}

impl<C: Catalogue> FusedIterator for Pages<C> {}
