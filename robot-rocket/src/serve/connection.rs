//! One connection: TLS, HTTP, the stream below hyper, and the time limits of all of them.

use std::{
    convert::Infallible,
    future::{Future, poll_fn},
    io::{self, IoSlice},
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use ::metrics::counter;
use http_body_util::Full;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use robot_core::http::Failure;
use rocket::tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf, copy, join, sink},
    net::TcpStream,
    sync::OwnedSemaphorePermit,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::{either::Either, sync::PollSemaphore};

use super::{
    activity::Activity,
    admission::LARGE_HEAD,
    record::RequestRecord,
    refusal::{self, HEAD_LIMIT},
    server::Server,
};
use tokio_rustls::server::TlsStream;

/// How long the client may take to read the last response and close the connection, or to do the TLS
/// handshake of a connection that is rejected. Shorter, and a client that still sends may not get the
/// response; longer, and more connections wait.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// The connection below a [`Stream`]. The state of TLS is allocated, because connections without TLS would be as
/// large.
type Transport = Either<TcpStream, Box<TlsStream<TcpStream>>>;

/// Serves a connection to its end, or rejects it.
pub(super) async fn serve(
    server: &Server,
    stream: TcpStream,
    remote: SocketAddr,
    refusal: Option<Failure>,
) {
    let stream = if let Some(certificates) = &server.certificates {
        let limit = match refusal {
            Some(_) => CLOSE_TIMEOUT,
            None => server.limits.header_timeout,
        };
        // Boxed for the same reason.
        let handshake = Box::pin(timeout(limit, certificates.accept(stream)));
        let Some(handshake) = server.stopping.run_until_cancelled(handshake).await else {
            return;
        };
        match handshake.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
            Ok(stream) => Either::Right(Box::new(stream)),
            Err(error) => {
                tracing::info!(client = %remote.ip(), "a TLS handshake failed: {error}");
                counter!("robots_tls_handshakes_failed_total").increment(1);
                return;
            }
        }
    } else {
        Either::Left(stream)
    };
    if let Some(refusal) = refusal {
        return Box::pin(refuse(server, stream, remote, refusal)).await;
    }
    let activity = Activity::new(&server.limits);
    let mut stream = Stream {
        inner: stream,
        activity: Arc::clone(&activity),
        head: 0,
        large_heads: PollSemaphore::new(Arc::clone(&server.admission.large_heads)),
        permit: None,
    };
    let end = drive(server, &mut stream, remote, &activity).await;
    let mut stream = stream.inner;
    match end {
        Some(Ok(())) => close(server, stream).await,
        Some(Err(error)) => {
            if let Some(refusal) = refusal::of(&error) {
                Box::pin(refuse(server, stream, remote, refusal)).await;
            }
        }
        None if activity.is_write_pending() => discard_unread(&stream),
        None => drop(timeout(CLOSE_TIMEOUT, stream.shutdown()).await),
    }
}

/// Discards what the client has not read, when the connection is dropped. Otherwise, the system keeps it for minutes.
fn discard_unread(stream: &Transport) {
    let stream = match stream {
        Either::Left(stream) => stream,
        Either::Right(stream) => stream.get_ref().0,
    };
    // Fails only if the connection has ended.
    let _ = stream.set_zero_linger();
}

/// Polls hyper's connection until it ends. `None` if a time limit is reached before.
async fn drive(
    server: &Server,
    stream: &mut Stream,
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
    let mut stop = pin!(server.stopping.cancelled());
    let mut is_stopping = false;
    // Set rarely: if it ends before the deadline, which each request moves, it is set again.
    let mut sleep = pin!(sleep_until(Instant::now() + server.limits.header_timeout));
    poll_fn(|context| {
        loop {
            if let Poll::Ready(end) = connection.as_mut().poll(context) {
                return Poll::Ready(Some(end));
            }
            // Afterwards, so that a request that has arrived is answered before hyper stops.
            if is_stopping || stop.as_mut().poll(context).is_pending() {
                break;
            }
            is_stopping = true;
            activity.stop();
            connection.as_mut().graceful_shutdown();
        }
        while let Some(deadline) = activity.deadline() {
            if sleep.is_elapsed() || deadline < sleep.deadline() {
                sleep.as_mut().reset(deadline);
            }
            ready!(sleep.as_mut().poll(context));
            if deadline <= Instant::now() {
                return Poll::Ready(None);
            }
        }
        Poll::Pending
    })
    .await
}

/// Sends an answer without reading a request, and closes the connection.
async fn refuse(server: &Server, mut stream: Transport, remote: SocketAddr, refusal: Failure) {
    // Hyper writes a response only to a request, so it reads this one.
    let request: &[u8] = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
    let service = service_fn(async |_| {
        let mut record = RequestRecord::start(None, remote, None);
        let mut response = refusal::response(refusal.clone());
        record.start_response(response.status(), response.headers_mut());
        record.info.bytes = response.body().len();
        record.info.is_sent = true;
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
async fn close(server: &Server, mut stream: Transport) {
    if !matches!(timeout(CLOSE_TIMEOUT, stream.shutdown()).await, Ok(Ok(()))) {
        return;
    }
    let mut unread = sink();
    let discard = timeout(CLOSE_TIMEOUT, copy(&mut stream, &mut unread));
    let _ = server.stopping.run_until_cancelled(discard).await;
}

/// Maximum number of bytes in one read. With 8 KiB or more, hyper would double its buffer, up to the limit
/// of heads, and keep it while the connection is open.
const READ: usize = 4 * 1024;

/// A stream that reports to an [`Activity`].
///
/// It discards what hyper writes while no request is answered: its own answer to a request head that
/// it cannot parse, which has no body. It does not close the stream either; the owner does.
struct Stream {
    inner: Transport,
    activity: Arc<Activity>,
    /// Number of bytes of the head that is being received.
    head: usize,
    /// Permits of large heads.
    large_heads: PollSemaphore,
    /// The permit of a large head, until the connection ends.
    permit: Option<OwnedSemaphorePermit>,
}

impl Stream {
    /// Ready unless the head is large, and too many connections have large heads.
    fn poll_head_permit(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.activity.is_answering() {
            self.head = 0;
        } else if self.head >= LARGE_HEAD && self.permit.is_none() {
            self.permit = ready!(self.large_heads.poll_acquire(context));
        }
        Poll::Ready(())
    }

    /// Records whether a write waits for the client.
    fn record<T>(&self, context: &mut Context<'_>, written: Poll<T>) -> Poll<T> {
        if self.activity.set_write_pending(written.is_pending()) {
            // The rest of the response, or the next one, has waited for this write.
            context.waker().wake_by_ref();
        }
        written
    }
}

impl AsyncRead for Stream {
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
            counter!("robots_http_received_bytes_total").increment(received as u64);
            self.head += received;
            self.activity.received();
        }
        read
    }
}

impl AsyncWrite for Stream {
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
            counter!("robots_http_sent_bytes_total").increment(count as u64);
            // The next head begins after this response.
            self.head = 0;
        }
        self.record(context, written)
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
        self.record(context, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
