//! `--ready`: a request for `/readyz` of the server with these settings, for supervisors that have no
//! HTTP client.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

use rocket::{Config, figment::Figment};

const REQUEST: &[u8] = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// Longer than the server takes to answer.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How long a server may take to listen after its start. Shorter, and a check right after the start fails;
/// longer, and a check of a stopped server takes longer.
const START_TIMEOUT: Duration = Duration::from_secs(5);

const START_PAUSE: Duration = Duration::from_millis(50);

/// Returns an error with the reason unless the server is ready. Waits for a server that has just been
/// started.
pub(crate) fn check(figment: &Figment) -> Result<(), String> {
    // Only these settings: a token file that is being edited does not make the server unready.
    let config: Config = figment.extract().map_err(|error| error.to_string())?;
    if config.port == 0 {
        return Err("the port of the server is unknown; set ROCKET_PORT to a fixed one".to_owned());
    }
    let address = SocketAddr::new(reachable(config.address), config.port);
    let answer = request(address, config.tls_enabled())
        .map_err(|error| format!("the server at {address} does not answer: {error}"))?;
    if !answer.starts_with("HTTP/") {
        return Err(format!(
            "the server at {address} does not answer with HTTP; if it serves HTTPS, set ROCKET_TLS as for the \
             server"
        ));
    }
    let (head, text) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    if head.starts_with("HTTP/1.1 200 ") {
        return Ok(());
    }
    let status = head.lines().next().unwrap_or_default();
    let reason = if text.is_empty() { status } else { text.trim() };
    Err(format!("the server at {address} is not ready: {reason}"))
}

/// The loopback address instead of "all addresses".
fn reachable(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        other => other,
    }
}

fn request(address: SocketAddr, with_tls: bool) -> io::Result<String> {
    let stream = connect(address)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    #[cfg(feature = "tls")]
    if with_tls {
        return exchange(tls::client(stream, address)?);
    }
    #[cfg(not(feature = "tls"))]
    let _ = with_tls;
    exchange(stream)
}

fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let start = Instant::now();
    loop {
        match TcpStream::connect_timeout(&address, TIMEOUT) {
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

fn exchange(mut stream: impl Read + Write) -> io::Result<String> {
    stream.write_all(REQUEST)?;
    let mut answer = Vec::new();
    stream.take(1 << 16).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(feature = "tls")]
mod tls {
    //! HTTPS to the server itself. Any certificate is accepted: it has the name of the server, not of
    //! its address, may have expired, and the request has no secret.

    use std::{
        io,
        net::{SocketAddr, TcpStream},
        sync::Arc,
    };

    use rustls::{
        ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme, StreamOwned,
        client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        crypto::ring,
        pki_types::{CertificateDer, ServerName, UnixTime},
    };

    pub(super) fn client(
        stream: TcpStream,
        address: SocketAddr,
    ) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
        let provider = ring::default_provider();
        let schemes = provider.signature_verification_algorithms;
        let config = ClientConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Any(schemes.supported_schemes())))
            .with_no_client_auth();
        let name = ServerName::from(address.ip());
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
