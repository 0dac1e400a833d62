//! One connection: TLS, HTTP, and the time limits of both.

use std::{
    convert::Infallible,
    error::Error,
    future::{Future, poll_fn},
    io,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use http_body_util::Full;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use rocket::tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy, join, sink},
    net::TcpStream,
    select,
    time::timeout,
};

#[cfg(feature = "tls")]
use super::tls::Certificates;
use super::{
    activity::{Activity, Timer},
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

/// Serves a connection to its end.
pub(super) async fn serve(server: &Server, stream: TcpStream, remote: SocketAddr) {
    #[cfg(feature = "tls")]
    if let Some(certificates) = &server.certificates {
        // Boxed, because connections without TLS would be as large.
        return Box::pin(serve_https(server, certificates, stream, remote)).await;
    }
    serve_http(server, stream, remote).await;
}

#[cfg(feature = "tls")]
async fn serve_https(
    server: &Server,
    certificates: &Certificates,
    stream: TcpStream,
    remote: SocketAddr,
) {
    let handshake = timeout(server.limits.header_timeout, certificates.accept(stream));
    let handshake = select! {
        handshake = handshake => handshake,
        () = server.stopping.wait() => return,
    };
    match handshake {
        Ok(Ok(stream)) => return serve_http(server, stream, remote).await,
        Ok(Err(error)) => tracing::info!(client = %remote.ip(), "a TLS handshake failed: {error}"),
        Err(_) => tracing::info!(client = %remote.ip(), "a TLS handshake took too long"),
    }
    SERVER.handshakes_failed.increment(1);
}

/// Rejects a connection beyond a limit with 503.
pub(super) async fn reject(server: &Server, stream: TcpStream, remote: SocketAddr) {
    let refusal = Refusal::TOO_MANY_CONNECTIONS;
    #[cfg(feature = "tls")]
    if let Some(certificates) = &server.certificates {
        let handshake = timeout(CLOSE_TIMEOUT, certificates.accept(stream));
        if let Ok(Ok(stream)) = handshake.await {
            refuse(server, stream, remote, refusal).await;
        }
        return;
    }
    refuse(server, stream, remote, refusal).await;
}

async fn serve_http<S>(server: &Server, stream: S, remote: SocketAddr)
where
    S: Transport,
{
    let activity = Activity::new(&server.limits);
    let mut stream = Stream::new(stream, server, &activity);
    let end = {
        let service = service_fn(|request| {
            let answer = activity.start_answer();
            // Boxed, because hyper allocates it for idle connections as well.
            let response = Box::pin(server.answer(request, remote, &activity, answer));
            async { Ok::<_, Infallible>(response.await) }
        });
        let connection = http1::Builder::new()
            .half_close(true)
            .keep_alive(!server.limits.keep_alive.is_zero())
            .header_read_timeout(None)
            .max_buf_size(HEAD_LIMIT)
            .serve_connection(TokioIo::new(&mut stream), service);
        let stop = |connection: Pin<&mut http1::Connection<_, _>>| connection.graceful_shutdown();
        drive(server, pin!(connection), stop, &activity).await
    };
    let mut stream = stream.into_inner();
    match end {
        End::Closed => close(server, stream).await,
        End::Failed(error) => match Refusal::of(&error) {
            Some(refusal) => Box::pin(refuse(server, stream, remote, refusal)).await,
            None if is_write_timeout(&error) => stream.discard_unread(),
            None => {}
        },
        End::TimedOut => drop(timeout(CLOSE_TIMEOUT, stream.shutdown()).await),
    }
}

/// Whether the client has not read for too long.
fn is_write_timeout(error: &hyper::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref());
    cause.is_some_and(|cause: &io::Error| cause.kind() == io::ErrorKind::TimedOut)
}

/// How a connection ended.
enum End {
    /// After the last response, or by the client.
    Closed,
    /// By an error of hyper.
    Failed(hyper::Error),
    /// By a time limit.
    TimedOut,
}

impl From<hyper::Result<()>> for End {
    fn from(result: hyper::Result<()>) -> Self {
        match result {
            Ok(()) => Self::Closed,
            Err(error) => Self::Failed(error),
        }
    }
}

/// Polls hyper's connection until it ends, or a time limit is reached.
async fn drive<C>(
    server: &Server,
    mut connection: Pin<&mut C>,
    stop: impl Fn(Pin<&mut C>),
    activity: &Arc<Activity>,
) -> End
where
    C: Future<Output = hyper::Result<()>>,
{
    let mut timer = Timer::new(activity);
    // Polled once, to wake this task, and when the server stops.
    let mut stopped = Some(Box::pin(server.stopping.wait()));
    let mut is_registered = false;
    poll_fn(|context| {
        let has_news = !is_registered || server.stopping.has_started();
        is_registered = true;
        if has_news
            && let Some(future) = &mut stopped
            && future.as_mut().poll(context).is_ready()
        {
            stopped = None;
            // A request that has arrived is read, and answered, before hyper stops.
            if let Poll::Ready(end) = connection.as_mut().poll(context) {
                return Poll::Ready(end.into());
            }
            activity.stop();
            stop(connection.as_mut());
        }
        if let Poll::Ready(end) = connection.as_mut().poll(context) {
            return Poll::Ready(end.into());
        }
        timer.poll(context).map(|()| End::TimedOut)
    })
    .await
}

/// Sends an answer without reading a request, and closes the connection.
async fn refuse<S>(server: &Server, mut stream: S, remote: SocketAddr, refusal: Refusal)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    // Hyper writes a response only to a request, so it reads this one.
    let request: &[u8] = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
    let service = service_fn(async |_| {
        let mut record = RequestRecord::refused(remote);
        let mut response = refusal.response();
        record.start_response(response.status(), response.headers_mut());
        record.add_bytes(response.body().len());
        record.set_sent();
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
async fn close<S>(server: &Server, mut stream: S)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    if !matches!(timeout(CLOSE_TIMEOUT, stream.shutdown()).await, Ok(Ok(()))) {
        return;
    }
    let mut unread = sink();
    select! {
        _ = timeout(CLOSE_TIMEOUT, copy(&mut stream, &mut unread)) => {}
        () = server.stopping.wait() => {}
    }
}
