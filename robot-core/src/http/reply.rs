//! Replies and their bodies.

use std::{borrow::Cow, fmt};

use crate::catalogue::Result;

/// A reply, which a frontend sends unchanged.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, http::{Api, Request}};
///
/// let reply = Api::new(Arc::new(MemoryCatalogue::new())).handle(Request::new("GET", "/api/robots"));
/// assert_eq!((reply.status, reply.header("vary")), (200, Some("Accept")));
/// assert_eq!(reply.body.into_bytes()?, b"[]");
/// # Ok::<(), robot_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The headers, their names in lower case. A frontend adds those of the transport
    /// (`Content-Length`, `Transfer-Encoding`, `Date`) and no others.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// The body. A frontend omits it from the response to a `HEAD`, and keeps the headers.
    pub body: Body,
}

impl Reply {
    pub(super) fn whole(status: u16, bytes: Vec<u8>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Body::Whole(bytes),
        }
    }

    pub(super) fn streamed(
        status: u16,
        chunks: impl Iterator<Item = Result<Vec<u8>>> + Send + 'static,
    ) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Body::Streamed(Chunks(Box::new(chunks))),
        }
    }

    /// The value of a header.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use robot_core::{MemoryCatalogue, http::{Api, Request}};
    ///
    /// let api = Api::new(Arc::new(MemoryCatalogue::new()));
    /// let reply = api.handle(Request::new("DELETE", "/api/robots"));
    /// assert_eq!(reply.header("allow"), Some("GET, HEAD, POST, OPTIONS"));
    /// ```
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_ref())
    }
}

/// The body of a reply.
///
/// ```
/// use std::io::Write;
/// use robot_core::http::Body;
///
/// /// Sends a body, piece by piece if it is streamed.
/// fn send(body: Body, socket: &mut dyn Write) -> Result<(), Box<dyn std::error::Error>> {
///     match body {
///         Body::Whole(bytes) => socket.write_all(&bytes)?,
///         Body::Streamed(chunks) => {
///             for chunk in chunks {
///                 socket.write_all(&chunk?)?;
///             }
///         }
///     }
///     Ok(())
/// }
///
/// let mut sent = Vec::new();
/// send(Body::Whole(b"[]".to_vec()), &mut sent)?;
/// assert_eq!(sent, Body::Whole(b"[]".to_vec()).into_bytes()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub enum Body {
    /// The whole body.
    Whole(Vec<u8>),
    /// The body in pieces, each read from the store on demand.
    Streamed(Chunks),
}

impl Body {
    /// All bytes in one vector. Blocks while the store is read.
    ///
    /// # Errors
    /// Those of the store.
    pub fn into_bytes(self) -> Result<Vec<u8>> {
        match self {
            Self::Whole(bytes) => Ok(bytes),
            Self::Streamed(chunks) => {
                let mut bytes = Vec::new();
                for chunk in chunks {
                    bytes.extend(chunk?);
                }
                Ok(bytes)
            }
        }
    }
}

/// The pieces of a streamed body. `next` may block on the store, so a frontend calls it on a thread
/// that may block. Between the calls no connection of the store is in use.
///
/// After an error there are no more pieces. The response is incomplete then, and the frontend
/// closes the connection without completing it, so that the client can detect that.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{CatalogueExt, Draft, MemoryCatalogue, http::{Api, Body, Request}};
///
/// let catalogue = Arc::new(MemoryCatalogue::new());
/// for number in 0..5000 {
///     catalogue.add(Draft::new(format!("RX-{number}"), "virtual", number))?;
/// }
///
/// let reply = Api::new(catalogue).handle(Request::new("GET", "/api/robots"));
/// let Body::Streamed(chunks) = reply.body else { panic!("whole") };
/// assert!(chunks.count() > 1);
/// # Ok::<(), robot_core::Error>(())
/// ```
pub struct Chunks(Box<dyn Iterator<Item = Result<Vec<u8>>> + Send>);

impl Iterator for Chunks {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

impl fmt::Debug for Chunks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Chunks").finish_non_exhaustive()
    }
}
