//! The record of a request, which is logged and counted when its response has been sent or given up.

use std::{
    borrow::Cow,
    net::{IpAddr, SocketAddr},
    sync::{Arc, OnceLock},
    time::Instant,
};

use hyper::{
    HeaderMap, StatusCode,
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

/// The methods of HTTP. A client could fill the log with other ones.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

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

    /// The labels of a request to another route.
    pub(crate) fn of_route(route: impl Into<Cow<'static, str>>) -> Self {
        Self {
            route: route.into(),
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
    pub(super) request_id: RequestId,
    method: &'static str,
    /// The other end of the connection, which may be a proxy.
    client: IpAddr,
    /// The client behind the proxy: `ip_header` of Rocket's settings.
    real_ip: Option<IpAddr>,
    /// `None` until they are known.
    pub(super) labels: Option<Labels>,
    start: Instant,
    /// `None` until there is a response.
    status: Option<StatusCode>,
    /// The size of the body that was passed to hyper.
    pub(super) bytes: usize,
    /// Whether the whole response was passed to hyper.
    pub(super) is_sent: bool,
    _running: Gauged,
    /// `None` without a request, and unless traces are exported.
    #[cfg(feature = "otlp")]
    trace: Option<RequestTrace>,
}

impl RequestRecord {
    /// The record of a request with this head, or of one that is not read. The client behind a proxy is in the
    /// header.
    pub(super) fn start(head: Option<&Parts>, client: SocketAddr, ip_header: Option<&str>) -> Self {
        let headers = head.map(|head| &head.headers);
        let method = head.map_or(NOT_READ, |head| {
            let known = METHODS.into_iter().find(|name| head.method == *name);
            known.unwrap_or(Completed::OTHER_METHOD)
        });
        let real_ip = headers.zip(ip_header);
        Self {
            request_id: headers.map_or_else(RequestId::random, RequestId::of),
            method,
            client: client.ip(),
            real_ip: real_ip
                .and_then(|(headers, name)| headers.get(name)?.to_str().ok()?.parse().ok()),
            labels: None,
            start: Instant::now(),
            status: None,
            bytes: 0,
            is_sent: false,
            _running: Completed::running(),
            #[cfg(feature = "otlp")]
            trace: headers.and_then(RequestTrace::start),
        }
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
}

impl Drop for RequestRecord {
    fn drop(&mut self) {
        let labels = self.labels.as_ref();
        let token = labels.and_then(|labels| labels.token.as_ref());
        let unknown_token = labels.and_then(|labels| labels.unknown_token.as_deref());
        let completed = Completed {
            route: labels.map_or(Completed::NO_ROUTE.into(), |labels| labels.route.clone()),
            method: self.method,
            status: self.status.map(|status| status.as_u16()),
            token: token.map(TokenName::as_str),
            duration: self.start.elapsed(),
            is_sent: self.is_sent,
        };
        tracing::info!(
            target: TARGET,
            request_id = %self.request_id,
            method = %completed.method,
            route = %completed.route,
            status = completed.status,
            // Rounded to microseconds.
            duration_ms = (completed.duration.as_secs_f64() * 1e6).round() / 1000.0,
            bytes = self.bytes,
            client = %self.client,
            real_ip = self.real_ip.map(field::display),
            token = completed.token.map(field::display),
            unknown_token = unknown_token.map(field::display),
            "{}",
            if self.is_sent { "request" } else { "request aborted" }
        );
        completed.record();
        #[cfg(feature = "otlp")]
        if let Some(trace) = &self.trace {
            let client = self.real_ip.unwrap_or(self.client);
            trace.end(&completed, &self.request_id, client);
        }
    }
}
