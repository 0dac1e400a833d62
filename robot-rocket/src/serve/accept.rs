//! Accepts connections until the server stops.

use std::{future::Future, io, pin::pin, sync::Arc, time::Duration};

use ::metrics::counter;
use futures_util::future::Either;
use robot_core::http::Failure;
use rocket::tokio::{net::TcpListener, select, sync::Semaphore, task::JoinSet, time::sleep};

use super::{connection, server::Server};
use crate::rare_warning::{OVERLOAD, RareWarning};

/// How long the server waits after it could not accept a connection, because it has no more files.
/// Shorter, and it uses more CPU time meanwhile; longer, and new clients wait longer afterwards.
const PAUSE: Duration = Duration::from_millis(50);

static NO_FILES: RareWarning = RareWarning::new(OVERLOAD);

/// Number of connections that are rejected with an answer at the same time; others are closed.
/// Higher, and a flood of connections takes more files and memory beyond the limits.
const REJECTIONS: usize = 64;

/// Accepts connections until the future is ready, and returns those that have not ended.
pub(super) async fn accept_until(
    stop: impl Future<Output = ()>,
    listener: TcpListener,
    server: &Arc<Server>,
) -> JoinSet<()> {
    let mut connections = JoinSet::new();
    let rejections = Arc::new(Semaphore::new(REJECTIONS));
    let mut stop = pin!(stop);
    loop {
        let accepted = select! {
            biased;
            () = &mut stop => return connections,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        let (stream, mut remote) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                failed(&error).await;
                continue;
            }
        };
        // On the address `::`, the system maps those of IPv4 clients to IPv6.
        remote.set_ip(remote.ip().to_canonical());
        counter!("robots_http_connections_accepted_total").increment(1);
        // Responses are written as a whole, so there is nothing to wait for.
        let _ = stream.set_nodelay(true);
        let (permit, refusal) = if let Some(admitted) = server.admission.admit(remote.ip()) {
            (Either::Left(admitted), None)
        } else if let Ok(permit) = Arc::clone(&rejections).try_acquire_owned() {
            (Either::Right(permit), Some(Failure::TooManyConnections))
        } else {
            continue;
        };
        let server = Arc::clone(server);
        connections.spawn(async move {
            connection::serve(&server, stream, remote, refusal).await;
            drop(permit);
        });
    }
}

/// Waits if the process or the system has no more files. Other errors are those of one connection that has ended
/// already.
async fn failed(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    if [ConnectionAborted, ConnectionReset, Interrupted].contains(&error.kind()) {
        return;
    }
    counter!("robots_http_accept_failures_total").increment(1);
    if NO_FILES.claim() {
        tracing::warn!("new connections have to wait: {error}; allow more open files (ulimit -n)");
    }
    sleep(PAUSE).await;
}
