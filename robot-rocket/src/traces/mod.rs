//! Traces of requests, which are sent to a collector of OpenTelemetry.
//!
//! The span of a request is made when its response has been sent or given up, from the record that is
//! logged then. A thread of the SDK sends the spans in batches. Requests never wait for it: spans that
//! find its queue full are lost.

mod request;

use std::{error::Error, io, sync::OnceLock, time::Duration};

use bytes::Bytes;
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use opentelemetry::{InstrumentationScope, KeyValue, trace::TracerProvider};
use opentelemetry_http::{HttpClient, HttpError, hyper::HyperClient};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    resource::EnvResourceDetector,
    trace::{SdkTracer, SdkTracerProvider},
};
use rocket::tokio::runtime::{Builder, Runtime};

use crate::{
    rare_warning::RareWarning,
    settings::traces::{Collector, collector},
};

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

/// The interval is that of messages. Shorter, and an outage of the collector fills the log; longer, and an operator
/// waits for the result of a correction.
static LOST: RareWarning = RareWarning::new(Duration::from_secs(60));

/// Sends requests to the collector, on the thread of the exporter with a runtime of its own: so it works
/// while that of the server is busy.
#[derive(Debug)]
struct Client {
    runtime: Runtime,
    http: HyperClient<HttpsConnector<HttpConnector>>,
    /// The collector, for messages.
    name: String,
}

impl Client {
    fn new(collector: Collector) -> io::Result<Self> {
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(collector.tls)
            .https_or_http()
            .enable_http1()
            .build();
        Ok(Self {
            runtime: Builder::new_current_thread().enable_all().build()?,
            http: HyperClient::new(connector, collector.timeout, None),
            name: collector.name,
        })
    }
}

#[rocket::async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        // This thread has no other runtime: it is that of the exporter.
        let sent = self.runtime.block_on(self.http.send_bytes(request));
        let problem = match &sent {
            Ok(response) if response.status().is_success() => return sent,
            Ok(response) => format!("answers with status {}", response.status()),
            Err(error) => format!("cannot be reached: {}", cause(error.as_ref())),
        };
        if LOST.claim() {
            tracing::warn!("traces are lost: {} {problem}", self.name);
        }
        sent
    }
}

/// The innermost cause of an error, which says what is wrong.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    error.source().map_or(error, cause)
}
