//! Server of the metrics for Prometheus, on an address of its own.
//!
//! It has a thread and a runtime of its own, so that it answers while the threads of the main server
//! are busy, and while the database hangs.

use std::{
    convert::Infallible,
    io,
    net::{IpAddr, SocketAddr, TcpListener},
    sync::atomic::Ordering,
    thread,
    time::Duration,
};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode, body::Incoming, header, server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use robot_core::{http::Hosts, metrics::MetricKind};
use rocket::tokio::{self, net::TcpStream, runtime::Builder, time};

#[cfg(target_os = "linux")]
use super::process;
use super::{ARE_SERVED, description};
use crate::ServeError;

const PATH: &str = "/metrics";

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

/// Records the metrics of this process from now on, and serves them at `/metrics` of an address until it ends.
/// Requests may name IP addresses, loopback names and `hosts`, or any host if the address is not a loopback address
/// and no hosts are known. Returns the address, with the port that the system chose for port 0.
///
/// Stores that were opened before have no metrics.
///
/// # Errors
/// The address cannot be bound, there is another recorder, or the thread cannot be started.
///
/// ```
/// use robot_core::http::Hosts;
///
/// // Before the store is opened:
/// let address = robot_rocket::serve_metrics(([127, 0, 0, 1], 0).into(), Hosts::Any)?;
/// assert_ne!(address.port(), 0);
/// # Ok::<(), robot_rocket::ServeError>(())
/// ```
pub fn serve_metrics(address: SocketAddr, hosts: Hosts) -> Result<SocketAddr, ServeError> {
    let hosts = match (hosts, address.ip().is_loopback()) {
        (Hosts::Any, true) => Hosts::Only(Vec::new()),
        (Hosts::Only(names), false) if names.is_empty() => Hosts::Any,
        (hosts, _) => hosts,
    };
    let listener =
        TcpListener::bind(address).map_err(|cause| ServeError::Listen { address, cause })?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let metrics = robot_core::metrics::ALL.iter();
    let recorder = metrics
        .chain([&description::DURATION])
        .try_fold(PrometheusBuilder::new(), |builder, metric| {
            let MetricKind::Histogram(buckets) = metric.kind else {
                return Ok(builder);
            };
            builder.set_buckets_for_metric(Matcher::Full(metric.name.to_owned()), buckets)
        })
        .and_then(PrometheusBuilder::install_recorder)
        .map_err(|error| io::Error::other(format!("metrics cannot be recorded: {error}")))?;
    description::describe();
    ARE_SERVED.store(true, Ordering::Relaxed);
    tracing::info!("metrics are served at http://{address}{PATH}");
    let exporter = Exporter { recorder, hosts };
    let run = move || {
        if let Err(error) = runtime.block_on(exporter.run(listener)) {
            tracing::error!("cannot serve metrics: {error}");
        }
    };
    let thread = thread::Builder::new().name("robot-metrics".to_owned());
    thread.spawn(run)?;
    Ok(address)
}

/// What answers requests.
struct Exporter {
    recorder: PrometheusHandle,
    hosts: Hosts,
}

impl Exporter {
    async fn run(&self, listener: TcpListener) -> io::Result<()> {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let recorder = self.recorder.clone();
        tokio::spawn(async move {
            let mut ticks = time::interval(UPKEEP_INTERVAL);
            loop {
                ticks.tick().await;
                recorder.run_upkeep();
            }
        });
        let connections = stream::unfold(listener, async |listener| {
            Some((listener.accept().await, listener))
        });
        let serve = async |accepted| match accepted {
            // A client that takes too long gets no more.
            Ok((stream, _)) => drop(time::timeout(CONNECTION_LIMIT, self.serve(stream)).await),
            Err(_) => time::sleep(PAUSE).await,
        };
        connections.for_each_concurrent(CONNECTIONS, serve).await;
        Ok(())
    }

    /// Answers the only request of a connection.
    async fn serve(&self, stream: TcpStream) {
        let service = service_fn(async |request| Ok::<_, Infallible>(self.answer(&request)));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .keep_alive(false)
            .serve_connection(TokioIo::new(stream), service);
        // The client may have closed the connection.
        let _ = connection.await;
    }

    fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        let (status, text) = if !self.is_allowed(request) {
            let text = "This host is not served; add it to ROCKET_ALLOWED_HOSTS\n";
            (StatusCode::MISDIRECTED_REQUEST, text.to_owned())
        } else if request.uri().path() != PATH || !is_read {
            let text = "The metrics are at GET /metrics\n";
            (StatusCode::NOT_FOUND, text.to_owned())
        } else {
            #[cfg(target_os = "linux")]
            if let Err(error) = process::record() {
                tracing::debug!("cannot read the metrics of the process: {error}");
            }
            (StatusCode::OK, self.recorder.render())
        };
        let response = Response::builder()
            .status(status)
            .header(header::CONTENT_TYPE, FORMAT);
        response.body(text.into()).unwrap_or_default()
    }

    /// Whether the host of the request is served. No web page can have an IP address as its host.
    fn is_allowed(&self, request: &Request<Incoming>) -> bool {
        let host = request.headers().get(header::HOST);
        let host = host.map(|host| host.to_str());
        let is_address =
            |host: &str| host.parse::<SocketAddr>().is_ok() || host.parse::<IpAddr>().is_ok();
        host.transpose()
            .is_ok_and(|host| host.is_some_and(is_address) || self.hosts.include(host))
    }
}
