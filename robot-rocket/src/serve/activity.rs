//! What a connection does, and the time limits of that.

use std::{
    future::poll_fn,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use futures_util::task::AtomicWaker;
use rocket::tokio::time::Instant;

use crate::settings::ConnectionLimits;

/// How long the server waits, when it stops, for a request on a connection that had none, or only a
/// part of one. Shorter, and a request that was sent just before may be lost; longer, and silent
/// connections delay the stop.
const LAST_REQUEST_TIMEOUT: Duration = Duration::from_millis(100);

/// The activity of one connection. Its parts share it: the stream, the service, the response body and
/// the driver. All of them run in the task of the connection.
pub(super) struct Activity {
    phase: Mutex<Phase>,
    is_write_pending: AtomicBool,
    /// Wakes what waits for the end of a pending write.
    written: AtomicWaker,
    header_timeout: Duration,
    keep_alive: Duration,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// Nothing of the next request has arrived.
    Idle { until: Instant },
    /// A part of a request head has arrived.
    Head { until: Instant },
    /// Requests are answered, usually one: hyper may drop the body of a response after it has passed on the
    /// next request. The body, the handler and the stream have time limits of their own.
    Answering { answers: usize },
    /// The response is complete, but not yet written.
    Flushing,
}

impl Activity {
    pub(super) fn new(limits: &ConnectionLimits) -> Arc<Self> {
        Arc::new(Self {
            phase: Mutex::new(Phase::Idle {
                until: Instant::now() + limits.header_timeout,
            }),
            is_write_pending: AtomicBool::new(false),
            written: AtomicWaker::new(),
            header_timeout: limits.header_timeout,
            keep_alive: limits.keep_alive,
        })
    }

    /// Bytes have arrived.
    pub(super) fn received(&self) {
        let mut phase = self.phase();
        if let Phase::Idle { .. } = *phase {
            *phase = Phase::Head {
                until: Instant::now() + self.header_timeout,
            };
        }
    }

    /// A request head is complete.
    pub(super) fn start_answer(self: &Arc<Self>) -> Answer {
        let mut phase = self.phase();
        let others = match *phase {
            Phase::Answering { answers } => answers,
            _ => 0,
        };
        *phase = Phase::Answering {
            answers: others + 1,
        };
        Answer {
            activity: Arc::clone(self),
        }
    }

    /// All bytes that were passed on have been written.
    pub(super) fn flushed(&self) {
        let mut phase = self.phase();
        if let Phase::Flushing = *phase {
            *phase = Phase::Idle {
                until: Instant::now() + self.keep_alive,
            };
        }
    }

    /// Records whether a write waits for the client.
    pub(super) fn set_write_pending(&self, is_pending: bool) {
        let was_pending = self.is_write_pending.swap(is_pending, Ordering::Relaxed);
        if was_pending && !is_pending {
            self.written.wake();
        }
    }

    /// Whether a write waits for the client.
    pub(super) fn is_write_pending(&self) -> bool {
        self.is_write_pending.load(Ordering::Relaxed)
    }

    /// Ready unless a write waits for the client. What is sent to a client that does not read is made
    /// only when it reads again, so that it uses little memory.
    pub(super) fn poll_writable(&self, context: &mut Context<'_>) -> Poll<()> {
        if !self.is_write_pending() {
            return Poll::Ready(());
        }
        self.written.register(context.waker());
        Poll::Pending
    }

    /// See [`poll_writable`](Self::poll_writable).
    pub(super) async fn writable(&self) {
        poll_fn(|context| self.poll_writable(context)).await;
    }

    /// The server stops: there is little time for a request that has not arrived yet.
    pub(super) fn stop(&self) {
        let last = Instant::now() + LAST_REQUEST_TIMEOUT;
        if let Phase::Idle { until } | Phase::Head { until } = &mut *self.phase() {
            *until = last.min(*until);
        }
    }

    /// Whether a request is answered, so that bytes to be written belong to the response.
    pub(super) fn is_answering(&self) -> bool {
        self.deadline().is_none()
    }

    /// When the connection must be closed, if nothing happens. `None` while a request is answered.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match *self.phase() {
            Phase::Idle { until } | Phase::Head { until } => Some(until),
            Phase::Answering { .. } | Phase::Flushing => None,
        }
    }

    /// The shortest time limit.
    pub(super) fn shortest_limit(&self) -> Duration {
        let limit = self.header_timeout.min(self.keep_alive);
        limit.max(LAST_REQUEST_TIMEOUT)
    }

    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer to a request, until its response has been passed on completely: then it is dropped.
pub(super) struct Answer {
    pub(super) activity: Arc<Activity>,
}

impl Drop for Answer {
    fn drop(&mut self) {
        let mut phase = self.activity.phase();
        if let Phase::Answering { answers } = &mut *phase {
            *answers -= 1;
            if *answers == 0 {
                *phase = Phase::Flushing;
            }
        }
    }
}
