//! Request for one page of a catalogue.

use super::{cursor::Cursor, filter::Filter};

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

/// A page that was read.
///
/// ```
/// use robot_core::{
///     CatalogueExt, Cursor, Draft, Entry, Filter, MemoryCatalogue, PageItem, PageRequest,
/// };
///
/// let catalogue = MemoryCatalogue::new();
/// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
/// let request = PageRequest { filter: &Filter::all(), cursor: &Cursor::default(), limit: 1 };
/// let page = Entry::page(&catalogue, request)?;
/// assert_eq!(page.items[0].name(), "R2-D2");
/// assert_eq!(page.end.map(|end| end.to_string()).as_deref(), Some("name:R2-D2"));
/// # Ok::<(), robot_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The robots or entries.
    pub items: Vec<T>,
    /// The place after the last one; `None` if there is none.
    pub end: Option<Cursor>,
}
