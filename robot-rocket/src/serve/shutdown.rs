//! Shutdown: the events that request it, how connections learn of it, and how long they have.

use std::{
    future::Future,
    io,
    pin::{Pin, pin},
    sync::atomic::{AtomicBool, Ordering},
    task::{Context, Poll},
    time::Duration,
};

use futures_util::future::{Either, select};
#[cfg(unix)]
use rocket::config::Sig;
use rocket::{
    Ignite, Rocket, Shutdown,
    tokio::{task::JoinSet, time::timeout},
};
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

/// How long the server waits for connections that were aborted. They end when they are polled again,
/// unless a handler blocks a thread.
const ABORT_TIMEOUT: Duration = Duration::from_millis(500);

/// The shutdown of an application, as its setting `shutdown` has it.
pub(super) struct ShutdownRequest {
    signals: Signals,
    shutdown: Shutdown,
    /// How long active requests have.
    timeout: Duration,
}

impl ShutdownRequest {
    /// Starts to receive signals, which then no longer end the process.
    pub(super) fn of(rocket: &Rocket<Ignite>) -> io::Result<Self> {
        let config = &rocket.config().shutdown;
        let seconds = u64::from(config.grace) + u64::from(config.mercy);
        Ok(Self {
            signals: Signals::of(config)?,
            shutdown: rocket.shutdown(),
            timeout: Duration::from_secs(seconds),
        })
    }

    /// Ready when a signal or the application requests the shutdown.
    pub(super) async fn received(&mut self) {
        let notified = self.shutdown.clone();
        match select(pin!(self.signals.next()), notified).await {
            Either::Left((signal, _)) => {
                tracing::info!("shutting down, because {signal} was received");
                self.shutdown.clone().notify();
            }
            Either::Right(_) => {
                tracing::info!("shutting down, because the application requested it");
            }
        }
    }

    /// Waits for the connections to end, and aborts those that take too long.
    pub(super) async fn finish(&self, mut connections: JoinSet<()>) {
        let ended = async { while connections.join_next().await.is_some() {} };
        if timeout(self.timeout, ended).await.is_err() {
            tracing::warn!(
                "connections that were closed at shutdown, because their requests took too long: {}",
                connections.len()
            );
            // A handler that blocks its thread ends with the process.
            if timeout(ABORT_TIMEOUT, connections.shutdown())
                .await
                .is_err()
            {
                return;
            }
        }
        tracing::info!("all connections are closed");
    }
}

/// The signals that request a shutdown, with their names.
#[cfg(unix)]
struct Signals(Vec<(Sig, rocket::tokio::signal::unix::Signal)>);

#[cfg(unix)]
impl Signals {
    fn of(config: &rocket::config::Shutdown) -> io::Result<Self> {
        use rocket::tokio::signal::unix::{SignalKind, signal};

        let interrupt = config.ctrlc.then_some(Sig::Int);
        let kind = |signal| match signal {
            Sig::Alrm => SignalKind::alarm(),
            Sig::Chld => SignalKind::child(),
            Sig::Hup => SignalKind::hangup(),
            Sig::Int => SignalKind::interrupt(),
            Sig::Io => SignalKind::io(),
            Sig::Pipe => SignalKind::pipe(),
            Sig::Quit => SignalKind::quit(),
            Sig::Term => SignalKind::terminate(),
            Sig::Usr1 => SignalKind::user_defined1(),
            Sig::Usr2 => SignalKind::user_defined2(),
        };
        let all = config.signals.iter().copied().chain(interrupt);
        let signals: io::Result<_> = all.map(|name| Ok((name, signal(kind(name))?))).collect();
        signals.map(Self)
    }

    async fn next(&mut self) -> Sig {
        std::future::poll_fn(|context| {
            // All must be polled, to be woken by each.
            let polled = self
                .0
                .iter_mut()
                .map(|(name, signal)| (*name, signal.poll_recv(context)));
            let received = polled.filter(|(_, result)| result.is_ready());
            received
                .last()
                .map_or(Poll::Pending, |(name, _)| Poll::Ready(name))
        })
        .await
    }
}

/// Whether Ctrl-C requests a shutdown. Other signals exist on Unix only.
#[cfg(not(unix))]
struct Signals(bool);

#[cfg(not(unix))]
impl Signals {
    fn of(config: &rocket::config::Shutdown) -> io::Result<Self> {
        Ok(Self(config.ctrlc))
    }

    async fn next(&mut self) -> &'static str {
        if !self.0 || rocket::tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        "Ctrl-C"
    }
}

/// Whether the server stops.
#[derive(Default)]
pub(super) struct Stopping {
    /// Read at each poll of a connection, which the lock of the token would make slower.
    has_started: AtomicBool,
    token: CancellationToken,
}

impl Stopping {
    pub(super) fn start(&self) {
        self.has_started.store(true, Ordering::Release);
        self.token.cancel();
    }

    /// A future that is ready once, when the server stops, and pending otherwise, even if it is
    /// polled again.
    pub(super) fn notice(&self) -> StopNotice<'_> {
        StopNotice {
            stopping: self,
            cancelled: Some(Box::pin(self.token.cancelled())),
            is_registered: false,
        }
    }

    /// Ready when the server stops.
    pub(super) async fn wait(&self) {
        self.token.cancelled().await;
    }
}

/// See [`Stopping::notice`].
pub(super) struct StopNotice<'a> {
    stopping: &'a Stopping,
    cancelled: Option<Pin<Box<WaitForCancellationFuture<'a>>>>,
    is_registered: bool,
}

impl StopNotice<'_> {
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let has_started = self.stopping.has_started.load(Ordering::Acquire);
        if self.is_registered && !has_started {
            return Poll::Pending;
        }
        let Some(cancelled) = &mut self.cancelled else {
            return Poll::Pending;
        };
        self.is_registered = true;
        let polled = cancelled.as_mut().poll(context);
        if polled.is_ready() {
            self.cancelled = None;
        }
        polled
    }
}
