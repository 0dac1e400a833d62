//! What a server needs besides the application: a listener, limits and certificates.

use std::{
    io,
    net::{SocketAddr, TcpListener},
};

use rocket::{Config, figment::Figment};
use socket2::{Domain, Socket, Type};

use super::ServeError;
use crate::{settings::ConnectionLimits, tls::Certificates};

/// Number of connections that the system accepts before the server does. Fewer, and some clients that
/// connect at the same time have to try again, after a second; the system's `net.core.somaxconn` is an
/// upper bound.
const BACKLOG: i32 = 4096;

/// Number of bytes that the system accepts for a client beyond those on their way to it. Lower, and
/// sending costs more system calls; higher, and a client that does not read occupies more memory, and
/// one that reads slowly seems not to read: without this limit, the system reports progress only after
/// it has sent a third of several megabytes.
#[cfg(any(target_os = "android", target_os = "linux"))]
const UNSENT: u32 = 128 * 1024;

/// How [`serve`](crate::serve) serves an application.
///
/// ```
/// use robot_rocket::ServeOptions;
///
/// let figment = rocket::Config::figment().merge(("port", 0));
/// let options = ServeOptions::bind(&figment)?;
/// assert_ne!(options.address().port(), 0);
/// # Ok::<(), robot_rocket::ServeError>(())
/// ```
#[derive(Debug)]
pub struct ServeOptions {
    pub(super) listener: TcpListener,
    pub(super) address: SocketAddr,
    pub(super) limits: ConnectionLimits,
    pub(super) certificates: Option<Certificates>,
}

impl ServeOptions {
    /// Listens on Rocket's `address` and `port`, with the limits of the settings, and with HTTPS if
    /// `tls` is set. Clients can connect from now on, and are answered by [`serve`](crate::serve).
    ///
    /// On Unix, permits this process to open as many files as its hard limit allows.
    ///
    /// # Errors
    /// A setting is invalid, a file of `tls` cannot be used, or the address cannot be bound.
    pub fn bind(figment: &Figment) -> Result<Self, ServeError> {
        let config: Config = figment
            .extract()
            .map_err(|error| ServeError::Settings(error.into()))?;
        let limits = ConnectionLimits::read(figment)?;
        let certificates = config.tls.as_ref().map(Certificates::new).transpose()?;
        raise_limit();
        let address = SocketAddr::new(config.address, config.port);
        let listener = listen(address).map_err(|cause| ServeError::Listen { address, cause })?;
        let address = listener.local_addr()?;
        Ok(Self {
            listener,
            address,
            limits,
            certificates,
        })
    }

    /// The address that the server listens on, with the port that the system chose for port 0.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The certificates of HTTPS, which can be replaced while the server runs.
    #[must_use]
    pub fn certificates(&self) -> Option<&Certificates> {
        self.certificates.as_ref()
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    // Otherwise, a server could not be started again while connections of the previous one end. On
    // Windows, this option would allow two servers on one port.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    // Connections inherit it.
    #[cfg(any(target_os = "android", target_os = "linux"))]
    socket.set_tcp_notsent_lowat(UNSENT)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Permits this process to open as many files as its hard limit allows: many systems start programs with 1,024.
fn raise_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::Nofile).maximum;
        let current = maximum;
        if let Err(cause) = setrlimit(Resource::Nofile, Rlimit { current, maximum }) {
            tracing::warn!("cannot raise the number of open files: {cause}; set it with ulimit -n");
        }
    }
}
