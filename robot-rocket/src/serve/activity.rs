//! What a connection does, and the time limits of that.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
    time::Duration,
};

use rocket::tokio::time::Instant;

use crate::settings::ConnectionLimits;

/// How long the server waits, when it stops, for a request on a connection that had none, or only a
/// part of one. Shorter, and a request that was sent just before may be lost; longer, and silent
/// connections delay the stop.
const LAST_REQUEST_TIMEOUT: Duration = Duration::from_millis(100);

/// The activity of one connection. Its parts share it: the stream, the service, the response body and
/// the driver. All of them run in the task of the connection.
pub(super) struct Activity {
    state: Mutex<State>,
    limits: ConnectionLimits,
}

struct State {
    phase: Phase,
    /// The time limit of a write that waits for the client.
    write_until: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// Nothing of the next request has arrived, which has this time.
    Idle(Instant),
    /// A part of a request head has arrived, which has this time.
    Head(Instant),
    /// Requests are answered, usually one: hyper may drop the body of a response after it has passed on the
    /// next request. The body, the handler and the stream have time limits of their own.
    Answering(usize),
    /// The response is complete, but not yet written.
    Flushing,
}

impl Activity {
    pub(super) fn new(limits: &ConnectionLimits) -> Arc<Self> {
        let until = Instant::now() + limits.header_timeout;
        Arc::new(Self {
            state: Mutex::new(State {
                phase: Phase::Idle(until),
                write_until: None,
            }),
            limits: limits.clone(),
        })
    }

    /// Bytes have arrived.
    pub(super) fn received(&self) {
        let phase = &mut self.state().phase;
        if let Phase::Idle(_) = *phase {
            *phase = Phase::Head(Instant::now() + self.limits.header_timeout);
        }
    }

    /// A request head is complete.
    pub(super) fn start_answer(self: &Arc<Self>) -> Answer {
        let phase = &mut self.state().phase;
        match phase {
            Phase::Answering(answers) => *answers += 1,
            _ => *phase = Phase::Answering(1),
        }
        Answer(Arc::clone(self))
    }

    /// All bytes that were passed on have been written.
    pub(super) fn flushed(&self) {
        let phase = &mut self.state().phase;
        if let Phase::Flushing = *phase {
            *phase = Phase::Idle(Instant::now() + self.limits.keep_alive);
        }
    }

    /// Records whether a write waits for the client. Returns whether one did, and no longer does.
    pub(super) fn set_write_pending(&self, is_pending: bool) -> bool {
        let write_until = &mut self.state().write_until;
        if is_pending {
            write_until.get_or_insert_with(|| Instant::now() + self.limits.write_timeout);
        }
        !is_pending && write_until.take().is_some()
    }

    /// Whether a write waits for the client.
    pub(super) fn is_write_pending(&self) -> bool {
        self.state().write_until.is_some()
    }

    /// Ready unless a write waits for the client, whose end wakes the task. What is sent to a client that does not
    /// read is made only when it reads again, so that it uses little memory.
    pub(super) fn poll_writable(&self) -> Poll<()> {
        if self.is_write_pending() {
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    /// The server stops: there is little time for a request that has not arrived yet.
    pub(super) fn stop(&self) {
        let last = Instant::now() + LAST_REQUEST_TIMEOUT;
        if let Phase::Idle(until) | Phase::Head(until) = &mut self.state().phase {
            *until = last.min(*until);
        }
    }

    /// Whether a request is answered, so that bytes to be written belong to the response.
    pub(super) fn is_answering(&self) -> bool {
        matches!(self.state().phase, Phase::Answering(_) | Phase::Flushing)
    }

    /// When the connection must be closed, if nothing happens. `None` while a request is answered, and the client
    /// reads.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let state = self.state();
        match state.phase {
            Phase::Idle(until) | Phase::Head(until) => Some(until),
            Phase::Answering(_) | Phase::Flushing => state.write_until,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer to a request, until its response has been passed on completely: then it is dropped.
pub(super) struct Answer(pub(super) Arc<Activity>);

impl Drop for Answer {
    fn drop(&mut self) {
        let phase = &mut self.0.state().phase;
        if let Phase::Answering(answers) = phase {
            *answers -= 1;
            if *answers == 0 {
                *phase = Phase::Flushing;
            }
        }
    }
}
