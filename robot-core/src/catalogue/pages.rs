//! Iterator over the pages of a catalogue.

use std::{iter::FusedIterator, marker::PhantomData};

use super::{error::Result, page::PageRequest, store::Catalogue};
use crate::model::{Entry, Robot};

/// The robots of a catalogue by name, page by page: memory stays constant, and the store is used
/// only while a page is read.
///
/// Each page is read when it is requested. A robot that exists under one name from the first page
/// to the last is returned exactly once; one that is added, renamed or deleted meanwhile may or may
/// not be returned. An error ends the iteration.
///
/// ```
/// use robot_core::{CatalogueExt, Draft, Error, MemoryCatalogue, Pages};
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
/// // Ids and names only, starting after a name.
/// let entries = Pages::new(&catalogue, "").after("RX-8").entries().next().transpose()?;
/// assert_eq!(entries.map(|page| page[0].name().to_owned()).as_deref(), Some("RX-9"));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pages<C, T = Robot> {
    catalogue: C,
    item: PhantomData<fn() -> T>,
    containing: String,
    after: String,
    page_size: usize,
    finished: bool,
}

/// The default number of robots per page.
const PAGE_SIZE: usize = 1000;

impl<C: Catalogue> Pages<C> {
    /// The robots of `catalogue` whose name contains this text; `""` for all. Pass a reference, or
    /// an [`Arc`](std::sync::Arc) if the pages must outlive the caller.
    pub fn new(catalogue: C, containing: impl Into<String>) -> Self {
        Self::of(catalogue, containing.into(), String::new())
    }

    /// Reads ids and names only, which is faster.
    pub fn entries(self) -> Pages<C, Entry> {
        Pages {
            page_size: self.page_size,
            finished: self.finished,
            ..Pages::of(self.catalogue, self.containing, self.after)
        }
    }
}

impl<C, T> Pages<C, T> {
    pub(crate) fn of(catalogue: C, containing: String, after: String) -> Self {
        Self {
            catalogue,
            item: PhantomData,
            containing,
            after,
            page_size: PAGE_SIZE,
            finished: false,
        }
    }

    /// Only robots whose name is greater than this text, by bytes.
    #[must_use]
    pub fn after(mut self, name: impl Into<String>) -> Self {
        self.after = name.into();
        self
    }

    /// The number of robots per page: 1000 by default; 0 means 1.
    #[must_use]
    pub fn page_size(mut self, robots: usize) -> Self {
        self.page_size = robots.max(1);
        self
    }

    /// Continues after this name, with pages of this size.
    pub(crate) fn resume_after(&mut self, name: &str, page_size: usize) {
        name.clone_into(&mut self.after);
        self.page_size = page_size;
        self.finished = false;
    }

    /// Continues after an error, with the page that could not be read.
    pub(crate) fn retry(&mut self) {
        self.finished = false;
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
    /// let mut pages = Pages::new(&catalogue, "").after("C-3PO").page_size(1);
    /// assert_eq!(pages.next().transpose()?.map(|page| page.len()), Some(1));
    /// assert!(!pages.is_finished());
    /// assert_eq!(pages.flatten().count(), 1);
    /// # Ok::<(), robot_core::Error>(())
    /// ```
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.finished
    }
}

/// An item of a page: a [`Robot`] or its [`Entry`].
///
/// ```
/// use robot_core::{
///     Catalogue, CatalogueExt, Draft, Entry, MemoryCatalogue, PageItem, PageRequest, Robot,
/// };
///
/// /// The first name, read with its robot or alone.
/// fn first<T: PageItem>(catalogue: &dyn Catalogue) -> robot_core::Result<Option<String>> {
///     let request = PageRequest { containing: "", after: "", limit: 1 };
///     Ok(T::page(catalogue, request)?.first().map(|item| item.name().to_owned()))
/// }
///
/// let catalogue = MemoryCatalogue::new();
/// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
/// assert_eq!(first::<Robot>(&catalogue)?, first::<Entry>(&catalogue)?);
/// # Ok::<(), robot_core::Error>(())
/// ```
pub trait PageItem: Sized {
    /// Reads a page of a catalogue.
    ///
    /// # Errors
    /// As [`Catalogue::page`].
    fn page<C: Catalogue + ?Sized>(catalogue: &C, request: PageRequest<'_>) -> Result<Vec<Self>>;

    /// The name, by which pages are ordered.
    fn name(&self) -> &str;
}

impl PageItem for Robot {
    fn page<C: Catalogue + ?Sized>(catalogue: &C, request: PageRequest<'_>) -> Result<Vec<Self>> {
        catalogue.page(request)
    }

    fn name(&self) -> &str {
        self.name()
    }
}

impl PageItem for Entry {
    fn page<C: Catalogue + ?Sized>(catalogue: &C, request: PageRequest<'_>) -> Result<Vec<Self>> {
        catalogue.entries(request)
    }

    fn name(&self) -> &str {
        self.name()
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
            containing: &self.containing,
            after: &self.after,
            limit: self.page_size,
        };
        match T::page(&self.catalogue, request) {
            Ok(page) => {
                self.finished = page.len() < self.page_size;
                page.last()?.name().clone_into(&mut self.after);
                Some(Ok(page))
            }
            Err(error) => {
                self.finished = true;
                Some(Err(error))
            }
        }
    }
}

impl<C: Catalogue, T: PageItem> FusedIterator for Pages<C, T> {}
