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

use crate::AnyError;

/// Longer than the server takes to answer.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How long a server may take to listen after its start. Shorter, and a check right after the start fails;
/// longer, and a check of a stopped server takes longer.
const START_TIMEOUT: Duration = Duration::from_secs(5);

const START_PAUSE: Duration = Duration::from_millis(50);

/// Returns an error with the reason unless the server at the URL, or that with these settings, is ready.
/// Waits for a server that has just been started.
pub(crate) fn check(url: Option<&Uri>, figment: &Figment) -> Result<(), AnyError> {
    let (address, has_tls) = match url {
        Some(url) => of_url(url).ok_or_else(|| {
            format!(
                "'{url}' is no URL of a server on this machine; an example is http://127.0.0.1:8000"
            )
        })?,
        None => of_settings(figment)?,
    };
    let name = format!("the server at {address}");
    let seconds = TIMEOUT.as_secs();
    let answer = request(address, has_tls).map_err(|error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => format!(
            "{name} does not answer within {seconds} seconds; its log says if it migrates the database"
        ),
        ErrorKind::InvalidData => format!("{name} does not answer with HTTPS: {error}"),
        _ => format!("{name} does not answer: {error}"),
    })?;
    let (head, text) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let problem = match head.lines().next().unwrap_or_default() {
        status if status.starts_with("HTTP/1.1 200 ") => return Ok(()),
        status if status.starts_with("HTTP/") => {
            let reason = if text.is_empty() { status } else { text.trim() };
            &format!("is not ready: {reason}")
        }
        _ => "does not answer with HTTP; if it serves HTTPS, set ROCKET_TLS as for the server",
    };
    Err(format!("{name} {problem}").into())
}

/// The address of a URL, and whether it is one of HTTPS. `None` if it is not one of this machine.
fn of_url(url: &Uri) -> Option<(SocketAddr, bool)> {
    let (has_tls, port) = match url.scheme_str()? {
        "http" => (false, 80),
        "https" => (true, 443),
        _ => return None,
    };
    let address: IpAddr = match url.host()? {
        "localhost" => Ipv4Addr::LOCALHOST.into(),
        host => host.trim_matches(['[', ']']).parse().ok()?,
    };
    let address = SocketAddr::new(address, url.port_u16().unwrap_or(port));
    (address.ip().is_loopback() && url.path() == "/").then_some((address, has_tls))
}

/// The same of Rocket's settings. Others are not read: a token file that is being edited does not make the server
/// unready.
fn of_settings(figment: &Figment) -> Result<(SocketAddr, bool), AnyError> {
    let config: Config = figment.extract().map_err(SettingsError::from)?;
    if config.port == 0 {
        return Err("the port of the server is unknown; set ROCKET_PORT to a fixed one".into());
    }
    let address = match config.address {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        other => other,
    };
    Ok((SocketAddr::new(address, config.port), config.tls_enabled()))
}

fn request(address: SocketAddr, has_tls: bool) -> io::Result<String> {
    let start = Instant::now();
    let stream = loop {
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Err(error)
                if error.kind() == ErrorKind::ConnectionRefused
                    && start.elapsed() < START_TIMEOUT =>
            {
                thread::sleep(START_PAUSE);
            }
            stream => break stream?,
        }
    };
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    if has_tls {
        exchange(tls::client(stream)?)
    } else {
        exchange(stream)
    }
}

fn exchange(mut stream: impl Read + Write) -> io::Result<String> {
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.take(1 << 16).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

mod tls {
    //! HTTPS without a check of the certificate: nothing secret is sent, and only a program on this machine can
    //! answer.

    use std::{io, net::TcpStream, sync::Arc};

    use rustls::{
        ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme, StreamOwned,
        client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        crypto::ring,
        pki_types::{CertificateDer, ServerName, UnixTime},
    };

    type Signature = Result<HandshakeSignatureValid, Error>;

    pub(super) fn client(
        stream: TcpStream,
    ) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate))
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
        let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
        Ok(StreamOwned::new(connection, stream))
    }

    #[derive(Debug)]
    struct AnyCertificate;

    impl ServerCertVerifier for AnyCertificate {
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
        ) -> Signature {
            Ok(HandshakeSignatureValid::assertion())
        }

        fn verify_tls13_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Signature {
            Ok(HandshakeSignatureValid::assertion())
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            let provider = ring::default_provider();
            provider
                .signature_verification_algorithms
                .supported_schemes()
        }
    }
}
