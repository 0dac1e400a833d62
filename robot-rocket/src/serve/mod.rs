//! HTTP server of a Rocket application that owns its connections.
//!
//! Rocket's own server ([`Rocket::launch`]) sets no deadline for request heads and responses, and no
//! limit of connections: a thousand clients that send nothing can block all others. This server accepts
//! the connections itself and passes each request to the application through Rocket's local client.

mod accept;
mod activity;
mod admission;
mod application;
mod connection;
mod options;
mod record;
pub(crate) mod refusal;
mod response;
mod server;
mod shutdown;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use rocket::{Build, Rocket, local::asynchronous::Client, tokio::net::TcpListener};
use tokio_util::sync::CancellationToken;

use self::{accept::accept_until, admission::Admission, server::Server};
use crate::{SettingsError, routing::Routing};

pub use options::ServeOptions;

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Settings are invalid.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The address cannot be bound.
    #[error("cannot listen on {address}: {cause}")]
    Listen {
        /// The address of the settings.
        address: SocketAddr,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// The application was not launched: a fairing failed, or routes collide.
    #[error("the application cannot be launched: {0}")]
    Launch(#[source] Box<rocket::Error>),
    /// The system does not allow the server to run.
    #[error("cannot serve: {0}")]
    Io(#[from] io::Error),
}

/// Serves an application until one of the signals of its setting `shutdown`, or until
/// [`Shutdown::notify`](rocket::Shutdown::notify). Then active requests have as long as
/// `shutdown.grace` and `shutdown.mercy` together to end; idle connections are closed at once.
///
/// Differences from [`Rocket::launch`]:
/// - Clients have time limits, and connections are limited: see
///   [`ConnectionLimits`](crate::ConnectionLimits).
/// - A catalogue that is mounted answers its requests without Rocket: fairings of the application do not see
///   them, unless a route of the application may match the path.
/// - A request to a route of the application is dispatched once its body has arrived, within 30 seconds. The
///   body may have as many bytes as the greatest of Rocket's `limits`.
/// - Shutdown fairings run after the last request, unless a handler blocks its thread.
/// - On systems other than Unix, Ctrl-C ends the process at once.
/// - HTTP/2, upgrades such as WebSocket, and certificates of clients are not supported.
///
/// # Errors
/// The application cannot be launched, or the listener cannot be used.
///
/// ```
/// use robot_rocket::{ServeOptions, serve};
/// use rocket::fairing::AdHoc;
///
/// let figment = rocket::Config::figment().merge(("port", 0));
/// let options = ServeOptions::bind(&figment)?;
/// let rocket = rocket::custom(figment).attach(AdHoc::on_liftoff("stop", |rocket| {
///     rocket.shutdown().notify();
///     Box::pin(async {})
/// }));
/// rocket::execute(serve(rocket, options))?;
/// # Ok::<(), robot_rocket::ServeError>(())
/// ```
pub async fn serve(rocket: Rocket<Build>, options: ServeOptions) -> Result<(), ServeError> {
    let listener = TcpListener::from_std(options.listener)?;
    if let Some(certificates) = &options.certificates {
        certificates.record_expiry();
    }
    // Fairings read the address from the configuration.
    let figment = rocket.figment().clone();
    let figment = figment
        .merge(("address", options.address.ip()))
        .merge(("port", options.address.port()));
    let rocket = rocket.configure(figment).attach(application::fairing());
    let not_launched = |error| ServeError::Launch(Box::new(error));
    let rocket = rocket.ignite().await.map_err(not_launched)?;
    // Before the fairings for liftoff, after which a signal may come.
    #[cfg(unix)]
    shutdown::at_signals(&rocket)?;
    let config = &rocket.config().shutdown;
    let limit = u64::from(config.grace) + u64::from(config.mercy);
    let shutdown = rocket.shutdown();
    let client = Client::untracked(rocket).await.map_err(not_launched)?;
    let server = Arc::new(Server {
        routing: Routing::of(client.rocket()),
        client: Arc::new(client),
        admission: Admission::new(&options.limits),
        limits: options.limits,
        certificates: options.certificates,
        stopping: CancellationToken::new(),
    });
    let connections = accept_until(shutdown, listener, &server).await;
    server.stopping.cancel();
    server.routing.stop_waiting();
    shutdown::finish(connections, Duration::from_secs(limit)).await;
    let client = Arc::into_inner(server).and_then(|server| Arc::into_inner(server.client));
    if let Some(client) = client {
        client.terminate().await;
    } else {
        tracing::warn!("shutdown fairings do not run, because a handler blocks its thread");
    }
    Ok(())
}
