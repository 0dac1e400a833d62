//! Request for one page of a catalogue.

/// The robots that a page contains.
///
/// ```
/// use robot_core::{Catalogue, CatalogueExt, Draft, MemoryCatalogue, PageRequest};
///
/// let catalogue = MemoryCatalogue::new();
/// for name in ["C-3PO", "R2-D2", "R5-D4"] {
///     catalogue.add(Draft::new(name, "droid", 1977))?;
/// }
/// let page = catalogue.page(PageRequest { containing: "-D", after: "R2-D2", limit: 10 })?;
/// assert_eq!(page[0].name(), "R5-D4");
/// # Ok::<(), robot_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest<'a> {
    /// Only robots whose name contains this text, byte for byte. Every name contains `""`.
    pub containing: &'a str,
    /// Only robots whose name is greater than this text, by bytes. Every name is greater than
    /// `""`.
    pub after: &'a str,
    /// The maximum number of robots.
    pub limit: usize,
}
