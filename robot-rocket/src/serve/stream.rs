//! The stream of a connection, below hyper: write timeout, memory of large heads, and detection of what
//! hyper does.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use rocket::tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    sync::OwnedSemaphorePermit,
    time::{Instant, Sleep, sleep},
};
#[cfg(feature = "tls")]
use tokio_rustls::server::TlsStream;
use tokio_util::sync::PollSemaphore;

use super::{activity::Activity, admission::LARGE_HEAD, server::Server};
use crate::metrics::SERVER;

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
