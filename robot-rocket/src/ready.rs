//! `--ready`: a request for `/readyz` of a server, for supervisors that have no HTTP client.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs},
    thread,
    time::{Duration, Instant},
};

use hyper::{Uri, http::uri::Authority};
use robot_rocket::SettingsError;
use rocket::{Config, figment::Figment};

/// Longer than the server takes to answer.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How long a server may take to listen after its start. Shorter, and a check right after the start fails;
/// longer, and a check of a stopped server takes longer.
const START_TIMEOUT: Duration = Duration::from_secs(5);

const START_PAUSE: Duration = Duration::from_millis(50);

/// The server that is asked.
struct Server {
    /// For messages.
    name: String,
    /// The host name or address, and the port unless it is the standard one.
    authority: String,
    /// The host name or address of its certificate.
    host: String,
    addresses: Vec<SocketAddr>,
    has_tls: bool,
    path: String,
}

impl Server {
    /// The server with these settings.
    fn of_settings(figment: &Figment) -> Result<Self, String> {
        // Only these settings: a token file that is being edited does not make the server unready.
        let config: Config = figment
            .extract()
            .map_err(SettingsError::from)
            .map_err(|error| error.to_string())?;
        if config.port == 0 {
            return Err(
                "the port of the server is unknown; set ROCKET_PORT to a fixed one".to_owned(),
            );
        }
        let address = SocketAddr::new(reachable(config.address), config.port);
        Ok(Self {
            name: format!("the server at {address}"),
            authority: "localhost".to_owned(),
            host: "localhost".to_owned(),
            addresses: vec![address],
            has_tls: config.tls_enabled(),
            path: "/readyz".to_owned(),
        })
    }

    /// The server at a URL.
    fn at(url: &Uri) -> Result<Self, String> {
        let wrong =
            || format!("'{url}' is no URL of a server; an example is https://robots.example");
        let (has_tls, standard_port) = match url.scheme_str() {
            Some("http") => (false, 80),
            Some("https") => (true, 443),
            _ => return Err(wrong()),
        };
        let host = url.host().ok_or_else(wrong)?;
        let name = host.trim_start_matches('[').trim_end_matches(']');
        let addresses = (name, url.port_u16().unwrap_or(standard_port))
            .to_socket_addrs()
            .map_err(|error| format!("the address of {host} is unknown: {error}"))?;
        Ok(Self {
            name: format!("the server at {url}"),
            authority: url.authority().map_or(host, Authority::as_str).to_owned(),
            host: name.to_owned(),
            addresses: addresses.collect(),
            has_tls,
            path: format!("{}/readyz", url.path().trim_end_matches('/')),
        })
    }
}

/// Returns an error with the reason unless the server at the URL, or that with these settings, is ready.
/// Waits for a server that has just been started.
pub(crate) fn check(url: Option<&Uri>, figment: &Figment) -> Result<(), String> {
    let server = url.map_or_else(|| Server::of_settings(figment), Server::at)?;
    let name = &server.name;
    let answer = request(&server).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => format!(
            "{name} does not answer within {} seconds; its log says if it migrates the database",
            TIMEOUT.as_secs()
        ),
        io::ErrorKind::InvalidData => format!(
            "{name} does not answer with HTTPS: {error}; if it serves HTTP, name its http:// URL, or remove \
             ROCKET_TLS"
        ),
        _ => format!("{name} does not answer: {error}"),
    })?;
    if !answer.starts_with("HTTP/") {
        return Err(format!(
            "{name} does not answer with HTTP; if it serves HTTPS, name its https:// URL, or set ROCKET_TLS as for \
             the server"
        ));
    }
    let (head, text) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    if head.starts_with("HTTP/1.1 200 ") {
        return Ok(());
    }
    let status = head.lines().next().unwrap_or_default();
    let reason = if text.is_empty() { status } else { text.trim() };
    Err(format!("{name} is not ready: {reason}"))
}

/// The loopback address instead of "all addresses".
fn reachable(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        other => other,
    }
}

fn request(server: &Server) -> io::Result<String> {
    let stream = connect(&server.addresses)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    #[cfg(feature = "tls")]
    if server.has_tls {
        return exchange(tls::client(stream, &server.host)?, server);
    }
    #[cfg(not(feature = "tls"))]
    let _ = server.has_tls;
    exchange(stream, server)
}

fn connect(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let start = Instant::now();
    loop {
        match connect_once(addresses) {
            Err(error)
                if error.kind() == io::ErrorKind::ConnectionRefused
                    && start.elapsed() < START_TIMEOUT =>
            {
                thread::sleep(START_PAUSE);
            }
            result => return result,
        }
    }
}

/// Connects to the first address that accepts it.
fn connect_once(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut last = io::ErrorKind::NotFound.into();
    for address in addresses {
        match TcpStream::connect_timeout(address, TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn exchange(mut stream: impl Read + Write, server: &Server) -> io::Result<String> {
    let Server {
        authority, path, ..
    } = server;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(1 << 16).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(feature = "tls")]
mod tls {
    //! HTTPS. Any certificate is accepted: that of the server with these settings does not have its address,
    //! may have expired, and the request has no secret.

    use std::{io, net::TcpStream, sync::Arc};

    use rustls::{
        ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme, StreamOwned,
        client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        crypto::ring,
        pki_types::{CertificateDer, ServerName, UnixTime},
    };

    pub(super) fn client(
        stream: TcpStream,
        host: &str,
    ) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
        let provider = ring::default_provider();
        let schemes = provider.signature_verification_algorithms;
        let config = ClientConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Any(schemes.supported_schemes())))
            .with_no_client_auth();
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
        Ok(StreamOwned::new(connection, stream))
    }

    /// Accepts every certificate.
    #[derive(Debug)]
    struct Any(Vec<SignatureScheme>);

    impl ServerCertVerifier for Any {
        fn verify_server_cert(
            &self,
            _: &CertificateDer<'_>,
            _: &[CertificateDer<'_>],
            _: &ServerName<'_>,
            _: &[u8],
            _: UnixTime,
        ) -> Result<ServerCertVerified, Error> {
            Ok(ServerCertVerified::assertion())
        }

        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Ok(HandshakeSignatureValid::assertion())
        }

        fn verify_tls13_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Ok(HandshakeSignatureValid::assertion())
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.0.clone()
        }
    }
}
