//! `--ready`: a request for `/readyz` of a server on this machine, for supervisors that have no HTTP client.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

use hyper::Uri;
use robot_rocket::SettingsError;
use rocket::{Config, figment::Figment};

/// Longer than the server takes to answer.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How long a server may take to listen after its start. Shorter, and a check right after the start fails;
/// longer, and a check of a stopped server takes longer.
const START_TIMEOUT: Duration = Duration::from_secs(5);

const START_PAUSE: Duration = Duration::from_millis(50);

/// Returns an error with the reason unless the server at the URL, or that with these settings, is ready.
/// Waits for a server that has just been started.
pub(crate) fn check(url: Option<&Uri>, figment: &Figment) -> Result<(), String> {
    // Only Rocket's settings: a token file that is being edited does not make the server unready.
    let config: Config = figment
        .extract()
        .map_err(|error| SettingsError::from(error).to_string())?;
    let (address, has_tls) = match url {
        Some(url) => of_url(url)?,
        None if config.port == 0 => {
            let message = "the port of the server is unknown; set ROCKET_PORT to a fixed one";
            return Err(message.to_owned());
        }
        None => {
            let address = SocketAddr::new(reachable(config.address), config.port);
            (address, config.tls_enabled())
        }
    };
    let name = format!("the server at {address}");
    let answer = connect(address)
        .and_then(|stream| match has_tls {
            #[cfg(feature = "tls")]
            true => exchange(tls::client(stream, config.tls.as_ref())?),
            _ => exchange(stream),
        })
        .map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => format!(
                "{name} does not answer within {} seconds; its log says if it migrates the database",
                TIMEOUT.as_secs()
            ),
            ErrorKind::InvalidData => format!(
                "{name} does not answer with HTTPS and the certificate of ROCKET_TLS: {error}; set \
                 ROCKET_TLS as for the server, and send it SIGHUP if the certificate was renewed"
            ),
            _ => format!("{name} does not answer: {error}"),
        })?;
    let (head, text) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    match head.lines().next().unwrap_or_default() {
        status if status.starts_with("HTTP/1.1 200 ") => Ok(()),
        status if status.starts_with("HTTP/") => {
            let reason = if text.is_empty() { status } else { text.trim() };
            Err(format!("{name} is not ready: {reason}"))
        }
        _ => Err(format!(
            "{name} does not answer with HTTP; if it serves HTTPS, set ROCKET_TLS as for the server"
        )),
    }
}

/// The address of a URL, and whether it is one of HTTPS.
fn of_url(url: &Uri) -> Result<(SocketAddr, bool), String> {
    let host = url.host().unwrap_or_default();
    let address = match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => Some(address),
        Err(_) => (host == "localhost").then_some(Ipv4Addr::LOCALHOST.into()),
    };
    let scheme = match url.scheme_str() {
        Some("http") => Some((false, 80)),
        Some("https") => Some((true, 443)),
        _ => None,
    };
    match (address.filter(IpAddr::is_loopback), scheme) {
        (Some(address), Some((has_tls, port))) if url.path() == "/" => {
            let port = url.port_u16().unwrap_or(port);
            Ok((SocketAddr::new(address, port), has_tls))
        }
        _ => Err(format!(
            "'{url}' is no URL of a server on this machine; an example is http://127.0.0.1:8000"
        )),
    }
}

/// The loopback address instead of "all addresses".
fn reachable(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        other => other,
    }
}

fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let start = Instant::now();
    loop {
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Err(error)
                if error.kind() == ErrorKind::ConnectionRefused
                    && start.elapsed() < START_TIMEOUT =>
            {
                thread::sleep(START_PAUSE);
            }
            stream => {
                let stream = stream?;
                stream.set_read_timeout(Some(TIMEOUT))?;
                stream.set_write_timeout(Some(TIMEOUT))?;
                return Ok(stream);
            }
        }
    }
}

fn exchange(mut stream: impl Read + Write) -> io::Result<String> {
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.take(1 << 16).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(feature = "tls")]
mod tls {
    //! HTTPS with a server that has the certificate of the settings, whatever its name and validity.

    use std::{io, net::TcpStream, sync::Arc};

    use rocket::{Either, config::TlsConfig};
    use rustls::{
        CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error,
        SignatureScheme, StreamOwned,
        client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        crypto::{WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature},
        pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
    };

    pub(super) fn client(
        stream: TcpStream,
        setting: Option<&TlsConfig>,
    ) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
        let certificate = match setting.map(TlsConfig::certs) {
            Some(Either::Left(path)) => CertificateDer::from_pem_file(path),
            Some(Either::Right(content)) => CertificateDer::from_pem_slice(content),
            None => {
                return Err(io::Error::other(
                    "its certificate is unknown; set ROCKET_TLS",
                ));
            }
        };
        let provider = ring::default_provider();
        let verifier = Pinned {
            certificate: certificate.map_err(io::Error::other)?,
            algorithms: provider.signature_verification_algorithms,
        };
        let config = ClientConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
        let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
        Ok(StreamOwned::new(connection, stream))
    }

    /// Accepts one certificate only.
    #[derive(Debug)]
    struct Pinned {
        certificate: CertificateDer<'static>,
        algorithms: WebPkiSupportedAlgorithms,
    }

    impl ServerCertVerifier for Pinned {
        fn verify_server_cert(
            &self,
            certificate: &CertificateDer<'_>,
            _: &[CertificateDer<'_>],
            _: &ServerName<'_>,
            _: &[u8],
            _: UnixTime,
        ) -> Result<ServerCertVerified, Error> {
            if *certificate == self.certificate {
                Ok(ServerCertVerified::assertion())
            } else {
                Err(CertificateError::ApplicationVerificationFailure.into())
            }
        }

        fn verify_tls12_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            verify_tls12_signature(message, certificate, signed, &self.algorithms)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            verify_tls13_signature(message, certificate, signed, &self.algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.algorithms.supported_schemes()
        }
    }
}
