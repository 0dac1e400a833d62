//! Metrics of requests, by labels.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
    time::Duration,
};

use ::metrics::{Gauge, counter, histogram};
use robot_core::http::{Exchange, TokenName};
use rocket::Request;

/// The status of a request without a response, and the token of a request without one that has a name.
const NONE: &str = "none";

/// What the application knows about a request, and the server does not.
#[derive(Debug, Clone)]
pub(crate) struct Labels {
    /// The template of the path, or another name from a fixed list.
    pub(crate) route: Cow<'static, str>,
    /// The name of the token, from the settings.
    pub(crate) token: Option<TokenName>,
    /// The fingerprint of a token that is not known.
    pub(crate) unknown_token: Option<String>,
}

/// Where a handler puts the labels of its request.
pub(crate) type LabelSlot = Arc<OnceLock<Labels>>;

impl Labels {
    /// The route of a request that no route has received. Templates start with a slash.
    pub(crate) const NO_ROUTE: &'static str = "none";

    pub(crate) fn of(exchange: &Exchange) -> Self {
        Self {
            route: exchange.route().unwrap_or(Self::NO_ROUTE).into(),
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

/// A request whose response has been sent or given up.
pub(crate) struct Completed<'a> {
    pub(crate) labels: &'a Labels,
    /// From a fixed list.
    pub(crate) method: &'static str,
    /// `None` without a response.
    pub(crate) status: Option<u16>,
    pub(crate) duration: Duration,
    /// Whether the response was sent completely.
    pub(crate) is_sent: bool,
}

impl Completed<'_> {
    /// The method if it is none of HTTP.
    pub(crate) const OTHER_METHOD: &'static str = "other";

    /// Records the request.
    pub(crate) fn record(&self) {
        let (route, method) = (&self.labels.route, self.method);
        let status = self
            .status
            .map_or(NONE.into(), |status| Cow::from(status.to_string()));
        let token = self.labels.token.as_ref();
        let token = token.map_or(NONE.into(), |token| Cow::from(token.to_string()));
        histogram!("robots_http_request_duration_seconds", "route" => route.clone(), "method" => method)
            .record(self.duration);
        counter!("robots_http_requests_total", "route" => route.clone(), "method" => method, "status" => status)
            .increment(1);
        counter!("robots_http_token_requests_total", "token" => token).increment(1);
        if !self.is_sent {
            counter!("robots_http_requests_aborted_total").increment(1);
        }
    }
}

/// A gauge that is greater by one until this is dropped.
pub(crate) struct Gauged(Gauge);

impl Gauged {
    pub(crate) fn new(gauge: Gauge) -> Self {
        gauge.increment(1);
        Self(gauge)
    }
}

impl Drop for Gauged {
    fn drop(&mut self) {
        self.0.decrement(1);
    }
}
