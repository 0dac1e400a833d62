//! One connection: TLS, HTTP, the stream below hyper, and the time limits of all of them.

use std::{
    convert::Infallible,
    error::Error,
    future::{Future, poll_fn},
    io::{self, IoSlice},
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use http_body_util::Full;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use rocket::tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf, copy, join, sink},
    net::TcpStream,
    select,
    sync::OwnedSemaphorePermit,
    time::{Instant, Sleep, sleep, sleep_until, timeout},
};
use tokio_util::sync::PollSemaphore;

use super::{
    accept::LARGE_HEAD,
    activity::Activity,
    record::RequestRecord,
    refusal::{HEAD_LIMIT, Refusal},
    server::Server,
};
use crate::metrics::SERVER;
#[cfg(feature = "tls")]
use tokio_rustls::server::TlsStream;

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

/// Maximum number of bytes in one read. With 8 KiB or more, hyper would double its buffer, up to the limit
/// of heads, and keep it while the connection is open.
const READ: usize = 4 * 1024;

/// The connection below a stream, with TLS or without.
pub(super) trait Transport: AsyncRead + AsyncWrite + Unpin {
    /// Discards what the client has not read, when the connection is dropped. Otherwise, the system
    /// keeps it for minutes.
    fn discard_unread(&self);
}

impl Transport for TcpStream {
    fn discard_unread(&self) {
        // Fails only if the connection has ended.
        let _ = self.set_zero_linger();
    }
}

#[cfg(feature = "tls")]
impl Transport for TlsStream<TcpStream> {
    fn discard_unread(&self) {
        self.get_ref().0.discard_unread();
    }
}

/// A stream that fails with [`TimedOut`](io::ErrorKind::TimedOut) if the client reads nothing for too
/// long, and that reports to an [`Activity`].
///
/// It discards what hyper writes while no request is answered: its own answer to a request head that
/// it cannot parse, which has no body. It does not close the stream either; the owner does.
pub(super) struct Stream<'s, S> {
    inner: S,
    server: &'s Server,
    activity: Arc<Activity>,
    /// The time limit of a write that waits for the client. Allocated for the first such write.
    write_deadline: Option<Pin<Box<Sleep>>>,
    /// Number of bytes of the head that is being received.
    head: usize,
    /// Waits for the permit of a large head.
    waiting: Option<PollSemaphore>,
    /// The permit of a large head, until the connection ends.
    permit: Option<OwnedSemaphorePermit>,
}

impl<'s, S> Stream<'s, S> {
    pub(super) fn new(inner: S, server: &'s Server, activity: &Arc<Activity>) -> Self {
        Self {
            inner,
            server,
            activity: Arc::clone(activity),
            write_deadline: None,
            head: 0,
            waiting: None,
            permit: None,
        }
    }

    pub(super) fn into_inner(self) -> S {
        self.inner
    }

    /// Ready unless the head is large, and too many connections have large heads.
    fn poll_head_permit(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.activity.is_answering() {
            self.head = 0;
        } else if self.head >= LARGE_HEAD && self.permit.is_none() {
            let semaphore = || PollSemaphore::new(Arc::clone(&self.server.admission.large_heads));
            let waiting = self.waiting.get_or_insert_with(semaphore);
            self.permit = ready!(waiting.poll_acquire(context));
        }
        Poll::Ready(())
    }

    /// Replaces a pending write by an error if it has been pending for too long.
    fn written<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.activity.set_write_pending(false);
            return written;
        }
        let timeout = self.server.limits.write_timeout;
        let deadline = self
            .write_deadline
            .get_or_insert_with(|| Box::pin(sleep(timeout)));
        if !self.activity.is_write_pending() {
            self.activity.set_write_pending(true);
            deadline.as_mut().reset(Instant::now() + timeout);
        }
        ready!(deadline.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stream<'_, S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_head_permit(context));
        let room = buffer.remaining().min(READ);
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(room));
        let read = Pin::new(&mut self.inner).poll_read(context, &mut part);
        let received = part.filled().len();
        buffer.advance(received);
        if received > 0 {
            SERVER.received.increment(received as u64);
            self.head += received;
            self.activity.received();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stream<'_, S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if !self.activity.is_answering() {
            return Poll::Ready(Ok(parts.iter().map(|part| part.len()).sum()));
        }
        let written = Pin::new(&mut self.inner).poll_write_vectored(context, parts);
        if let Poll::Ready(Ok(count)) = written {
            SERVER.sent.increment(count as u64);
            // The next head begins after this response.
            self.head = 0;
        }
        self.written(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(context);
        // Hyper flushes when its own buffer is empty.
        if flushed.is_ready() {
            self.activity.flushed();
        }
        self.written(context, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
