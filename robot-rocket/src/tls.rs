//! Certificates of HTTPS, which can be replaced while the server runs.

use std::{
    fs, io,
    path::Path,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
    time::{Duration, SystemTime},
};

use ::metrics::gauge;
use rocket::{Either, config::TlsConfig, tokio::net::TcpStream};
use rustls::{
    Error as TlsError, ServerConfig,
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use x509_cert::{Certificate, der::Decode, time::Validity};

use crate::{SettingsError, rare_warning::RareWarning};

static DAILY: RareWarning = RareWarning::new(Duration::from_secs(24 * 3600));

/// The certificate chain and the private key of a server. Clones share them.
#[derive(Debug, Clone)]
pub struct Certificates(Arc<RwLock<Identity>>);

impl Certificates {
    /// Reads the files of Rocket's setting `tls`.
    pub(crate) fn new(setting: &TlsConfig) -> Result<Self, SettingsError> {
        let identity = read(setting)?;
        Ok(Self(Arc::new(RwLock::new(identity))))
    }

    /// Reads the files of Rocket's setting `tls` as it is now, which blocks. Connections from then on
    /// use the new certificates.
    ///
    /// # Errors
    /// A file cannot be used, or its certificate is not valid at present, but the previous one is. The
    /// previous certificates stay in use.
    pub fn reload(&self, setting: &TlsConfig) -> Result<(), SettingsError> {
        let identity = read(setting)?;
        if let Some(problem) = identity.invalidity()
            && self.current().invalidity().is_none()
        {
            return Err(problem.into());
        }
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = identity;
        self.record_expiry();
        Ok(())
    }

    /// Records when the certificate expires.
    pub(crate) fn record_expiry(&self) {
        if let Some(validity) = self.current().validity {
            let end = validity.not_after.to_unix_duration();
            gauge!("robots_tls_certificate_expiry_time_seconds").set(end);
        }
    }

    /// Does a handshake. Logs once a day that the certificate is not valid, or expires soon.
    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let config = Arc::clone(&self.current().config);
        if DAILY.claim()
            && let Some(warning) = self.current().validity_warning()
        {
            tracing::warn!("{warning}");
        }
        TlsAcceptor::from(config).accept(stream).await
    }

    fn current(&self) -> RwLockReadGuard<'_, Identity> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long before its end a certificate is reported. Shorter, and an operator may notice it too late;
/// longer, and renewals that are on time are reported: those of Let's Encrypt are made after two thirds
/// of 90 days.
const RENEWAL_PERIOD: Duration = Duration::from_secs(14 * 24 * 3600);

/// The certificate and the key of a server.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) config: Arc<ServerConfig>,
    /// When the certificate is valid; `None` if this cannot read it.
    validity: Option<Validity>,
    /// The file of the certificate and its setting, for messages.
    origin: String,
}

/// Reads the certificate and the key. If they cannot be used together, returns a message with the file
/// and a remedy.
pub(crate) fn read(tls: &TlsConfig) -> Result<Identity, String> {
    let (origin, certificates) = content("certificate", "tls.certs", tls.certs())?;
    let (key_origin, key) = content("key", "tls.key", tls.key())?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&certificates).collect();
    let chain = chain.unwrap_or_default();
    let Some(first) = chain.first() else {
        return Err(is_not_pem(&origin, "certificate", "CERTIFICATE"));
    };
    let validity = Certificate::from_der(first).ok();
    let validity = validity.map(|certificate| certificate.tbs_certificate.validity);
    let private_key = PrivateKeyDer::from_pem_slice(&key)
        .map_err(|_| is_not_pem(&key_origin, "private key without a password", "PRIVATE KEY"))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider(tls)))
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            let builder = builder.with_no_client_auth();
            builder.with_single_cert(chain, private_key)
        })
        .map_err(|error| match error {
            TlsError::InconsistentKeys(_) => format!(
                "{key_origin} does not belong to {origin}, which must begin with the certificate of \
                 this key"
            ),
            other => format!(
                "{origin} and {key_origin} cannot be used for HTTPS ({other}); replace them by an \
                 undamaged certificate and its key, of RSA, ECDSA or Ed25519"
            ),
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.ignore_client_order = tls.prefer_server_cipher_order();
    Ok(Identity {
        config: Arc::new(config),
        validity,
        origin,
    })
}

/// The file of a setting for messages, and its content, which may be in the setting itself.
fn content(
    what: &str,
    setting: &str,
    value: Either<impl AsRef<Path>, &[u8]>,
) -> Result<(String, Vec<u8>), String> {
    let path = match value {
        Either::Left(path) => path,
        Either::Right(content) => {
            return Ok((format!("the {what} of {setting}"), content.to_vec()));
        }
    };
    let origin = format!("the {what} file '{}' of {setting}", path.as_ref().display());
    match fs::read(path) {
        Ok(content) => Ok((origin, content)),
        Err(cause) => Err(format!(
            "{origin} cannot be read: {cause}; correct the path, or the permissions of the file"
        )),
    }
}

fn is_not_pem(origin: &str, what: &str, label: &str) -> String {
    format!(
        "{origin} has no valid {what} in PEM format; it must have a line '-----BEGIN {label}-----'"
    )
}

/// The cryptography, with the cipher suites of the setting in its order.
fn provider(tls: &TlsConfig) -> CryptoProvider {
    let mut provider = ring::default_provider();
    // Both have the names of the registry of cipher suites, but rustls calls those of TLS 1.3 `TLS13_`.
    let suites = tls.ciphers().filter_map(|wanted| {
        let wanted = format!("{wanted:?}");
        let mut all = provider.cipher_suites.iter();
        all.find(|suite| format!("{:?}", suite.suite()).replacen("TLS13_", "TLS_", 1) == wanted)
    });
    provider.cipher_suites = suites.copied().collect();
    provider
}

impl Identity {
    /// Why clients reject the certificate at present, and a remedy; `None` if it is valid.
    fn invalidity(&self) -> Option<String> {
        Some(format!("{} {}", self.origin, invalidity(self.validity?)?))
    }

    /// A warning if the certificate is not valid, or expires soon.
    pub(crate) fn validity_warning(&self) -> Option<String> {
        self.invalidity().or_else(|| {
            let (origin, end) = (&self.origin, self.validity?.not_after);
            (end.to_system_time() <= SystemTime::now() + RENEWAL_PERIOD).then(|| {
                format!("{origin} expires at {end}; renew it, and send SIGHUP to the server")
            })
        })
    }
}

/// Why clients reject a certificate at present, and a remedy, as the end of a sentence.
fn invalidity(validity: Validity) -> Option<String> {
    let (start, end) = (validity.not_before, validity.not_after);
    let now = SystemTime::now();
    if end.to_system_time() <= now {
        return Some(format!(
            "has expired, so that clients reject it: at {end}; renew it, and send SIGHUP to the server"
        ));
    }
    (start.to_system_time() > now).then(|| {
        format!(
            "is not valid yet, so that clients reject it: before {start}; correct the clock of this \
             machine, or use another certificate"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificate_that_is_not_valid_yet_is_reported() {
        let mut validity = Validity::from_now(Duration::from_secs(3600)).unwrap();
        assert_eq!(invalidity(validity), None);
        validity.not_before = validity.not_after;
        let message = invalidity(validity).unwrap();
        assert!(message.starts_with("is not valid yet"), "{message}");
    }
}
