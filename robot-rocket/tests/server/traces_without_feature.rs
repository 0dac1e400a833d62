//! A server without the feature `otlp`.

use crate::Server;

#[test]
fn traces_that_are_requested_are_reported_as_missing() {
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
    let server = Server::with(&[endpoint]);
    let (_, log) = server.stop("TERM");
    let words =
        "OTEL_EXPORTER_OTLP_ENDPOINT is set, but this server was built without the feature otlp";
    assert!(log.contains(words), "{log}");
}
