//! Handles of the metrics of the server.

use std::sync::LazyLock;

use ::metrics::{Counter, Gauge, counter, gauge};

use super::{
    ACCEPT_FAILURES, CONNECTIONS, CONNECTIONS_ACCEPTED, CONNECTIONS_LIMIT, CONNECTIONS_REJECTED,
    HANDSHAKES_FAILED, READY, RECEIVED, REQUESTS_ABORTED, REQUESTS_RUNNING, SENT, THREADS_BUSY,
    THREADS_LIMIT, THREADS_REJECTED, requests::RequestMetrics,
};

/// The handles of this process. Looking them up for each request would cost more than using them.
pub(crate) static SERVER: LazyLock<ServerMetrics> = LazyLock::new(ServerMetrics::new);

/// Handles of the metrics without labels that vary.
pub(crate) struct ServerMetrics {
    pub(crate) connections: Gauge,
    pub(crate) connections_limit: Gauge,
    pub(crate) accepted: Counter,
    /// Rejected by the limit of all connections.
    pub(crate) rejected: Counter,
    /// Rejected by the limit of an address.
    pub(crate) rejected_of_address: Counter,
    pub(crate) accept_failures: Counter,
    pub(crate) received: Counter,
    pub(crate) sent: Counter,
    pub(crate) threads: Gauge,
    pub(crate) threads_limit: Gauge,
    /// Requests for which there was no thread.
    pub(crate) no_thread: Counter,
    /// Imports for which there was none of the threads that may wait for clients.
    pub(crate) no_slow_thread: Counter,
    pub(crate) ready: Gauge,
    #[cfg_attr(not(feature = "tls"), expect(dead_code, reason = "0 without TLS"))]
    pub(crate) handshakes_failed: Counter,
    pub(super) requests: RequestMetrics,
    pub(super) running: Gauge,
    pub(super) aborted: Counter,
}

impl ServerMetrics {
    fn new() -> Self {
        let rejected = |limit| counter!(CONNECTIONS_REJECTED.name, "limit" => limit);
        let no_thread = |limit| counter!(THREADS_REJECTED.name, "limit" => limit);
        Self {
            connections: gauge!(CONNECTIONS.name),
            connections_limit: gauge!(CONNECTIONS_LIMIT.name),
            accepted: counter!(CONNECTIONS_ACCEPTED.name),
            rejected: rejected("all"),
            rejected_of_address: rejected("address"),
            accept_failures: counter!(ACCEPT_FAILURES.name),
            received: counter!(RECEIVED.name),
            sent: counter!(SENT.name),
            threads: gauge!(THREADS_BUSY.name),
            threads_limit: gauge!(THREADS_LIMIT.name),
            no_thread: no_thread("all"),
            no_slow_thread: no_thread("imports"),
            ready: gauge!(READY.name),
            handshakes_failed: counter!(HANDSHAKES_FAILED.name),
            requests: RequestMetrics::default(),
            running: gauge!(REQUESTS_RUNNING.name),
            aborted: counter!(REQUESTS_ABORTED.name),
        }
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
