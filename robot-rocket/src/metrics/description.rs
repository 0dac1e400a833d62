//! Descriptions of the metrics, and their first values.

use std::time::{SystemTime, UNIX_EPOCH};

use ::metrics::{counter, gauge};
use robot_core::metrics::{Metric, MetricKind, SECONDS};

/// A table of metrics: type, name and description.
macro_rules! table {
    ($($kind:ident $name:literal $description:literal)+) => {
        [$(Metric::$kind($name, $description)),+]
    };
}

/// The metrics without labels, which have values from the start.
const METRICS: &[Metric] = &table! {
    gauge "robots_http_connections" "Open connections of clients"
    gauge "robots_http_connections_limit" "Connections of clients that may be open (max_connections)"
    counter "robots_http_connections_accepted_total" "Connections of clients that were accepted"
    counter "robots_http_accept_failures_total"
        "Attempts to accept a connection that failed, because no more files can be opened"
    counter "robots_http_received_bytes_total" "Bytes of requests that were received, with heads, without TLS"
    counter "robots_http_sent_bytes_total" "Bytes of responses that were sent, with heads, without TLS"
    gauge "robots_blocking_threads_busy" "Blocking threads that requests use"
    gauge "robots_blocking_threads_limit" "Blocking threads that requests may use (max_blocking)"
    gauge "robots_ready" "1 if the last check could read the store, as /readyz does"
    counter "robots_tls_handshakes_failed_total" "TLS handshakes that failed or took too long"
    gauge "robots_http_requests_running" "Requests whose response has not been sent completely"
    counter "robots_http_requests_aborted_total" "Requests whose response was not sent completely"
    gauge "process_start_time_seconds" "Start of the process, in seconds since 1970"
    counter "robots_log_lines_lost_total"
        "Lines of the log that were lost, because standard error was not read fast enough"
};

pub(super) const DURATION: Metric = Metric::histogram(
    "robots_http_request_duration_seconds",
    "Time from the head of a request to the end of its response, by route and method",
    SECONDS,
);

/// The metrics with labels, and those whose values are not known at the start.
const OTHERS: &[Metric] = &table! {
    counter "robots_http_requests_total"
        "Requests that were answered, by route, method and status; the status is none if the client disconnected before"
    counter "robots_http_token_requests_total"
        "Requests by the name of their token; none without a token that has a name"
    gauge "robots_tls_certificate_expiry_time_seconds"
        "End of the certificate of HTTPS, in seconds since 1970; missing without HTTPS"
    gauge "robots_build_info" "1, with the version and the features of the program as labels"
    counter "robots_http_connections_rejected_total"
        "Connections that were rejected, by limit: that of all, or that of an address"
    counter "robots_blocking_threads_rejected_total"
        "Requests that got 503 because all blocking threads, or all those for imports, were used (limit)"
    counter "robots_reloads_total" "Reloads of tokens and certificates, by result: done or refused"
    gauge "process_resident_memory_bytes" "Memory that is not swapped out"
    gauge "process_threads" "Threads"
    gauge "process_open_fds" "Open files"
    gauge "process_max_fds" "Files that may be open"
    counter "process_cpu_seconds_total" "CPU time in user and system mode"
};

/// Passes the descriptions of all metrics to the recorder, and their first values.
pub(super) fn describe() {
    robot_core::metrics::describe();
    for metric in METRICS.iter().chain(OTHERS).chain([&DURATION]) {
        metric.describe();
    }
    for metric in METRICS {
        match metric.kind {
            MetricKind::Counter => counter!(metric.name).increment(0),
            _ => gauge!(metric.name).increment(0),
        }
    }
    for limit in ["all", "address"] {
        counter!("robots_http_connections_rejected_total", "limit" => limit).increment(0);
    }
    for limit in ["all", "imports", "costly"] {
        counter!("robots_blocking_threads_rejected_total", "limit" => limit).increment(0);
    }
    for result in ["done", "refused"] {
        counter!("robots_reloads_total", "result" => result).increment(0);
    }
    let features = [
        ("sqlite", cfg!(feature = "sqlite")),
        ("postgres", cfg!(feature = "postgres")),
        ("mysql", cfg!(feature = "mysql")),
        ("otlp", cfg!(feature = "otlp")),
    ];
    let included = features.into_iter().filter(|(_, is_included)| *is_included);
    let included: Vec<_> = included.map(|(name, _)| name).collect();
    let version = env!("CARGO_PKG_VERSION");
    gauge!("robots_build_info", "version" => version, "features" => included.join(",")).set(1);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    gauge!("process_start_time_seconds").set(now.unwrap_or_default());
}
