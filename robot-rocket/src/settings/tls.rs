//! The certificate and the key of HTTPS, read from the setting `tls`.

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use rocket::{
    Either,
    config::{CipherSuite, TlsConfig},
};
use rustls::{
    Error as TlsError, ServerConfig, SupportedCipherSuite,
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use x509_cert::{
    Certificate,
    der::Decode,
    time::{Time, Validity},
};

/// The certificate and the key of a server.
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
    if tls.ciphers().next().is_none() {
        return Err(
            "tls.ciphers is empty, which would turn encryption off; remove it, or remove tls"
                .to_owned(),
        );
    }
    let certificates = Source::read("tls.certs", "certificate", tls.certs())?;
    let key = Source::read("tls.key", "key", tls.key())?;
    let chain = certificates.certificates()?;
    let validity = chain.first().and_then(validity);
    let private_key = key.private_key()?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider(tls)))
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            let builder = builder.with_no_client_auth();
            builder.with_single_cert(chain, private_key)
        })
        .map_err(|error| explain(&error, &certificates, &key))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.ignore_client_order = tls.prefer_server_cipher_order();
    // Clients continue a session without a full handshake.
    if let Ok(ticketer) = ring::Ticketer::new() {
        config.ticketer = ticketer;
    }
    Ok(Identity {
        config: Arc::new(config),
        validity,
        origin: format!("{} of {}", certificates.name, certificates.setting),
    })
}

fn validity(certificate: &CertificateDer<'_>) -> Option<Validity> {
    let certificate = Certificate::from_der(certificate).ok()?;
    Some(*certificate.tbs_certificate().validity())
}

/// How long before its end a certificate is reported. Shorter, and an operator may notice it too late;
/// longer, and renewals that are on time are reported: those of Let's Encrypt are made after two thirds
/// of 90 days.
const RENEWAL_PERIOD: Duration = Duration::from_secs(14 * 24 * 3600);

impl Identity {
    /// The end of the certificate, from the beginning of 1970.
    pub(crate) fn expiry(&self) -> Option<Duration> {
        Some(self.validity?.not_after.to_unix_duration())
    }

    /// Why clients reject the certificate at present, and a remedy; `None` if it is valid.
    pub(crate) fn invalidity(&self) -> Option<String> {
        Some(format!("{} {}", self.origin, invalidity(self.validity?)?))
    }

    /// A warning if the certificate is not valid, or expires soon.
    pub(crate) fn validity_warning(&self) -> Option<String> {
        self.invalidity().or_else(|| {
            let end = self.validity?.not_after;
            let expires_soon = time_until(end)? <= RENEWAL_PERIOD;
            expires_soon.then(|| {
                format!(
                    "{} expires at {end}; renew it, and send SIGHUP to the server",
                    self.origin
                )
            })
        })
    }
}

/// Why clients reject a certificate at present, and a remedy, as the end of a sentence.
fn invalidity(validity: Validity) -> Option<String> {
    let (start, end) = (validity.not_before, validity.not_after);
    if time_until(end).is_none() {
        return Some(format!(
            "has expired, so that clients reject it: at {end}; renew it, and send SIGHUP to the server"
        ));
    }
    time_until(start).map(|_| {
        format!(
            "is not valid yet, so that clients reject it: before {start}; correct the clock of this \
             machine, or use another certificate"
        )
    })
}

/// How long until a time; `None` if it has passed.
fn time_until(time: Time) -> Option<Duration> {
    let time = SystemTime::UNIX_EPOCH + time.to_unix_duration();
    time.duration_since(SystemTime::now()).ok()
}

/// The cryptography, with the cipher suites of the setting in its order.
fn provider(tls: &TlsConfig) -> CryptoProvider {
    let mut provider = ring::default_provider();
    let all = provider.cipher_suites;
    provider.cipher_suites = tls
        .ciphers()
        .filter_map(|wanted| all.iter().find(|suite| is_same(suite, wanted)))
        .copied()
        .collect();
    provider
}

/// Both have the names of the registry of cipher suites; rustls calls those of TLS 1.3 `TLS13_`.
fn is_same(suite: &SupportedCipherSuite, wanted: CipherSuite) -> bool {
    let name = format!("{:?}", suite.suite());
    name.replacen("TLS13_", "TLS_", 1) == format!("{wanted:?}")
}

/// A file of the setting, or its content.
struct Source {
    setting: &'static str,
    /// The file for messages.
    name: String,
    content: Vec<u8>,
}

impl Source {
    fn read(
        setting: &'static str,
        what: &str,
        value: Either<impl AsRef<Path>, &[u8]>,
    ) -> Result<Self, String> {
        let (name, content) = match value {
            Either::Left(path) => {
                let name = format!("the {what} file '{}'", path.as_ref().display());
                let content = fs::read(path).map_err(|cause| {
                    format!(
                        "{name} of {setting} cannot be read: {cause}; correct the path, or the \
                         permissions of the file"
                    )
                })?;
                (name, content)
            }
            Either::Right(content) => (format!("the {what}"), content.to_vec()),
        };
        Ok(Self {
            setting,
            name,
            content,
        })
    }

    fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, String> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&self.content).collect();
        match chain {
            Ok(chain) if !chain.is_empty() => Ok(chain),
            _ => Err(self.is_not_pem("certificate", "-----BEGIN CERTIFICATE-----")),
        }
    }

    fn private_key(&self) -> Result<PrivateKeyDer<'static>, String> {
        PrivateKeyDer::from_pem_slice(&self.content).map_err(|_| {
            if contains(&self.content, b"ENCRYPTED") {
                format!(
                    "{} of {} is protected by a password, which this server cannot ask for; \
                     decrypt it with 'openssl pkey -in FILE -out NEW_FILE'",
                    self.name, self.setting
                )
            } else {
                self.is_not_pem("private key", "-----BEGIN PRIVATE KEY-----")
            }
        })
    }

    fn is_not_pem(&self, what: &str, begin: &str) -> String {
        format!(
            "{} of {} has no valid {what} in PEM format; it must have a line '{begin}'",
            self.name, self.setting
        )
    }
}

fn contains(content: &[u8], words: &[u8]) -> bool {
    content.windows(words.len()).any(|window| window == words)
}

fn explain(error: &TlsError, certificates: &Source, key: &Source) -> String {
    match error {
        TlsError::InconsistentKeys(_) => format!(
            "{} of {} does not belong to {}; {} must begin with the certificate of this key",
            key.name, key.setting, certificates.name, certificates.setting
        ),
        TlsError::InvalidCertificate(_) => format!(
            "{} of {} is damaged; copy it again, or have it issued again",
            certificates.name, certificates.setting
        ),
        other => format!(
            "{} and {} cannot be used for HTTPS ({other}); create a key with RSA, ECDSA \
             or Ed25519, and a certificate for it",
            certificates.name, key.name
        ),
    }
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
