//! Server of the metrics for Prometheus, on an address of its own.
//!
//! It has a thread and a runtime of its own, so that it answers while the threads of the main server
//! are busy, and while the database hangs.

use std::{
    convert::Infallible,
    io,
    net::{SocketAddr, TcpListener},
    sync::Arc,
    thread,
    time::Duration,
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use robot_core::metrics::Kind;
use rocket::tokio::{
    self,
    net::TcpStream,
    runtime::{Builder, Runtime},
    sync::Semaphore,
    time::{interval, sleep, timeout},
};

use super::{all, describe, process};

const PATH: &str = "/metrics";

const METHODS: &str = "GET, HEAD";

/// The format that Prometheus reads.
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The number of connections at the same time; others wait. Fewer, and slow clients delay a scrape;
/// more, and they use more memory.
const CONNECTIONS: usize = 16;

/// The maximum time of a connection. Shorter, and a scrape over a slow network fails; longer, and
/// silent clients delay a scrape for longer. Prometheus gives up after 10 s by default.
const CONNECTION_LIMIT: Duration = Duration::from_secs(5);

/// The interval at which measured values are added to the histograms. Longer, and they use more memory
/// until then: 16 bytes per value; shorter, and an idle server wakes up more often.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(1);

/// The pause after a connection that could not be accepted, because no more files can be opened.
const PAUSE: Duration = Duration::from_millis(50);

/// Why metrics cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MetricsError {
    /// The address cannot be bound.
    #[error("cannot listen on {address} for metrics: {cause}")]
    Listen {
        /// The address of the setting.
        address: SocketAddr,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// The program has installed another recorder of metrics.
    #[error("cannot record metrics: {0}")]
    Recorder(String),
    /// The system does not allow another thread.
    #[error("cannot serve metrics: {0}")]
    Io(#[from] io::Error),
}

/// A server of metrics, which is bound but does not answer yet.
///
/// ```
/// use robot_rocket::MetricsServer;
///
/// let server = MetricsServer::bind(([127, 0, 0, 1], 0).into())?;
/// let address = server.address();
/// // Before the store is opened, whose metrics it serves:
/// server.start()?;
/// assert_ne!(address.port(), 0);
/// # Ok::<(), robot_rocket::MetricsError>(())
/// ```
#[derive(Debug)]
pub struct MetricsServer {
    listener: TcpListener,
    address: SocketAddr,
}

impl MetricsServer {
    /// Listens on an address.
    ///
    /// # Errors
    /// [`MetricsError::Listen`].
    pub fn bind(address: SocketAddr) -> Result<Self, MetricsError> {
        let bind = || {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok(Self { listener, address })
        };
        bind().map_err(|cause| MetricsError::Listen { address, cause })
    }

    /// The address that the server listens on, with the port that the system chose for port 0.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Records the metrics of this process from now on, and serves them at `/metrics` until it ends.
    /// Stores that were opened before have no metrics.
    ///
    /// # Errors
    /// There is another recorder, or the thread cannot be started.
    pub fn start(self) -> Result<(), MetricsError> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let recorder_error = |error: &dyn ToString| MetricsError::Recorder(error.to_string());
        let mut builder = PrometheusBuilder::new();
        for metric in all() {
            if let Kind::Histogram(buckets) = metric.kind {
                let matcher = Matcher::Full(metric.name.to_owned());
                builder = builder
                    .set_buckets_for_metric(matcher, buckets)
                    .map_err(|error| recorder_error(&error))?;
            }
        }
        let handle = builder
            .install_recorder()
            .map_err(|error| recorder_error(&error))?;
        describe();
        thread::Builder::new()
            .name("robot-metrics".to_owned())
            .spawn(move || run(&runtime, self.listener, &handle))?;
        tracing::info!("metrics are served at http://{}{PATH}", self.address);
        Ok(())
    }
}

fn run(runtime: &Runtime, listener: TcpListener, handle: &PrometheusHandle) {
    runtime.block_on(async {
        let listener = match tokio::net::TcpListener::from_std(listener) {
            Ok(listener) => listener,
            Err(error) => return tracing::error!("cannot serve metrics: {error}"),
        };
        let upkeep = handle.clone();
        tokio::spawn(async move {
            let mut ticks = interval(UPKEEP_INTERVAL);
            loop {
                ticks.tick().await;
                upkeep.run_upkeep();
            }
        });
        let permits = Arc::new(Semaphore::new(CONNECTIONS));
        while let Ok(permit) = Arc::clone(&permits).acquire_owned().await {
            let Ok((stream, _)) = listener.accept().await else {
                sleep(PAUSE).await;
                continue;
            };
            let handle = handle.clone();
            tokio::spawn(async move {
                // A client that takes too long gets no more.
                let _ = timeout(CONNECTION_LIMIT, serve(stream, &handle)).await;
                drop(permit);
            });
        }
    });
}

/// Answers the only request of a connection.
async fn serve(stream: TcpStream, handle: &PrometheusHandle) {
    let service =
        service_fn(async |request| Ok::<_, Infallible>(answer(&request, || render(handle))));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    // The client may have closed the connection.
    let _ = connection.await;
}

fn render(handle: &PrometheusHandle) -> String {
    handle.render() + &process::render()
}

fn answer(request: &Request<Incoming>, render: impl FnOnce() -> String) -> Response<Full<Bytes>> {
    match (request.uri().path(), request.method()) {
        (PATH, &Method::GET | &Method::HEAD) => {
            response(StatusCode::OK, CONTENT_TYPE, FORMAT, render())
        }
        (PATH, _) => response(
            StatusCode::METHOD_NOT_ALLOWED,
            ALLOW,
            METHODS,
            String::new(),
        ),
        _ => response(
            StatusCode::NOT_FOUND,
            CONTENT_TYPE,
            "text/plain; charset=utf-8",
            "The metrics are at /metrics\n".to_owned(),
        ),
    }
}

fn response(
    status: StatusCode,
    name: HeaderName,
    value: &'static str,
    body: String,
) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(name, HeaderValue::from_static(value));
    response
}
