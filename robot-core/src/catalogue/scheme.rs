//! A kind of store, by the scheme of its URLs.

use std::sync::Arc;

use super::{error::OpenError, options::OpenOptions, store::Catalogue};

/// A kind of store: the scheme of its URLs, and how such a URL is opened.
///
/// Another crate adds a store to [`Schemes`](crate::Schemes) by a value of this type.
#[derive(Debug, Clone, Copy)]
pub struct Scheme {
    /// The URL schemes, without the colon.
    pub names: &'static [&'static str],
    /// A URL, as an example for messages.
    pub example: &'static str,
    /// Opens a URL of this scheme.
    pub open: OpenFn,
}

/// Opens the catalogue of a URL.
pub type OpenFn = fn(&str, &OpenOptions) -> Result<Arc<dyn Catalogue>, OpenError>;
