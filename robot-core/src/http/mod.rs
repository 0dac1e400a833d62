//! The REST contract without a web framework: a request in, a response out, as types of the crate `http`.
//!
//! A frontend passes the head of each request to [`Api::receive`], reads the body as the [`Exchange`]
//! says, and sends the [`Response`] of [`Exchange::answer`]. A frontend that may block its threads can use
//! [`Api::handle`] instead. Paths, methods, status codes, headers, bodies and messages are all
//! decided here, so all frontends answer alike; the cases of the feature `conformance` test that.
//!
//! ```
//! use std::sync::Arc;
//! use robot_core::{MemoryCatalogue, http::Api};
//!
//! let api = Api::new(Arc::new(MemoryCatalogue::new()));
//! let request = http::Request::post("/api/robots")
//!     .body(r#"{"name":"R2-D2","type":"droid","year":1977}"#)?;
//! let response = api.handle(request);
//! assert_eq!(response.status(), 201);
//! assert_eq!(
//!     String::from_utf8(response.into_body().into_bytes()?)?,
//!     r#"{"status":"OK","data":{"name":"R2-D2","type":"droid","year":1977,"id":"1"}}"#,
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | Module | Contains |
//! |---|---|
//! | `api`, `settings` | [`Api`], the entry point; its settings, and what its requests share |
//! | `exchange` | [`Exchange`], a request and its response: permissions, dispatch, `OPTIONS` |
//! | `routes` | the table of all paths and methods, made of the types in `route` |
//! | `robots`, `bulk`, `import`, `export`, `permissions` | the handlers |
//! | `reply` | responses to changes, by behaviour and preference |
//! | `parameters`, `query` | the names of query parameters and the values in a request; what queries ask for |
//! | `openapi` | the description of the API: a document, completed for the service |
//! | `events` | streams of changes |
//! | `list` | streaming of long lists |
//! | `render` | JSON |
//! | `failure` | status, messages and headers of every failure |
//! | `conditions` | `ETag`, `If-Match` and `If-None-Match` |
//! | `context` | the headers of every response |
//! | `accept` | the `Content-Type` of a response |
//! | `origin`, `host`, `access` | protection against other origins, foreign hosts and clients without permission |
//! | `token` | access tokens: their hashes, names and permissions |
//! | `behaviour` | how `/api` and `/v1` differ |
//! | `body_timer` | the time limits of bodies |
//! | `headers`, `request_body`, `response` | headers and bodies of requests, and responses |
//! | `parse_error` | the error of texts that settings have |
//! | `request_id` | [`RequestId`], by which a response is found in the log |

mod accept;
mod access;
mod api;
mod behaviour;
mod body_timer;
mod bulk;
mod changes;
mod conditions;
mod context;
mod definition;
mod events;
mod exchange;
mod export;
mod failure;
mod headers;
mod host;
mod import;
mod list;
mod openapi;
mod origin;
mod parameters;
mod parse_error;
mod permissions;
mod query;
mod render;
mod reply;
mod request_body;
mod request_id;
mod response;
mod robots;
mod route;
mod routes;
mod settings;
mod token;

pub use crate::model::similar;
pub use access::{Access, AccessError};
pub use api::Api;
pub use behaviour::Behaviour;
pub use body_timer::{BodyLimits, BodyTimer};
pub use context::refusal;
pub use events::{EventView, Events};
pub use exchange::{BodyMode, Exchange};
pub use failure::Failure;
pub use host::{HostName, Hosts};
pub use import::{DRY_RUN_LIMIT, IMPORT_LIMIT};
pub use origin::Origin;
pub use parse_error::ParseError;
pub use request_body::{BODY_DEADLINE, BODY_LIMIT, BodyError, Piece};
pub use request_id::RequestId;
pub use response::{Body, Chunks, Response};
pub use settings::ApiSettings;
pub use token::{AccessToken, Permission, TokenName};
