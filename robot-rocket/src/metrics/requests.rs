//! Metrics of requests, by labels.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
    time::Duration,
};

use ::metrics::{Counter, Histogram, counter, histogram};

use super::{Gauged, REQUEST_DURATION, REQUESTS, SERVER, TOKEN_REQUESTS};

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
#[derive(Default)]
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
    fn record(&self, request: &Completed<'_>) {
        if !self.count_known(request) {
            self.add(request);
            self.count_known(request);
        }
        let token = request.token.unwrap_or(NO_TOKEN);
        if !self.count_token(token) {
            let counter = counter!(TOKEN_REQUESTS.name, "token" => token.to_owned());
            let mut tokens = self.tokens.write().unwrap_or_else(PoisonError::into_inner);
            tokens.entry(token.to_owned()).or_insert(counter);
            drop(tokens);
            self.count_token(token);
        }
    }

    /// Counts a request if its labels are known.
    fn count_known(&self, request: &Completed<'_>) -> bool {
        let answers = self.answers.read().unwrap_or_else(PoisonError::into_inner);
        let mut of_route = answers.get(request.route).into_iter().flatten();
        let known =
            of_route.find(|known| known.status == request.status && known.method == request.method);
        if let Some(known) = known {
            known.count.increment(1);
            known.duration.record(request.duration);
        }
        known.is_some()
    }

    fn add(&self, request: &Completed<'_>) {
        let (route, method) = (request.route, request.method);
        let status = request
            .status
            .map_or("none".into(), |status| status.to_string());
        let added = Answers {
            method,
            status: request.status,
            count: counter!(
                REQUESTS.name, "route" => route.to_owned(), "method" => method, "status" => status
            ),
            duration: histogram!(
                REQUEST_DURATION.name, "route" => route.to_owned(), "method" => method
            ),
        };
        let mut answers = self.answers.write().unwrap_or_else(PoisonError::into_inner);
        let of_route = answers.entry(route.to_owned()).or_default();
        // Two threads may add the same; the first one of both is used.
        of_route.push(added);
    }

    fn count_token(&self, token: &str) -> bool {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let counter = tokens.get(token);
        if let Some(counter) = counter {
            counter.increment(1);
        }
        counter.is_some()
    }
}
