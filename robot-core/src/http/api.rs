//! The entry point: a catalogue, its settings, and the requests to it.

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

use ::http::{HeaderMap, header::HOST, request::Parts};

use super::{
    access::Access, behaviour::Behaviour, body_timer::StreamLimits, exchange::Exchange, headers,
    host::Hosts, origin::Origin, request_body::BODY_DEADLINE, response::Response, service::Service,
};
use crate::catalogue::Catalogue;

/// The HTTP contract over one catalogue. Clones share the catalogue.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, http::{Access, Api, Behaviour, Hosts}};
///
/// let api = Api::new(Arc::new(MemoryCatalogue::new()))
///     .behaviour(Behaviour::B)
///     .hosts(Hosts::Any)
///     .access(Access::default())
///     .origins(vec!["https://app.example".parse()?])
///     .under("/catalogue");
/// let request = http::Request::get("/catalogue/api/robots").body("")?;
/// assert_eq!(api.handle(request).status(), 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Api {
    service: Arc<Service>,
}

impl Api {
    /// Behaviour A, at `/api/robots`, for every host name and every client except pages of other
    /// origins.
    #[must_use]
    pub fn new(catalogue: Arc<dyn Catalogue>) -> Self {
        Self {
            service: Arc::new(Service {
                catalogue,
                behaviour: Behaviour::default(),
                hosts: Hosts::default(),
                access: Access::default(),
                origins: Vec::new(),
                body_deadline: BODY_DEADLINE,
                stream_limits: StreamLimits::default(),
                base: String::new(),
                description: OnceLock::new(),
            }),
        }
    }

    /// Sets the behaviour.
    #[must_use]
    pub fn behaviour(mut self, behaviour: Behaviour) -> Self {
        self.service().behaviour = behaviour;
        self
    }

    /// Sets the host names that the service accepts.
    #[must_use]
    pub fn hosts(mut self, hosts: Hosts) -> Self {
        self.service().hosts = hosts;
        self
    }

    /// Sets the permissions of clients.
    #[must_use]
    pub fn access(mut self, access: Access) -> Self {
        self.service().access = access;
        self
    }

    /// Allows pages of these origins to send changes and to read the replies (CORS).
    #[must_use]
    pub fn origins(mut self, origins: Vec<Origin>) -> Self {
        self.service().origins = origins;
        self
    }

    /// Sets how long a frontend waits for a body ([`BODY_DEADLINE`] by default): see
    /// [`Exchange::body_deadline`].
    #[must_use]
    pub fn body_deadline(mut self, deadline: Duration) -> Self {
        self.service().body_deadline = deadline;
        self
    }

    /// Sets the time limits of imports.
    #[must_use]
    pub fn stream_limits(mut self, limits: StreamLimits) -> Self {
        self.service().stream_limits = limits;
        self
    }

    /// Sets the base path: `/base` for `/base/api/robots`. A slash at its end is ignored.
    #[must_use]
    pub fn under(mut self, base: &str) -> Self {
        base.trim_end_matches('/')
            .clone_into(&mut self.service().base);
        self
    }

    /// The service, to be changed; its description is out of date then.
    fn service(&mut self) -> &mut Service {
        let service = Arc::make_mut(&mut self.service);
        service.description = OnceLock::new();
        service
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
        self.receive(head).answer(Ok(body.into())).wait()
    }

    /// Whether the service accepts the `Host` of a request with these headers: for a frontend that answers some
    /// requests itself.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use robot_core::{MemoryCatalogue, http::{Api, Hosts}};
    /// let api = Api::new(Arc::new(MemoryCatalogue::new())).hosts(Hosts::Only(Vec::new()));
    /// let request = http::Request::get("/logo.svg").header("host", "evil.example").body(())?;
    /// assert!(!api.host_allowed(request.headers()));
    /// # http::Result::Ok(())
    /// ```
    #[must_use]
    pub fn host_allowed(&self, headers: &HeaderMap) -> bool {
        let host = headers::value(headers, HOST);
        self.service.hosts.include(host.as_deref())
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Api")
            .field("base", &self.service.base)
            .finish_non_exhaustive()
    }
}
