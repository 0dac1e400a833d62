//! HTTP client that sends traces to the collector, and logs outages.

use std::{
    error::Error,
    io,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::TokioExecutor,
};
use opentelemetry_http::{HttpClient, HttpError};
use rocket::tokio::{
    runtime::{Builder, Runtime},
    time::timeout,
};

use crate::settings::traces::Collector;

/// The interval of messages that say that traces cannot be sent. Shorter, and an outage of the collector
/// fills the log; longer, and an operator waits for the result of a correction.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// The maximum size of a response, in bytes. Collectors answer with some bytes.
const RESPONSE: usize = 64 * 1024;

/// Sends requests to the collector, on the thread of the exporter with a runtime of its own: so it works
/// while that of the server is busy.
#[derive(Debug)]
pub(super) struct Client {
    runtime: Runtime,
    http: legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    timeout: Duration,
    /// The collector, for messages.
    name: String,
    /// When the log had a failure, if the last request failed.
    logged: Mutex<Option<Instant>>,
}

impl Client {
    pub(super) fn new(collector: Collector) -> io::Result<Self> {
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(collector.tls)
            .https_or_http()
            .enable_http1()
            .build();
        Ok(Self {
            runtime: Builder::new_current_thread().enable_all().build()?,
            // A connection for each batch: nothing would notice that an idle one is closed.
            http: legacy::Client::builder(TokioExecutor::new())
                .pool_max_idle_per_host(0)
                .build(connector),
            timeout: collector.timeout,
            name: collector.name,
            logged: Mutex::default(),
        })
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let response = self.http.request(request.map(Full::new)).await?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, RESPONSE).collect().await?;
        Ok(Response::from_parts(head, body.to_bytes()))
    }

    /// Logs a failure unless the log has one of the last minute, and the end of failures.
    fn report(&self, result: Result<(), String>) {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        match result {
            Ok(()) => {
                if logged.take().is_some() {
                    tracing::info!("traces are sent to {} again", self.name);
                }
            }
            Err(problem) => {
                if logged.is_none_or(|logged| logged.elapsed() >= LOG_INTERVAL) {
                    *logged = Some(Instant::now());
                    tracing::warn!("traces are lost: {} {problem}", self.name);
                }
            }
        }
    }
}

#[rocket::async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        // This thread has no other runtime: it is that of the exporter.
        let sent = self
            .runtime
            .block_on(async { timeout(self.timeout, self.send(request)).await });
        let sent = sent.unwrap_or_else(|_| {
            let message = format!("no answer within {} ms", self.timeout.as_millis());
            Err(message.into())
        });
        self.report(match &sent {
            Ok(response) if response.status().is_success() => Ok(()),
            Ok(response) => Err(format!("answers with status {}", response.status())),
            Err(error) => Err(format!("cannot be reached: {}", cause(error.as_ref()))),
        });
        sent
    }
}

/// The innermost cause of an error, which says what is wrong.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    error.source().map_or(error, cause)
}
