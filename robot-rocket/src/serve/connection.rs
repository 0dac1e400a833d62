//! One connection: TLS, HTTP, and the time limits of both.

use std::{
    convert::Infallible,
    error::Error,
    future::{Future, poll_fn},
    io,
    net::SocketAddr,
    pin::pin,
    sync::Arc,
    task::{Poll, ready},
    time::Duration,
};

use http_body_util::Full;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use rocket::tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy, join, sink},
    net::TcpStream,
    select,
    time::{Instant, sleep_until, timeout},
};

use super::{
    activity::Activity,
    record::RequestRecord,
    refusal::{HEAD_LIMIT, Refusal},
    server::Server,
    stream::{Stream, Transport},
};
#[cfg(feature = "tls")]
use crate::metrics::SERVER;

/// How long the client may take to read the last response and close the connection, or to do the TLS
/// handshake of a connection that is rejected. Shorter, and a client that still sends may not get the
/// response; longer, and more connections wait.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves a connection to its end, or rejects it.
pub(super) async fn serve(
    server: &Server,
    stream: TcpStream,
    remote: SocketAddr,
    refusal: Option<Refusal>,
) {
    #[cfg(feature = "tls")]
    if let Some(certificates) = &server.certificates {
        // Boxed, because connections without TLS would be as large.
        return Box::pin(async {
            let limit = refusal.map_or(server.limits.header_timeout, |_| CLOSE_TIMEOUT);
            let handshake = select! {
                handshake = timeout(limit, certificates.accept(stream)) => handshake,
                () = server.stopping.wait() => return,
            };
            match handshake {
                Ok(Ok(stream)) => return serve_http(server, stream, remote, refusal).await,
                Ok(Err(error)) => {
                    tracing::info!(client = %remote.ip(), "a TLS handshake failed: {error}");
                }
                Err(_) => tracing::info!(client = %remote.ip(), "a TLS handshake took too long"),
            }
            SERVER.handshakes_failed.increment(1);
        })
        .await;
    }
    serve_http(server, stream, remote, refusal).await;
}

async fn serve_http<S: Transport>(
    server: &Server,
    stream: S,
    remote: SocketAddr,
    refusal: Option<Refusal>,
) {
    if let Some(refusal) = refusal {
        return Box::pin(refuse(server, stream, remote, refusal)).await;
    }
    let activity = Activity::new(&server.limits);
    let mut stream = Stream::new(stream, server, &activity);
    let end = drive(server, &mut stream, remote, &activity).await;
    let mut stream = stream.into_inner();
    match end {
        Some(Ok(())) => close(server, stream).await,
        Some(Err(error)) => match Refusal::of(&error) {
            Some(refusal) => Box::pin(refuse(server, stream, remote, refusal)).await,
            None if is_write_timeout(&error) => stream.discard_unread(),
            None => {}
        },
        None => drop(timeout(CLOSE_TIMEOUT, stream.shutdown()).await),
    }
}

/// Whether the client has not read for too long.
fn is_write_timeout(error: &hyper::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref());
    cause.is_some_and(|cause: &io::Error| cause.kind() == io::ErrorKind::TimedOut)
}

/// Polls hyper's connection until it ends. `None` if a time limit is reached before.
async fn drive<S: Transport>(
    server: &Server,
    stream: &mut Stream<'_, S>,
    remote: SocketAddr,
    activity: &Arc<Activity>,
) -> Option<hyper::Result<()>> {
    let service = service_fn(|request| {
        // Boxed, because hyper allocates it for idle connections as well.
        let response = Box::pin(server.answer(request, remote, activity.start_answer()));
        async { Ok::<_, Infallible>(response.await) }
    });
    let connection = http1::Builder::new()
        .half_close(true)
        .keep_alive(!server.limits.keep_alive.is_zero())
        .header_read_timeout(None)
        .max_buf_size(HEAD_LIMIT)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    // Polled once, to wake this task when the server stops: its lock would make further polls slower.
    let mut stop = pin!(server.stopping.wait());
    poll_fn(|context| Poll::Ready(stop.as_mut().poll(context).is_ready())).await;
    let mut is_stopping = false;
    // Set rarely: if it ends before the deadline, which each request moves, it is set again.
    let interval = activity.shortest_limit();
    let mut sleep = pin!(sleep_until(Instant::now() + interval));
    poll_fn(|context| {
        if !is_stopping && server.stopping.has_started() {
            is_stopping = true;
            // A request that has arrived is read, and answered, before hyper stops.
            if let Poll::Ready(end) = connection.as_mut().poll(context) {
                return Poll::Ready(Some(end));
            }
            activity.stop();
            connection.as_mut().graceful_shutdown();
        }
        if let Poll::Ready(end) = connection.as_mut().poll(context) {
            return Poll::Ready(Some(end));
        }
        loop {
            let deadline = activity.deadline();
            if let Some(deadline) = deadline.filter(|deadline| *deadline < sleep.deadline()) {
                sleep.as_mut().reset(deadline);
            }
            ready!(sleep.as_mut().poll(context));
            let now = Instant::now();
            let next = deadline.unwrap_or(now + interval);
            if next <= now {
                return Poll::Ready(None);
            }
            sleep.as_mut().reset(next);
        }
    })
    .await
}

/// Sends an answer without reading a request, and closes the connection.
async fn refuse<S: Transport>(
    server: &Server,
    mut stream: S,
    remote: SocketAddr,
    refusal: Refusal,
) {
    // Hyper writes a response only to a request, so it reads this one.
    let request: &[u8] = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
    let service = service_fn(async |_| {
        let mut record = RequestRecord::start(None, remote, None);
        let mut response = refusal.response();
        record.start_response(response.status(), response.headers_mut());
        record.bytes = response.body().len();
        record.is_sent = true;
        Ok::<_, Infallible>(response.map(Full::new))
    });
    let connection = http1::Builder::new()
        .half_close(true)
        .serve_connection(TokioIo::new(join(request, &mut stream)), service);
    if let Ok(Ok(())) = timeout(CLOSE_TIMEOUT, connection).await {
        close(server, stream).await;
    }
}

/// Closes the connection, once the client has read the last response. If bytes of the client are
/// left unread, the system discards what the client has not read.
async fn close(server: &Server, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    if !matches!(timeout(CLOSE_TIMEOUT, stream.shutdown()).await, Ok(Ok(()))) {
        return;
    }
    let mut unread = sink();
    select! {
        _ = timeout(CLOSE_TIMEOUT, copy(&mut stream, &mut unread)) => {}
        () = server.stopping.wait() => {}
    }
}
