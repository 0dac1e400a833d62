//! Traces of requests, which are sent to a collector of OpenTelemetry.
//!
//! The span of a request is made when its response has been sent or given up, from the record that is
//! logged then. A thread of the SDK sends the spans in batches. Requests never wait for it: spans that
//! find its queue full are lost.

mod request;

use std::{
    error::Error,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use hyper::{Request, Response, Uri};
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
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_native_certs::{load_certs_from_paths, load_native_certs};

use crate::{
    otel::{exporter as variable, requested, value},
    rare_warning::RareWarning,
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
/// let traces = TraceExport::start();
/// assert!(traces.is_none());
/// ```
#[derive(Debug)]
#[must_use = "the export ends when this is dropped"]
pub struct TraceExport(SdkTracerProvider);

impl TraceExport {
    /// Exports a span for each request that [`serve`](crate::serve) answers from now on, if the
    /// standard environment variables of OpenTelemetry request it, in this process for the first time.
    ///
    /// If they request what is not possible, nothing is exported: the warnings of
    /// [`ServerSettings`](crate::ServerSettings) say why.
    ///
    /// # Panics
    /// If the system cannot start a thread.
    pub fn start() -> Option<Self> {
        let exporter = exporter()?;
        let provider = SdkTracerProvider::builder()
            .with_resource(resource())
            .with_batch_exporter(exporter)
            .build();
        let scope = InstrumentationScope::builder(NAME).with_version(VERSION);
        let tracer = provider.tracer_with_scope(scope.build());
        if TRACER.set(tracer).is_ok() {
            tracing::info!("traces are exported");
        }
        Some(Self(provider))
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
    let name = value("OTEL_SERVICE_NAME").map(|name| KeyValue::new("service.name", name));
    Resource::builder_empty()
        .with_service_name(NAME)
        .with_attribute(KeyValue::new("service.version", VERSION))
        .with_detector(Box::new(EnvResourceDetector::new()))
        .with_attributes(name)
        .build()
}

/// The exporter to the collector of the environment; `None` if no traces are requested, or they cannot be exported.
/// It reads the address and the headers itself.
fn exporter() -> Option<SpanExporter> {
    let roots = check().ok()??;
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_http_client(CollectorClient::new(roots).ok()?);
    exporter.build().ok()
}

/// Checks the variables. Returns the authorities that a collector may have; `None` if no traces are requested. The
/// error is a message without values, which may have secrets.
pub(crate) fn check() -> Result<Option<RootCertStore>, String> {
    let Some((name, address)) = requested() else {
        return Ok(None);
    };
    let endpoint = address.parse::<Uri>();
    if !endpoint.is_ok_and(|uri| matches!(uri.scheme_str(), Some("http" | "https"))) {
        return Err(format!("{name} must be a URL, as in http://127.0.0.1:4318"));
    }
    if let Some((name, protocol)) = variable("PROTOCOL")
        && protocol != "http/protobuf"
    {
        return Err(format!(
            "this server supports only http/protobuf, not the protocol of {name}; set it to \
             http/protobuf, and the address to a port for OTLP over HTTP, which usually is 4318"
        ));
    }
    let mut roots = RootCertStore::empty();
    match variable("CERTIFICATE") {
        None => roots.add_parsable_certificates(load_native_certs().certs),
        Some((name, file)) => {
            let found = load_certs_from_paths(Some(file.as_ref()), None).certs;
            if found.is_empty() {
                return Err(format!("the file of {name} has no certificate"));
            }
            roots.add_parsable_certificates(found)
        }
    };
    Ok(Some(roots))
}

/// The interval is that of messages. Shorter, and an outage of the collector fills the log; longer, and an operator
/// waits for the result of a correction.
static LOST: RareWarning = RareWarning::new(Duration::from_secs(60));

/// The timeout that OpenTelemetry specifies, in milliseconds.
const DEFAULT_TIMEOUT: u64 = 10_000;

/// Sends requests to the collector, on the thread of the exporter with a runtime of its own: so it works
/// while that of the server is busy.
#[derive(Debug)]
struct CollectorClient {
    runtime: Runtime,
    http: HyperClient<HttpsConnector<HttpConnector>>,
}

impl CollectorClient {
    fn new(roots: RootCertStore) -> Result<Self, Box<dyn Error>> {
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .build();
        let timeout = variable("TIMEOUT").and_then(|(_, text)| text.parse().ok());
        let timeout = Duration::from_millis(timeout.unwrap_or(DEFAULT_TIMEOUT));
        Ok(Self {
            runtime: Builder::new_current_thread().enable_all().build()?,
            http: HyperClient::new(connector, timeout, None),
        })
    }
}

#[rocket::async_trait]
impl HttpClient for CollectorClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        // This thread has no other runtime: it is that of the exporter.
        let sent = self.runtime.block_on(self.http.send_bytes(request));
        let problem = match &sent {
            Ok(response) if response.status().is_success() => return sent,
            Ok(response) => format!("answers with status {}", response.status()),
            Err(error) => format!("cannot be reached: {}", cause(error.as_ref())),
        };
        if LOST.claim() {
            tracing::warn!("traces are lost: the collector {problem}");
        }
        sent
    }
}

/// The innermost cause of an error, which says what is wrong.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    error.source().map_or(error, cause)
}
