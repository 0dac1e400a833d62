//! Iterator over the pages of a catalogue.

use std::{iter::FusedIterator, marker::PhantomData};

use super::{
    cursor::{Cursor, Sort},
    error::Result,
    filter::Filter,
    page::{Page, PageRequest},
    store::Catalogue,
};
use crate::model::{Entry, Field, Member, Robot, RobotId, Value};

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
pub struct Pages<C, T = Robot> {
    catalogue: C,
    item: PhantomData<fn() -> T>,
    filter: Filter,
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
        Self::of(catalogue, filter.into(), Cursor::default())
    }
}

impl<C, T> Pages<C, T> {
    pub(crate) fn of(catalogue: C, filter: Filter, cursor: Cursor) -> Self {
        Self {
            catalogue,
            item: PhantomData,
            filter,
            cursor,
            page_size: PAGE_SIZE,
            max_bytes: PAGE_BYTES,
            limit: usize::MAX,
            finished: false,
        }
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

/// An item of a page: a [`Robot`], or its [`Entry`] in the order of its id or name.
pub(crate) trait PageItem: Sized + Clone {
    /// Reads a page of a catalogue.
    fn page<C: Catalogue + ?Sized>(catalogue: &C, request: PageRequest<'_>) -> Result<Page<Self>>;

    /// The id.
    fn id(&self) -> RobotId;

    /// The value of a field; `None` if it has none, or is an entry without this field.
    fn value_of(&self, field: Field) -> Option<Value<'_>>;

    /// The place after this item.
    fn cursor(&self, sort: Sort) -> Cursor {
        let value = self.value_of(sort.field).map(Value::into_owned);
        Cursor::at(sort, value, Some(self.id()))
    }

    /// Whether this item comes after a place.
    fn is_after(&self, place: &Cursor) -> bool {
        place.is_before(self.value_of(place.sort().field), self.id())
    }
}

impl PageItem for Robot {
    fn page<C: Catalogue + ?Sized>(catalogue: &C, request: PageRequest<'_>) -> Result<Page<Self>> {
        catalogue.page(request)
    }

    fn id(&self) -> RobotId {
        self.id()
    }

    fn value_of(&self, field: Field) -> Option<Value<'_>> {
        self.value_of(field)
    }
}

impl PageItem for Entry {
    fn page<C: Catalogue + ?Sized>(catalogue: &C, request: PageRequest<'_>) -> Result<Page<Self>> {
        catalogue.entries(request)
    }

    fn id(&self) -> RobotId {
        self.id()
    }

    fn value_of(&self, field: Field) -> Option<Value<'_>> {
        match field.member() {
            Member::Id => Some(Value::Id(self.id())),
            Member::Name => Some(self.name().into()),
            _ => None,
        }
    }
}

impl<C: Catalogue, T: PageItem> Iterator for Pages<C, T> {
    /// A page is never empty.
    type Item = Result<Vec<T>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.finished {
            return None;
        }
        let request = PageRequest {
            filter: &self.filter,
            cursor: &self.cursor,
            limit: self.limit.min(self.page_size),
            max_bytes: self.max_bytes,
        };
        match T::page(&self.catalogue, request) {
            Ok(Page { items, is_last }) => {
                self.finished = is_last || items.is_empty();
                self.limit = items.len().saturating_mul(GROWTH);
                self.cursor = items.last()?.cursor(self.cursor.sort());
                Some(Ok(items))
            }
            Err(error) => {
                self.finished = true;
                Some(Err(error))
            }
        }
    }
}

impl<C: Catalogue, T: PageItem> FusedIterator for Pages<C, T> {}
