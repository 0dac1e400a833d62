//! The record of a request, which is logged and counted when its response has been sent or given up.

use std::{
    net::{IpAddr, SocketAddr},
    time::Instant,
};

use ::metrics::gauge;
use hyper::{
    HeaderMap, StatusCode,
    header::{HeaderName, HeaderValue},
    http::request::Parts,
};
use robot_core::http::RequestId;
use tracing::field;

use crate::metrics::{Completed, Gauged, Labels};
#[cfg(feature = "otlp")]
use crate::traces::RequestTrace;

/// The target of the lines, by which a filter can choose them.
const TARGET: &str = "robot_rocket::requests";

/// The methods of HTTP. A client could fill the log with other ones.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// The method of a request that was not read.
const NOT_READ: &str = "none";

const HEADER: HeaderName = HeaderName::from_static(RequestId::HEADER);

/// The record of a request, from its head to the end of its response. Dropping it completes it.
pub(super) struct RequestRecord {
    pub(super) request_id: RequestId,
    method: &'static str,
    /// The other end of the connection, which may be a proxy.
    client: IpAddr,
    /// The client behind the proxy: `ip_header` of Rocket's settings.
    real_ip: Option<IpAddr>,
    pub(super) labels: Labels,
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
            labels: Labels::of_route(Labels::NO_ROUTE),
            start: Instant::now(),
            status: None,
            bytes: 0,
            is_sent: false,
            _running: Gauged::new(gauge!("robots_http_requests_running")),
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
        let completed = Completed {
            labels: &self.labels,
            method: self.method,
            status: self.status.map(|status| status.as_u16()),
            duration: self.start.elapsed(),
            is_sent: self.is_sent,
        };
        tracing::info!(
            target: TARGET,
            request_id = %self.request_id,
            method = %completed.method,
            route = %self.labels.route,
            status = completed.status,
            // Rounded to microseconds.
            duration_ms = (completed.duration.as_secs_f64() * 1e6).round() / 1000.0,
            bytes = self.bytes,
            client = %self.client,
            real_ip = self.real_ip.map(field::display),
            token = self.labels.token.as_ref().map(field::display),
            unknown_token = self.labels.unknown_token.as_ref().map(field::display),
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
