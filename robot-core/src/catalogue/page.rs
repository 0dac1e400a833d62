//! One page of a catalogue: which robots it contains, and what is read of each.

use super::{error::Result, store::Catalogue};
use crate::model::{Entry, Robot};

pub use super::store::PageRequest;

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
