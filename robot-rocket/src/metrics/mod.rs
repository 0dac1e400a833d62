//! Metrics of the server: requests, connections and threads.

#[cfg(feature = "server")]
mod exporter;
#[cfg(all(feature = "server", target_os = "linux"))]
mod process;
mod requests;

use std::sync::{
    LazyLock,
    atomic::{AtomicBool, Ordering},
};

use ::metrics::{Counter, Gauge, counter, gauge};
use robot_core::metrics::Metric;

#[cfg(feature = "server")]
pub use exporter::serve_metrics;
pub(crate) use requests::{Completed, Gauged};

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
    running: Gauge,
    aborted: Counter,
}

fn described_counter(name: &'static str, description: &'static str) -> Counter {
    Metric::counter(name, description).describe();
    counter!(name)
}

fn described_gauge(name: &'static str, description: &'static str) -> Gauge {
    Metric::gauge(name, description).describe();
    gauge!(name)
}

impl ServerMetrics {
    /// Passes the descriptions of the metrics to the recorder, and their first values.
    fn new() -> Self {
        let rejected = Metric::counter(
            "robots_http_connections_rejected_total",
            "Connections that were rejected, by limit: that of all, or that of an address",
        );
        let no_thread = Metric::counter(
            "robots_blocking_threads_rejected_total",
            "Requests that got 503 because all blocking threads, or all those for imports, were used (limit)",
        );
        for metric in [
            rejected,
            no_thread,
            requests::REQUESTS,
            requests::DURATION,
            requests::TOKENS,
        ] {
            metric.describe();
        }
        Self {
            connections: described_gauge("robots_http_connections", "Open connections of clients"),
            connections_limit: described_gauge(
                "robots_http_connections_limit",
                "Connections of clients that may be open (max_connections)",
            ),
            accepted: described_counter(
                "robots_http_connections_accepted_total",
                "Connections of clients that were accepted",
            ),
            rejected: counter!(rejected.name, "limit" => "all"),
            rejected_of_address: counter!(rejected.name, "limit" => "address"),
            accept_failures: described_counter(
                "robots_http_accept_failures_total",
                "Attempts to accept a connection that failed, because no more files can be opened",
            ),
            received: described_counter(
                "robots_http_received_bytes_total",
                "Bytes of requests that were received, with heads, without TLS",
            ),
            sent: described_counter(
                "robots_http_sent_bytes_total",
                "Bytes of responses that were sent, with heads, without TLS",
            ),
            threads: described_gauge(
                "robots_blocking_threads_busy",
                "Blocking threads that requests use",
            ),
            threads_limit: described_gauge(
                "robots_blocking_threads_limit",
                "Blocking threads that requests may use (max_blocking)",
            ),
            no_thread: counter!(no_thread.name, "limit" => "all"),
            no_slow_thread: counter!(no_thread.name, "limit" => "imports"),
            ready: described_gauge(
                "robots_ready",
                "1 if the last check could read the store, as /readyz does",
            ),
            handshakes_failed: described_counter(
                "robots_tls_handshakes_failed_total",
                "TLS handshakes that failed or took too long",
            ),
            running: described_gauge(
                "robots_http_requests_running",
                "Requests whose response has not been sent completely",
            ),
            aborted: described_counter(
                "robots_http_requests_aborted_total",
                "Requests whose response was not sent completely",
            ),
        }
    }
}

/// Whether this process has started a server of metrics.
static ARE_SERVED: AtomicBool = AtomicBool::new(false);

pub(crate) fn are_served() -> bool {
    ARE_SERVED.load(Ordering::Relaxed)
}

/// Records the end of the certificate of HTTPS, from the beginning of 1970; nothing if it is unknown.
#[cfg(feature = "tls")]
pub(crate) fn record_certificate_expiry(end: Option<std::time::Duration>) {
    if let Some(end) = end {
        described_gauge(
            "robots_tls_certificate_expiry_time_seconds",
            "End of the certificate of HTTPS, in seconds since 1970; missing without HTTPS",
        )
        .set(end);
    }
}

/// Passes the descriptions of all metrics to the recorder, and their first values.
#[cfg(feature = "server")]
fn describe() {
    use std::time::{SystemTime, UNIX_EPOCH};

    robot_core::metrics::describe();
    LazyLock::force(&SERVER);
    let features = [
        ("sqlite", cfg!(feature = "sqlite")),
        ("postgres", cfg!(feature = "postgres")),
        ("mysql", cfg!(feature = "mysql")),
        ("tls", cfg!(feature = "tls")),
        ("otlp", cfg!(feature = "otlp")),
    ];
    let included = features.into_iter().filter(|(_, is_included)| *is_included);
    let included: Vec<_> = included.map(|(name, _)| name).collect();
    let build = Metric::gauge(
        "robots_build_info",
        "1, with the version and the features of the program as labels",
    );
    build.describe();
    let version = env!("CARGO_PKG_VERSION");
    gauge!(build.name, "version" => version, "features" => included.join(",")).set(1);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    described_gauge(
        "process_start_time_seconds",
        "Start of the process, in seconds since 1970",
    )
    .set(now.unwrap_or_default());
    ARE_SERVED.store(true, Ordering::Relaxed);
}
