//! The contract over HTTP, without a web framework: a request in, a reply out.
//!
//! A frontend makes a [`Request`] of what arrives, has it answered by [`Api::start`], or by
//! [`Api::handle`] on a thread that may block, and sends the [`Reply`]. Paths, methods, status codes, headers, bodies and
//! every error message are decided here, so that all frontends answer alike; the cases of the
//! feature `conformance` prove that one does.
//!
//! ```
//! use std::sync::Arc;
//! use robot_core::{MemoryCatalogue, http::{Api, Body, Request}};
//!
//! let api = Api::new(Arc::new(MemoryCatalogue::new()));
//! let request = Request::new("POST", "/api/robots")
//!     .body(r#"{"name":"R2-D2","type":"droid","year":1977}"#);
//! let reply = api.handle(request);
//! assert_eq!(reply.status, 201);
//! let Body::Whole(bytes) = reply.body else { panic!("streamed") };
//! assert_eq!(
//!     String::from_utf8_lossy(&bytes),
//!     r#"{"status":"OK","data":{"name":"R2-D2","type":"droid","year":1977,"id":"1"}}"#,
//! );
//! ```
//!
//! | Module | Decides |
//! |---|---|
//! | `route` | which paths there are, and which methods each allows |
//! | `draft` | what a body must be to become a [`Draft`](crate::Draft) |
//! | `query` | `?fields=`, `?limit=`, `?after=`, and those of imports and exports |
//! | `import` | what becomes of a body of many robots |
//! | `export` | all robots as a file |
//! | `accept` | the `Content-Type` of the reply |
//! | `asker` | the headers that every reply has |
//! | `origin` | whether a browser may send this write, and read the reply |
//! | `access` | who may read, and who may write |
//! | `host` | whether a request was sent to a name of this service |
//! | `failure` | every failure: status, messages, headers |
//! | `list` | how a list is sent that may be long |
//! | `render` | the bytes of a reply |

mod accept;
mod access;
mod api;
mod asker;
mod behaviour;
mod draft;
mod export;
mod failure;
mod host;
mod import;
mod list;
mod origin;
mod query;
mod render;
mod reply;
mod request;
mod route;

pub use access::{Access, AccessError, AccessToken, ParseTokenError, Permission};
pub use api::Api;
pub use behaviour::{Behaviour, ParseBehaviourError};
pub use failure::Failure;
pub use host::Hosts;
pub use import::{DRY_RUN_LIMIT, IMPORT_LIMIT};
pub use origin::{Origin, ParseOriginError};
pub use reply::{Body, Chunks, Reply};
pub use request::{BODY_DEADLINE, BODY_LIMIT, BodyError, Request, within_limit};
