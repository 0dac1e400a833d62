//! Metrics of requests, by labels.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
    time::Duration,
};

use ::metrics::{Counter, Gauge, Histogram, counter, histogram};
use robot_core::metrics::{Metric, SECONDS};

use super::SERVER;

const REQUESTS: Metric = Metric::counter(
    "robots_http_requests_total",
    "Requests that were answered, by route, method and status; the status is none if the client \
     disconnected before",
);
pub(super) const DURATION: Metric = Metric::histogram(
    "robots_http_request_duration_seconds",
    "Time from the head of a request to the end of its response, by route and method",
    SECONDS,
);
const TOKENS: Metric = Metric::counter(
    "robots_http_token_requests_total",
    "Requests by the name of their token; none without a token that has a name",
);

/// The token of a request without one that has a name.
const NO_TOKEN: &str = "none";

/// A request whose response has been sent or given up.
pub(crate) struct Completed<'a> {
    /// The template of the path, or another name from a fixed list.
    pub(crate) route: &'a str,
    /// From a fixed list.
    pub(crate) method: &'static str,
    /// `None` without a response.
    pub(crate) status: Option<u16>,
    /// The name of the token, from the settings.
    pub(crate) token: Option<&'a str>,
    pub(crate) duration: Duration,
    /// Whether the response was sent completely.
    pub(crate) is_sent: bool,
}

impl Completed<'_> {
    /// The route of a request that no route has received. Templates start with a slash.
    pub(crate) const NO_ROUTE: &'static str = "none";

    /// The method if it is none of HTTP.
    pub(crate) const OTHER_METHOD: &'static str = "other";

    /// A request has begun, and runs until this is dropped.
    pub(crate) fn running() -> Gauged {
        Gauged::new(&SERVER.running)
    }

    /// Records the request.
    pub(crate) fn record(&self) {
        SERVER.requests.record(self);
        if !self.is_sent {
            SERVER.aborted.increment(1);
        }
    }
}

/// Handles by labels, each created for the first request that needs it.
pub(super) struct RequestMetrics {
    /// By route.
    answers: RwLock<HashMap<String, Vec<Answers>>>,
    /// By the name of the token.
    tokens: RwLock<HashMap<String, Counter>>,
}

/// Handles of the requests of a route with the same method and status.
struct Answers {
    method: &'static str,
    status: Option<u16>,
    count: Counter,
    duration: Histogram,
}

impl RequestMetrics {
    pub(super) fn new() -> Self {
        for metric in [REQUESTS, DURATION, TOKENS] {
            metric.describe();
        }
        Self {
            answers: RwLock::default(),
            tokens: RwLock::default(),
        }
    }

    fn record(&self, request: &Completed<'_>) {
        let answers = self.answers.read().unwrap_or_else(PoisonError::into_inner);
        let mut of_route = answers.get(request.route).into_iter().flatten();
        let known =
            of_route.find(|known| known.status == request.status && known.method == request.method);
        if let Some(known) = known {
            known.record(request);
        } else {
            drop(answers);
            let added = Answers::of(request);
            added.record(request);
            // Two threads may add the same; the first one of both is used.
            let mut answers = self.answers.write().unwrap_or_else(PoisonError::into_inner);
            answers
                .entry(request.route.to_owned())
                .or_default()
                .push(added);
        }
        self.count_token(request.token.unwrap_or(NO_TOKEN));
    }

    fn count_token(&self, token: &str) {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(counter) = tokens.get(token) {
            return counter.increment(1);
        }
        drop(tokens);
        let mut tokens = self.tokens.write().unwrap_or_else(PoisonError::into_inner);
        let counter = tokens.entry(token.to_owned());
        let counter =
            counter.or_insert_with_key(|token| counter!(TOKENS.name, "token" => token.clone()));
        counter.increment(1);
    }
}

impl Answers {
    fn of(request: &Completed<'_>) -> Self {
        let (route, method) = (request.route.to_owned(), request.method);
        let status = request
            .status
            .map_or("none".into(), |status| status.to_string());
        Self {
            method,
            status: request.status,
            duration: histogram!(DURATION.name, "route" => route.clone(), "method" => method),
            count: counter!(REQUESTS.name, "route" => route, "method" => method, "status" => status),
        }
    }

    fn record(&self, request: &Completed<'_>) {
        self.count.increment(1);
        self.duration.record(request.duration);
    }
}

/// A gauge that is greater by one until this is dropped.
pub(crate) struct Gauged(&'static Gauge);

impl Gauged {
    pub(crate) fn new(gauge: &'static Gauge) -> Self {
        gauge.increment(1);
        Self(gauge)
    }
}

impl Drop for Gauged {
    fn drop(&mut self) {
        self.0.decrement(1);
    }
}
