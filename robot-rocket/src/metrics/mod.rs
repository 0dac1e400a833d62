//! Metrics of the server: requests, connections and threads.

#[cfg(feature = "server")]
mod exporter;
#[cfg(all(feature = "server", target_os = "linux"))]
mod process;
mod recording;
mod requests;

use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(any(feature = "server", feature = "tls"))]
use ::metrics::gauge;
use robot_core::metrics::{Metric, SECONDS};

#[cfg(feature = "server")]
pub use exporter::{MetricsError, MetricsServer};
pub(crate) use recording::{Gauged, SERVER};
pub(crate) use requests::Completed;

const REQUESTS: Metric = Metric::counter(
    "robots_http_requests_total",
    "Requests that were answered, by route, method and status; the status is none if the client \
     disconnected before",
);
const REQUEST_DURATION: Metric = Metric::histogram(
    "robots_http_request_duration_seconds",
    "Time from the head of a request to the end of its response, by route and method",
    SECONDS,
);
const REQUESTS_RUNNING: Metric = Metric::gauge(
    "robots_http_requests_running",
    "Requests whose response has not been sent completely",
);
const REQUESTS_ABORTED: Metric = Metric::counter(
    "robots_http_requests_aborted_total",
    "Requests whose response was not sent completely",
);
const TOKEN_REQUESTS: Metric = Metric::counter(
    "robots_http_token_requests_total",
    "Requests by the name of their token; none without a token that has a name",
);
const RECEIVED: Metric = Metric::counter(
    "robots_http_received_bytes_total",
    "Bytes of requests that were received, with heads, without TLS",
);
const SENT: Metric = Metric::counter(
    "robots_http_sent_bytes_total",
    "Bytes of responses that were sent, with heads, without TLS",
);
const CONNECTIONS: Metric = Metric::gauge("robots_http_connections", "Open connections of clients");
const CONNECTIONS_LIMIT: Metric = Metric::gauge(
    "robots_http_connections_limit",
    "Connections of clients that may be open (max_connections)",
);
const CONNECTIONS_ACCEPTED: Metric = Metric::counter(
    "robots_http_connections_accepted_total",
    "Connections of clients that were accepted",
);
const CONNECTIONS_REJECTED: Metric = Metric::counter(
    "robots_http_connections_rejected_total",
    "Connections that were rejected, by limit: that of all, or that of an address",
);
const ACCEPT_FAILURES: Metric = Metric::counter(
    "robots_http_accept_failures_total",
    "Attempts to accept a connection that failed, because no more files can be opened",
);
const THREADS_BUSY: Metric = Metric::gauge(
    "robots_blocking_threads_busy",
    "Blocking threads that requests use",
);
const THREADS_LIMIT: Metric = Metric::gauge(
    "robots_blocking_threads_limit",
    "Blocking threads that requests may use (max_blocking)",
);
const THREADS_REJECTED: Metric = Metric::counter(
    "robots_blocking_threads_rejected_total",
    "Requests that got 503 because all blocking threads, or all those for imports, were used (limit)",
);
const READY: Metric = Metric::gauge(
    "robots_ready",
    "1 if the last check could read the store, as /readyz does",
);
const HANDSHAKES_FAILED: Metric = Metric::counter(
    "robots_tls_handshakes_failed_total",
    "TLS handshakes that failed or took too long",
);
#[cfg(any(feature = "server", feature = "tls"))]
const CERTIFICATE_EXPIRY: Metric = Metric::gauge(
    "robots_tls_certificate_expiry_time_seconds",
    "End of the certificate of HTTPS, in seconds since 1970; missing without HTTPS",
);
#[cfg(feature = "server")]
const BUILD_INFO: Metric = Metric::gauge(
    "robots_build_info",
    "1, with the version and the features of the program as labels",
);
#[cfg(feature = "server")]
const START_TIME: Metric = Metric::gauge(
    "process_start_time_seconds",
    "Start of the process, in seconds since 1970",
);

#[cfg(feature = "server")]
const ALL: [Metric; 20] = [
    REQUESTS,
    REQUEST_DURATION,
    REQUESTS_RUNNING,
    REQUESTS_ABORTED,
    TOKEN_REQUESTS,
    RECEIVED,
    SENT,
    CONNECTIONS,
    CONNECTIONS_LIMIT,
    CONNECTIONS_ACCEPTED,
    CONNECTIONS_REJECTED,
    ACCEPT_FAILURES,
    THREADS_BUSY,
    THREADS_LIMIT,
    THREADS_REJECTED,
    READY,
    HANDSHAKES_FAILED,
    CERTIFICATE_EXPIRY,
    BUILD_INFO,
    START_TIME,
];

/// Whether this process has started a server of metrics.
static ARE_SERVED: AtomicBool = AtomicBool::new(false);

pub(crate) fn are_served() -> bool {
    ARE_SERVED.load(Ordering::Relaxed)
}

/// Records the end of the certificate of HTTPS, from the beginning of 1970; nothing if it is unknown.
#[cfg(feature = "tls")]
pub(crate) fn record_certificate_expiry(end: Option<std::time::Duration>) {
    if let Some(end) = end {
        gauge!(CERTIFICATE_EXPIRY.name).set(end);
    }
}

/// The optional features that the program was built with, separated by commas.
#[cfg(feature = "server")]
fn features() -> String {
    let features = [
        ("sqlite", cfg!(feature = "sqlite")),
        ("postgres", cfg!(feature = "postgres")),
        ("mysql", cfg!(feature = "mysql")),
        ("tls", cfg!(feature = "tls")),
        ("otlp", cfg!(feature = "otlp")),
    ];
    let included = features.iter().filter(|(_, is_included)| *is_included);
    included
        .map(|(name, _)| *name)
        .collect::<Vec<_>>()
        .join(",")
}

/// All metrics that pass through the recorder: those of the server and of the library.
#[cfg(feature = "server")]
fn all() -> impl Iterator<Item = &'static Metric> {
    ALL.iter().chain(robot_core::metrics::ALL)
}

/// Passes the descriptions of all metrics to the recorder, and their first values.
#[cfg(feature = "server")]
fn describe() {
    use std::time::{SystemTime, UNIX_EPOCH};

    robot_core::metrics::describe();
    for metric in &ALL {
        metric.describe();
    }
    let labels = [
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("features", features()),
    ];
    gauge!(BUILD_INFO.name, &labels).set(1);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    gauge!(START_TIME.name).set(now.unwrap_or_default());
    #[cfg(target_os = "linux")]
    process::describe();
    std::sync::LazyLock::force(&SERVER);
    ARE_SERVED.store(true, Ordering::Relaxed);
}
