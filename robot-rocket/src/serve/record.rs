//! The record of a request, which is logged and counted when its response has been sent or given up.

use std::{borrow::Cow, net::SocketAddr, time::Instant};

use ::metrics::{counter, gauge, histogram};
use hyper::{HeaderMap, StatusCode, header::HeaderValue, http::request::Parts};
use robot_core::{http::RequestId, metrics::Counted};
use tracing::field;

use crate::metrics::{Labels, RequestInfo};
#[cfg(feature = "otlp")]
use crate::traces::RequestTrace;

/// The target of the lines, by which a filter can choose them.
const TARGET: &str = "robot_rocket::requests";

/// The methods of HTTP. A client could fill the log with other ones.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// The method of a request that was not read, the status of a request without a response, and the token of a request
/// without one that has a name.
const NONE: &str = "none";

/// The record of a request, from its head to the end of its response. Dropping it completes it.
pub(super) struct RequestRecord {
    pub(super) info: RequestInfo,
    start: Instant,
    _running: Counted,
    /// `None` without a request, and unless traces are exported.
    #[cfg(feature = "otlp")]
    trace: Option<RequestTrace>,
}

impl RequestRecord {
    /// The record of a request with this head, or of one that is not read. The client behind a proxy is in the
    /// header.
    pub(super) fn start(head: Option<&Parts>, client: SocketAddr, ip_header: Option<&str>) -> Self {
        let headers = head.map(|head| &head.headers);
        let method = head.map_or(NONE, |head| {
            let known = METHODS.into_iter().find(|name| head.method == *name);
            known.unwrap_or(RequestInfo::OTHER_METHOD)
        });
        let real_ip = headers.zip(ip_header);
        let info = RequestInfo {
            request_id: headers.map_or_else(RequestId::random, RequestId::of),
            method,
            client: client.ip(),
            real_ip: real_ip
                .and_then(|(headers, name)| headers.get(name)?.to_str().ok()?.parse().ok()),
            labels: Labels::of_route(Labels::NO_ROUTE),
            status: None,
            bytes: 0,
            is_sent: false,
        };
        Self {
            info,
            start: Instant::now(),
            _running: Counted::new(gauge!("robots_http_requests_running")),
            #[cfg(feature = "otlp")]
            trace: headers.and_then(RequestTrace::start),
        }
    }

    /// The response starts. Adds the id to its headers.
    pub(super) fn start_response(&mut self, status: StatusCode, headers: &mut HeaderMap) {
        self.info.status = Some(status.as_u16());
        if !headers.contains_key(RequestId::HEADER) {
            self.add_id(headers);
        }
    }

    pub(super) fn add_id(&self, headers: &mut HeaderMap) {
        if let Ok(id) = HeaderValue::from_str(self.info.request_id.as_str()) {
            headers.insert(RequestId::HEADER, id);
        }
    }
}

fn or_none(value: Option<impl ToString>) -> Cow<'static, str> {
    value.map_or(NONE.into(), |value| value.to_string().into())
}

impl Drop for RequestRecord {
    fn drop(&mut self) {
        let duration = self.start.elapsed();
        let request = &self.info;
        tracing::info!(
            target: TARGET,
            request_id = %request.request_id,
            method = %request.method,
            route = %request.labels.route,
            status = request.status,
            // Rounded to microseconds.
            duration_ms = (duration.as_secs_f64() * 1e6).round() / 1000.0,
            bytes = request.bytes,
            client = %request.client,
            real_ip = request.real_ip.map(field::display),
            token = request.labels.token.as_ref().map(field::display),
            unknown_token = request.labels.unknown_token.as_ref().map(field::display),
            "{}",
            if request.is_sent { "request" } else { "request aborted" }
        );
        let (route, method) = (&request.labels.route, request.method);
        let status = or_none(request.status);
        let token = or_none(request.labels.token.as_ref());
        histogram!("robots_http_request_duration_seconds", "route" => route.clone(), "method" => method)
            .record(duration);
        counter!("robots_http_requests_total", "route" => route.clone(), "method" => method, "status" => status)
            .increment(1);
        counter!("robots_http_token_requests_total", "token" => token).increment(1);
        if !request.is_sent {
            counter!("robots_http_requests_aborted_total").increment(1);
        }
        #[cfg(feature = "otlp")]
        if let Some(trace) = &self.trace {
            trace.end(request, duration);
        }
    }
}
