//! HTTP client that sends traces to the collector.
//!
//! It uses a connection for each batch, on the thread of the exporter, with a runtime of its own: so it
//! needs no other thread, and works while those of the server are busy.

use std::{
    fmt, io,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::future::{Either, select};
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Request, Response, Uri,
    client::conn::http1,
    header::{HOST, HeaderValue},
    rt::{Read, Write},
};
use hyper_util::rt::TokioIo;
use opentelemetry_http::{HttpClient, HttpError};
use rocket::tokio::{
    net::TcpStream,
    runtime::{Builder, Runtime},
    time::timeout,
};
use rustls::{ClientConfig, pki_types::ServerName};
use tokio_rustls::TlsConnector;

use crate::settings::traces::Collector;

/// The interval of messages that say that traces cannot be sent. Shorter, and an outage of the collector
/// fills the log; longer, and an operator waits for the result of a correction.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// The maximum size of an answer, in bytes. Collectors answer with some bytes.
const ANSWER: usize = 64 * 1024;

/// Sends requests to the collector, one after another.
pub(super) struct Client {
    runtime: Runtime,
    timeout: Duration,
    tls: Option<Arc<ClientConfig>>,
    /// The collector, for messages.
    name: String,
    /// When the log had a failure, if the last request failed.
    logged: Mutex<Option<Instant>>,
}

impl Client {
    pub(super) fn new(collector: Collector) -> io::Result<Self> {
        Ok(Self {
            name: collector.to_string(),
            runtime: Builder::new_current_thread().enable_all().build()?,
            timeout: collector.timeout,
            tls: collector.tls,
            logged: Mutex::default(),
        })
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let uri = request.uri().clone();
        let host = uri.host().unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']');
        let port = match &self.tls {
            Some(_) => 443,
            None => 80,
        };
        let port = uri.port_u16().unwrap_or(port);
        let stream = TcpStream::connect((address, port)).await?;
        match &self.tls {
            Some(config) => {
                let name = ServerName::try_from(address.to_owned())?;
                let connector = TlsConnector::from(Arc::clone(config));
                let stream = connector.connect(name, stream).await?;
                exchange(TokioIo::new(stream), request).await
            }
            None => exchange(TokioIo::new(stream), request).await,
        }
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
            Err(error) => Err(format!("cannot be reached: {error}")),
        });
        sent
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").finish_non_exhaustive()
    }
}

/// Sends the only request of a connection, and reads the answer.
async fn exchange(
    stream: impl Read + Write + Unpin + 'static,
    request: Request<Bytes>,
) -> Result<Response<Bytes>, HttpError> {
    let (mut sender, connection) = http1::handshake(stream).await?;
    let request = with_host(request)?.map(Full::new);
    let answer = pin!(async {
        let (head, body) = sender.send_request(request).await?.into_parts();
        let body = Limited::new(body, ANSWER).collect().await?;
        Ok(Response::from_parts(head, body.to_bytes()))
    });
    match select(answer, pin!(connection)).await {
        Either::Left((answer, _)) => answer,
        Either::Right((_, answer)) => answer.await,
    }
}

/// The request as it is sent: with its host in a header, and the path only.
fn with_host(mut request: Request<Bytes>) -> Result<Request<Bytes>, HttpError> {
    let uri = request.uri().clone();
    if let Some(authority) = uri.authority() {
        let host = HeaderValue::from_str(authority.as_str())?;
        request.headers_mut().insert(HOST, host);
    }
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse::<Uri>()?;
    Ok(request)
}
