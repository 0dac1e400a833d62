//! The record of a request, which is logged and counted when its response has been sent or given up.

use std::{
    borrow::Cow,
    net::{IpAddr, SocketAddr},
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use hyper::{
    HeaderMap, Method,
    header::{HeaderName, HeaderValue},
};
use robot_core::http::{Exchange, RequestId, TokenName};
use rocket::{Request, fairing::AdHoc};
use tracing::field;

use super::request::Received;
use crate::metrics::{Completed, Gauged};
#[cfg(feature = "otlp")]
use crate::traces::RequestTrace;

/// The target of the lines, by which a filter can choose them.
const TARGET: &str = "robot_rocket::requests";

/// The method of a request that was not read.
const NOT_READ: &str = "none";

const HEADER: HeaderName = HeaderName::from_static(RequestId::HEADER);

/// What the application knows about a request, and the server does not.
#[derive(Debug)]
pub(crate) struct Labels {
    /// The template of the path.
    route: Cow<'static, str>,
    token: Option<TokenName>,
    /// The fingerprint of a token that is not known.
    unknown_token: Option<String>,
}

impl Labels {
    pub(crate) fn of(exchange: &Exchange) -> Self {
        Self {
            route: exchange.route().unwrap_or(Completed::NO_ROUTE).into(),
            token: exchange.token_name().cloned(),
            unknown_token: exchange.unknown_token().map(str::to_owned),
        }
    }
}

/// Records the routes of an application that record nothing themselves.
pub(super) fn routes() -> AdHoc {
    AdHoc::on_response("robot-rocket: routes of requests", |request, _| {
        if let Some(received) = Received::of(request) {
            received.set_labels(|| Labels {
                route: route(request),
                token: None,
                unknown_token: None,
            });
        }
        Box::pin(async {})
    })
}

fn route(request: &Request<'_>) -> Cow<'static, str> {
    let route = request.route().map(|route| route.uri.to_string());
    route.map_or(Completed::NO_ROUTE.into(), Cow::from)
}

/// The record of a request, from its head to the end of its response. Dropping it completes it.
pub(super) struct RequestRecord {
    request_id: RequestId,
    method: &'static str,
    /// The other end of the connection, which may be a proxy.
    client: IpAddr,
    /// The client behind the proxy: `ip_header` of Rocket's settings.
    real_ip: Option<IpAddr>,
    labels: Arc<OnceLock<Labels>>,
    start: Instant,
    /// `None` until there is a response.
    status: Option<u16>,
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
    pub(super) fn start(method: &Method, headers: &HeaderMap, client: SocketAddr) -> Self {
        let record = Self::new(request_id(headers), known(method), client);
        #[cfg(feature = "otlp")]
        let record = record.with_trace(RequestTrace::start(headers));
        record
    }

    #[cfg(feature = "otlp")]
    fn with_trace(mut self, trace: Option<RequestTrace>) -> Self {
        self.trace = trace;
        self
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
            labels: Arc::default(),
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

    /// Where the application puts what it knows.
    pub(super) fn labels(&self) -> Arc<OnceLock<Labels>> {
        Arc::clone(&self.labels)
    }

    pub(super) fn set_real_ip(&mut self, address: Option<IpAddr>) {
        self.real_ip = address;
    }

    /// The response starts. Adds the id to its headers.
    pub(super) fn start_response(&mut self, status: u16, headers: &mut HeaderMap) {
        self.status = Some(status);
        if let Ok(id) = HeaderValue::from_str(self.request_id.as_str()) {
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
        let labels = self.labels.get();
        labels.map_or(Completed::NO_ROUTE, |labels| &labels.route)
    }

    fn token(&self) -> Option<&str> {
        let token = self.labels.get()?.token.as_ref();
        token.map(TokenName::as_str)
    }

    fn unknown_token(&self) -> Option<&str> {
        self.labels.get()?.unknown_token.as_deref()
    }

    fn log(&self, duration: Duration) {
        tracing::info!(
            target: TARGET,
            request_id = %self.request_id,
            method = %self.method,
            route = %self.route(),
            status = self.status,
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
            status: self.status,
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

/// The id that the client sent, if it is well-formed and the only one, or a new one.
fn request_id(headers: &HeaderMap) -> RequestId {
    let mut received = headers.get_all(HEADER).iter();
    let first = received
        .next()
        .and_then(|id| id.to_str().ok()?.parse().ok());
    first
        .filter(|_| received.next().is_none())
        .unwrap_or_else(RequestId::random)
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
