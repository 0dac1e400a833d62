//! TLS of connections to PostgreSQL.

use std::{path::PathBuf, sync::Arc};

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_cert_signed_by_trust_anchor as verify_issuer, verify_server_name,
    },
    crypto::{self, WebPkiSupportedAlgorithms, ring},
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};

use crate::database::server::tls::read_certificates;

/// How the certificate of a server is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verification {
    /// A PEM file of the authorities of which one must have issued it, or `system` for those of the machine.
    /// Without it, the connection is encrypted only.
    pub(super) authority: Option<PathBuf>,
    /// Whether it must be valid for the host.
    pub(super) includes_name: bool,
}

impl Verification {
    /// The configuration of TLS for it.
    pub(super) fn client_config(&self) -> ClientConfig {
        // `builder` takes the default of the process, which may be another one already.
        let _ = ring::default_provider().install_default();
        let builder = ClientConfig::builder().dangerous();
        let builder = builder.with_custom_certificate_verifier(Arc::new(self.clone()));
        builder.with_no_client_auth()
    }
}

fn algorithms() -> WebPkiSupportedAlgorithms {
    ring::default_provider().signature_verification_algorithms
}

impl ServerCertVerifier for Verification {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authority) = &self.authority else {
            return Ok(ServerCertVerified::assertion());
        };
        let trusted = if authority.as_os_str() == "system" {
            rustls_native_certs::load_native_certs().certs
        } else {
            read_certificates(authority).map_err(|error| Error::General(error.1))?
        };
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(trusted.iter().cloned());
        let parsed = ParsedCertificate::try_from(certificate)?;
        match verify_issuer(&parsed, &roots, others, now, algorithms().all) {
            // webpki rejects a certificate of an authority, also if a server has issued it to itself.
            Err(Error::InvalidCertificate(CertificateError::Other(_)))
                if trusted.contains(certificate) => {}
            verified => verified?,
        }
        if self.includes_name {
            verify_server_name(&parsed, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if self.authority.is_none() {
            return Ok(HandshakeSignatureValid::assertion());
        }
        crypto::verify_tls12_signature(message, certificate, signature, &algorithms())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if self.authority.is_none() {
            return Ok(HandshakeSignatureValid::assertion());
        }
        crypto::verify_tls13_signature(message, certificate, signature, &algorithms())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        algorithms().supported_schemes()
    }
}
