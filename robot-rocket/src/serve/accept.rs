//! Accepts connections until the server stops.

use std::{future::Future, io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use rocket::tokio::{
    net::{TcpListener, TcpStream},
    select,
    sync::Semaphore,
    task::JoinSet,
    time::sleep,
};

use super::{connection, server::Server};
use crate::{metrics::SERVER, rare_warning::RareWarning};

/// How long the server waits after it could not accept a connection, because it has no more files.
/// Shorter, and it uses more CPU time meanwhile; longer, and new clients wait longer afterwards.
const PAUSE: Duration = Duration::from_millis(50);

static NO_FILES: RareWarning = RareWarning::new();

/// Number of connections that are rejected with an answer at the same time; others are closed.
/// Higher, and a flood of connections takes more files and memory beyond the limits.
const REJECTIONS: usize = 64;

/// Accepts connections until the future is ready, and returns those that have not ended.
pub(super) async fn accept_until(
    stop: impl Future<Output = ()>,
    listener: TcpListener,
    server: &Arc<Server>,
) -> JoinSet<()> {
    let mut acceptor = Acceptor {
        server: Arc::clone(server),
        connections: JoinSet::new(),
        rejections: Arc::new(Semaphore::new(REJECTIONS)),
    };
    let mut stop = pin!(stop);
    loop {
        select! {
            biased;
            () = &mut stop => return acceptor.connections,
            Some(_) = acceptor.connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, remote)) => acceptor.start(stream, remote),
                Err(error) => acceptor.failed(&error).await,
            }
        }
    }
}

struct Acceptor {
    server: Arc<Server>,
    connections: JoinSet<()>,
    rejections: Arc<Semaphore>,
}

impl Acceptor {
    fn start(&mut self, stream: TcpStream, mut remote: SocketAddr) {
        // On the address `::`, the system maps those of IPv4 clients to IPv6.
        remote.set_ip(remote.ip().to_canonical());
        let server = Arc::clone(&self.server);
        SERVER.accepted.increment(1);
        // Responses are written as a whole, so there is nothing to wait for.
        let _ = stream.set_nodelay(true);
        if let Some(admitted) = server.admission.admit(remote.ip()) {
            self.connections.spawn(async move {
                connection::serve(&server, stream, remote).await;
                drop(admitted);
            });
        } else if let Ok(permit) = Arc::clone(&self.rejections).try_acquire_owned() {
            self.connections.spawn(async move {
                connection::reject(&server, stream, remote).await;
                drop(permit);
            });
        }
    }

    /// Waits if the process or the system has no more files. Other errors are those of one connection
    /// that has ended already.
    async fn failed(&mut self, error: &io::Error) {
        if is_of_connection(error) {
            return;
        }
        SERVER.accept_failures.increment(1);
        if NO_FILES.claim() {
            tracing::warn!(
                "new connections have to wait: {error}; allow more open files (ulimit -n)"
            );
        }
        sleep(PAUSE).await;
    }
}

fn is_of_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}
