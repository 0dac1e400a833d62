//! Traces of requests, which are sent to a collector of OpenTelemetry.
//!
//! The span of a request is made when its response has been sent or given up, from the record that is
//! logged then. A thread of the SDK sends the spans in batches. Requests never wait for it: spans that
//! find its queue full are lost.

mod client;
mod request;

use std::{io, sync::OnceLock, time::Duration};

use opentelemetry::{InstrumentationScope, KeyValue, trace::TracerProvider};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    resource::EnvResourceDetector,
    trace::{SdkTracer, SdkTracerProvider},
};

use self::client::Client;
use crate::settings::traces::collector;

pub(crate) use request::RequestTrace;

const NAME: &str = "robot-rocket";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How long the end of the export takes at most. Shorter, and spans are lost although the collector is
/// available; longer, and a collector that hangs delays the end of the server for longer.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Makes the spans of this process, once the export has started.
static TRACER: OnceLock<SdkTracer> = OnceLock::new();

/// Export of traces, which runs until this is dropped.
///
/// ```
/// use robot_rocket::TraceExport;
///
/// // Until the end of the program. Without OTEL_EXPORTER_OTLP_ENDPOINT, there is none.
/// let traces = TraceExport::start()?;
/// assert!(traces.is_none());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "the export ends when this is dropped"]
pub struct TraceExport(SdkTracerProvider);

impl TraceExport {
    /// Exports a span for each request that [`serve`](crate::serve) answers from now on, if the
    /// standard environment variables of OpenTelemetry request it, in this process for the first time.
    ///
    /// If they request what is not supported, nothing is exported: the warnings of
    /// [`ServerSettings`](crate::ServerSettings) say why.
    ///
    /// # Errors
    /// The system does not allow more open files.
    ///
    /// # Panics
    /// If the system cannot start a thread.
    pub fn start() -> io::Result<Option<Self>> {
        let Ok(Some(collector)) = collector() else {
            return Ok(None);
        };
        let name = collector.name.clone();
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(collector.endpoint.to_string())
            .with_timeout(collector.timeout)
            .with_http_client(Client::new(collector)?)
            .build()
            .map_err(io::Error::other)?;
        let provider = SdkTracerProvider::builder()
            .with_resource(resource())
            .with_batch_exporter(exporter)
            .build();
        let scope = InstrumentationScope::builder(NAME).with_version(VERSION);
        let tracer = provider.tracer_with_scope(scope.build());
        if TRACER.set(tracer).is_ok() {
            tracing::info!("traces are sent to {name}");
        }
        Ok(Some(Self(provider)))
    }
}

impl Drop for TraceExport {
    /// Sends what is pending, within two seconds.
    fn drop(&mut self) {
        if self.0.shutdown_with_timeout(SHUTDOWN_TIMEOUT).is_err() {
            tracing::warn!("the last traces were not sent");
        }
    }
}

/// The attributes of the server: `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` take precedence.
fn resource() -> Resource {
    let resource = Resource::builder_empty()
        .with_service_name(NAME)
        .with_attribute(KeyValue::new("service.version", VERSION))
        .with_detector(Box::new(EnvResourceDetector::new()));
    let name = std::env::var("OTEL_SERVICE_NAME").ok();
    match name.filter(|name| !name.is_empty()) {
        Some(name) => resource.with_service_name(name).build(),
        None => resource.build(),
    }
}
