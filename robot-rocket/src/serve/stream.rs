//! The stream of a connection, below hyper: write timeout, the first head, and detection of what hyper
//! does.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use rocket::tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Instant, Sleep, sleep},
};

#[cfg(feature = "tls")]
use tokio_rustls::server::TlsStream;

use super::activity::Activity;
use crate::metrics::SERVER;

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
/// long, and that reports to an [`Activity`]. It passes on the first request head when it is complete.
///
/// It discards what hyper writes while no request is answered: its own answer to a request head that
/// it cannot parse, which has no body. It does not close the stream either; the owner does.
pub(super) struct Stream<S> {
    inner: S,
    activity: Arc<Activity>,
    write_timeout: Duration,
    /// The time limit of a write that waits for the client. Allocated for the first such write.
    write_deadline: Option<Pin<Box<Sleep>>>,
    /// What has arrived of the first request head, while it is incomplete: hyper would double its buffer
    /// for the rest. `None` after that head.
    first_head: Option<Vec<u8>>,
}

/// Size of the largest part of a head that is kept from hyper, in bytes. Lower, and clients that send
/// longer heads slowly use more memory; it must be less than the size of hyper's buffer, 8 KiB.
const PARTIAL_HEAD: usize = 4 * 1024;

/// Maximum number of headers of a head that is kept from hyper: as many as hyper accepts.
const HEADERS: usize = 100;

/// Whether these are the first bytes of a request head. Hyper rejects heads that are invalid.
fn is_partial(head: &[u8]) -> bool {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let parsed = httparse::Request::new(&mut headers).parse(head);
    head.len() <= PARTIAL_HEAD && matches!(parsed, Ok(httparse::Status::Partial))
}

fn count_sent(written: &Poll<io::Result<usize>>) {
    if let Poll::Ready(Ok(count)) = written {
        SERVER.sent.increment(*count as u64);
    }
}

impl<S> Stream<S> {
    pub(super) fn new(inner: S, activity: &Arc<Activity>, write_timeout: Duration) -> Self {
        Self {
            inner,
            activity: Arc::clone(activity),
            write_timeout,
            write_deadline: None,
            first_head: Some(Vec::new()),
        }
    }

    pub(super) fn into_inner(self) -> S {
        self.inner
    }

    /// Replaces a pending write by an error if it has been pending for too long.
    fn limited<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.activity.set_write_pending(false);
            return written;
        }
        let timeout = self.write_timeout;
        let deadline = self
            .write_deadline
            .get_or_insert_with(|| Box::pin(sleep(timeout)));
        if !self.activity.is_write_pending() {
            self.activity.set_write_pending(true);
            deadline.as_mut().reset(Instant::now() + timeout);
        }
        deadline
            .as_mut()
            .poll(context)
            .map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> Stream<S> {
    fn read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(context, buffer);
        let received = buffer.filled().len() - before;
        if received > 0 {
            SERVER.received.increment(received as u64);
            self.activity.received();
        }
        read
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while let Some(mut head) = self.first_head.take() {
            buffer.put_slice(&head);
            let read = self.read(context, buffer);
            let has_more = buffer.filled().len() > head.len();
            if read.is_ready() && !(has_more && is_partial(buffer.filled())) {
                return read;
            }
            head.clear();
            head.extend_from_slice(buffer.filled());
            buffer.clear();
            self.first_head = Some(head);
            if read.is_pending() {
                return Poll::Pending;
            }
        }
        self.read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if !self.activity.is_answering() {
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        count_sent(&written);
        self.limited(context, written)
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
        count_sent(&written);
        self.limited(context, written)
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
        self.limited(context, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
