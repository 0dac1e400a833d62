//! Shutdown: the signals that request it, how connections learn of it, and how long they have.

#[cfg(unix)]
use std::io;
use std::time::Duration;

#[cfg(unix)]
use rocket::tokio::signal::unix::{SignalKind, signal};
use rocket::{
    Ignite, Rocket,
    config::Sig,
    tokio::{spawn, task::JoinSet, time::timeout},
};

/// How long the server waits for connections that were aborted. They end when they are polled again,
/// unless a handler blocks a thread.
const ABORT_TIMEOUT: Duration = Duration::from_millis(500);

/// Requests the shutdown of an application at the signals of its setting `shutdown`, which then no longer
/// end the process.
#[cfg(unix)]
pub(super) fn at_signals(rocket: &Rocket<Ignite>) -> io::Result<()> {
    let config = &rocket.config().shutdown;
    let interrupt = config.ctrlc.then_some(Sig::Int);
    for name in config.signals.iter().copied().chain(interrupt) {
        let mut signal = signal(match name {
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
        })?;
        let shutdown = rocket.shutdown();
        spawn(async move {
            signal.recv().await;
            tracing::info!("shutting down, because {name} was received");
            shutdown.notify();
        });
    }
    Ok(())
}

/// Waits for the connections to end, and aborts those that take longer than this.
pub(super) async fn finish(mut connections: JoinSet<()>, limit: Duration) {
    let ended = async { while connections.join_next().await.is_some() {} };
    if timeout(limit, ended).await.is_err() {
        tracing::warn!(
            "connections that were closed at shutdown, because their requests took too long: {}",
            connections.len()
        );
        // A handler that blocks its thread ends with the process.
        let aborted = timeout(ABORT_TIMEOUT, connections.shutdown()).await;
        if aborted.is_err() {
            return;
        }
    }
    tracing::info!("all connections are closed");
}
