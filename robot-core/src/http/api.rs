//! The entry point: a catalogue, its settings, and the requests to it.

use std::{fmt, sync::Arc};

use ::http::{HeaderMap, header::HOST, request::Parts};

use super::{
    exchange::Exchange,
    headers,
    request_body::BodyError,
    response::Response,
    settings::{ApiSettings, Service},
    token::Permission,
};
use crate::{
    catalogue::{Catalogue, Watch},
    model::Definition,
};

/// The HTTP contract over one catalogue. Clones share the catalogue.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, http::{Api, ApiSettings, Behaviour}};
///
/// let settings = ApiSettings {
///     behaviour: Behaviour::B,
///     origins: vec!["https://app.example".parse()?],
///     base: "/catalogue".to_owned(),
///     ..ApiSettings::default()
/// };
/// let api = Api::with_settings(Arc::new(MemoryCatalogue::new()), settings);
/// let request = http::Request::get("/catalogue/api/robots").body("")?;
/// assert_eq!(api.handle(request).status(), 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Api {
    service: Arc<Service>,
}

impl Api {
    /// An API with the default settings.
    #[must_use]
    pub fn new(catalogue: Arc<dyn Catalogue>) -> Self {
        Self::with_settings(catalogue, ApiSettings::default())
    }

    /// An API with these settings.
    #[must_use]
    pub fn with_settings(catalogue: Arc<dyn Catalogue>, mut settings: ApiSettings) -> Self {
        let base = settings.base.trim_end_matches('/').len();
        settings.base.truncate(base);
        Self {
            service: Arc::new(Service {
                watch: Watch::new(Arc::clone(&catalogue)),
                catalogue,
                settings,
            }),
        }
    }

    /// Receives a request without its body: finds its route, and checks whether it is permitted.
    #[must_use]
    pub fn receive(&self, head: Parts) -> Exchange {
        Exchange::new(Arc::clone(&self.service), head)
    }

    /// Answers a request. Blocks on the store for some seconds at most, and never panics.
    #[must_use]
    pub fn handle(&self, request: ::http::Request<impl Into<Vec<u8>>>) -> Response {
        let (head, body) = request.into_parts();
        let body = body.into();
        let is_complete = headers::content_length(&head.headers) <= Some(body.len());
        let end = is_complete.then(Vec::new).ok_or(BodyError::Incomplete);
        self.receive(head).answer([Ok(body), end]).wait()
    }

    /// Ends the requests that wait for changes, also those that follow: for the end of the process.
    pub fn stop_waiting(&self) {
        self.service.watch.stop();
    }

    /// Whether the service accepts the `Host` of a request with these headers: for a frontend that answers some
    /// requests itself.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use robot_core::{MemoryCatalogue, http::{Api, ApiSettings, Hosts}};
    /// let settings = ApiSettings { hosts: Hosts::Only(Vec::new()), ..ApiSettings::default() };
    /// let api = Api::with_settings(Arc::new(MemoryCatalogue::new()), settings);
    /// let request = http::Request::get("/logo.svg").header("host", "evil.example").body(())?;
    /// assert!(!api.host_allowed(request.headers()));
    /// # http::Result::Ok(())
    /// ```
    #[must_use]
    pub fn host_allowed(&self, headers: &HeaderMap) -> bool {
        let host = headers::value(headers, HOST);
        self.service.settings.hosts.include(host.as_deref())
    }

    /// The definition of the catalogue; `None` if clients without a token may not read it.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use robot_core::{MemoryCatalogue, http::{Access, Api, ApiSettings}};
    /// let catalogue = Arc::new(MemoryCatalogue::new());
    /// assert!(Api::new(catalogue.clone()).public_definition().is_some());
    /// let settings = ApiSettings { access: Access::new(Vec::new(), None), ..ApiSettings::default() };
    /// assert!(Api::with_settings(catalogue, settings).public_definition().is_none());
    /// ```
    #[must_use]
    pub fn public_definition(&self) -> Option<Arc<Definition>> {
        let client = self.service.settings.access.client(None);
        let is_permitted = client.check(Permission::Read).is_ok();
        is_permitted.then(|| self.service.catalogue.definition())
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Api")
            .field("base", &self.service.settings.base)
            .finish_non_exhaustive()
    }
}
