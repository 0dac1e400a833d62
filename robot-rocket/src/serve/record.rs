//! The record of a request, which is logged and counted when its response has been sent or given up.

use std::{
    borrow::Cow,
    net::{IpAddr, SocketAddr},
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use hyper::{
    HeaderMap, Method, StatusCode,
    header::{HeaderName, HeaderValue},
    http::request::Parts,
};
use robot_core::http::{Exchange, RequestId, TokenName};
use rocket::Request;
use tracing::field;

use crate::metrics::{Completed, Gauged};
#[cfg(feature = "otlp")]
use crate::traces::RequestTrace;

/// The target of the lines, by which a filter can choose them.
const TARGET: &str = "robot_rocket::requests";

/// The method of a request that was not read.
const NOT_READ: &str = "none";

const HEADER: HeaderName = HeaderName::from_static(RequestId::HEADER);

/// What the application knows about a request, and the server does not.
#[derive(Debug, Clone)]
pub(crate) struct Labels {
    /// The template of the path.
    route: Cow<'static, str>,
    token: Option<TokenName>,
    /// The fingerprint of a token that is not known.
    unknown_token: Option<String>,
}

/// Where a handler puts the labels of its request.
pub(super) type LabelSlot = Arc<OnceLock<Labels>>;

impl Labels {
    pub(crate) fn of(exchange: &Exchange) -> Self {
        Self {
            route: exchange.route().unwrap_or(Completed::NO_ROUTE).into(),
            token: exchange.token_name().cloned(),
            unknown_token: exchange.unknown_token().map(str::to_owned),
        }
    }

    /// The labels of a request to a route of the application.
    pub(super) fn of_route(request: &Request<'_>) -> Self {
        let route = request.route().map(|route| route.uri.to_string());
        Self {
            route: route.map_or(Completed::NO_ROUTE.into(), Cow::from),
            token: None,
            unknown_token: None,
        }
    }

    /// Sets the labels of a request that comes from [`serve`](crate::serve), unless they were set before.
    pub(crate) fn set(request: &Request<'_>, labels: impl FnOnce() -> Self) {
        if let Some(slot) = request.local_cache(|| None::<LabelSlot>) {
            slot.get_or_init(labels);
        }
    }
}

/// The record of a request, from its head to the end of its response. Dropping it completes it.
pub(super) struct RequestRecord {
    request_id: RequestId,
    method: &'static str,
    /// The other end of the connection, which may be a proxy.
    client: IpAddr,
    /// The client behind the proxy: `ip_header` of Rocket's settings.
    real_ip: Option<IpAddr>,
    /// `None` until they are known.
    labels: Option<Labels>,
    start: Instant,
    /// `None` until there is a response.
    status: Option<StatusCode>,
    /// The size of the body that was sent.
    bytes: u64,
    is_sent: bool,
    _running: Gauged,
    /// `None` without a request, and unless traces are exported.
    #[cfg(feature = "otlp")]
    trace: Option<RequestTrace>,
}

impl RequestRecord {
    /// The record of a request with this head.
    /// The client behind a proxy is in the header.
    pub(super) fn start(head: &Parts, client: SocketAddr, ip_header: Option<&str>) -> Self {
        let real_ip = ip_header.and_then(|name| head.headers.get(name));
        let mut record = Self::new(RequestId::of(&head.headers), known(&head.method), client);
        record.real_ip = real_ip.and_then(|ip| ip.to_str().ok()?.parse().ok());
        #[cfg(feature = "otlp")]
        {
            record.trace = RequestTrace::start(&head.headers);
        }
        record
    }

    /// The record of a connection that is refused, or whose request cannot be parsed.
    pub(super) fn refused(client: SocketAddr) -> Self {
        Self::new(RequestId::random(), NOT_READ, client)
    }

    fn new(request_id: RequestId, method: &'static str, client: SocketAddr) -> Self {
        Self {
            request_id,
            method,
            client: client.ip(),
            real_ip: None,
            labels: None,
            start: Instant::now(),
            status: None,
            bytes: 0,
            is_sent: false,
            _running: Completed::running(),
            #[cfg(feature = "otlp")]
            trace: None,
        }
    }

    pub(super) fn request_id(&self) -> &RequestId {
        &self.request_id
    }

    pub(super) fn set_request_id(&mut self, id: &RequestId) {
        self.request_id = id.clone();
    }

    pub(super) fn set_labels(&mut self, labels: Labels) {
        self.labels = Some(labels);
    }

    /// The response starts. Adds the id to its headers.
    pub(super) fn start_response(&mut self, status: StatusCode, headers: &mut HeaderMap) {
        self.status = Some(status);
        if !headers.contains_key(&HEADER)
            && let Ok(id) = HeaderValue::from_str(self.request_id.as_str())
        {
            headers.insert(HEADER, id);
        }
    }

    /// A piece of the body was passed to hyper.
    pub(super) fn add_bytes(&mut self, count: usize) {
        self.bytes = self.bytes.saturating_add(count as u64);
    }

    /// Whether a body of this size was passed to hyper.
    pub(super) fn has_bytes(&self, size: usize) -> bool {
        self.bytes == size as u64
    }

    /// The whole response was passed to hyper.
    pub(super) fn set_sent(&mut self) {
        self.is_sent = true;
    }

    /// The template of the path.
    fn route(&self) -> &str {
        let labels = self.labels.as_ref();
        labels.map_or(Completed::NO_ROUTE, |labels| &labels.route)
    }

    fn token(&self) -> Option<&str> {
        let token = self.labels.as_ref()?.token.as_ref();
        token.map(TokenName::as_str)
    }

    fn unknown_token(&self) -> Option<&str> {
        self.labels.as_ref()?.unknown_token.as_deref()
    }

    fn log(&self, duration: Duration) {
        tracing::info!(
            target: TARGET,
            request_id = %self.request_id,
            method = %self.method,
            route = %self.route(),
            status = self.status.map(|status| status.as_u16()),
            duration_ms = milliseconds(duration),
            bytes = self.bytes,
            client = %self.client,
            real_ip = self.real_ip.map(field::display),
            token = self.token().map(field::display),
            unknown_token = self.unknown_token().map(field::display),
            "{}",
            if self.is_sent { "request" } else { "request aborted" }
        );
    }
}

impl Drop for RequestRecord {
    fn drop(&mut self) {
        let duration = self.start.elapsed();
        self.log(duration);
        let completed = Completed {
            route: self.route(),
            method: self.method,
            status: self.status.map(|status| status.as_u16()),
            token: self.token(),
            duration,
            is_sent: self.is_sent,
        };
        completed.record();
        #[cfg(feature = "otlp")]
        if let Some(trace) = &self.trace {
            let client = self.real_ip.unwrap_or(self.client);
            trace.end(&completed, &self.request_id, client);
        }
    }
}

/// The duration, rounded to microseconds.
fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1000.0
}

/// The method, so that a client cannot fill the log with names of its own.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => Completed::OTHER_METHOD,
    }
}
