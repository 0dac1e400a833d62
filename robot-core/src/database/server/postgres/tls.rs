//! TLS of connections to PostgreSQL.

use std::{path::PathBuf, sync::Arc};

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};

use crate::database::server::{
    connect_error::ConnectError,
    tls::{Verification, read_certificates},
};

/// Authorities whose certificates are trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Authority {
    /// Those that the operating system trusts.
    System,
    /// Those in a PEM file.
    File(PathBuf),
}

impl Authority {
    fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, ConnectError> {
        let Self::File(file) = self else {
            return Ok(rustls_native_certs::load_native_certs().certs);
        };
        read_certificates(file)
    }
}

/// The configuration for a level of verification.
pub(super) fn client_config(
    verification: &Verification<Authority>,
) -> Result<ClientConfig, ConnectError> {
    let provider = Arc::new(ring::default_provider());
    let algorithms = provider.signature_verification_algorithms;
    let verifier = Verifier {
        chain: match verification {
            Verification::None => None,
            Verification::Authority(authority) | Verification::Full(authority) => {
                Some(Chain::new(authority.certificates()?, &provider)?)
            }
        },
        ignores_name: matches!(verification, Verification::Authority(_)),
        schemes: algorithms.supported_schemes(),
    };
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ConnectError::Tls(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth())
}

/// Verifier of certificates by their chain, if there is one.
#[derive(Debug)]
struct Verifier {
    chain: Option<Chain>,
    ignores_name: bool,
    schemes: Vec<SignatureScheme>,
}

#[derive(Debug)]
struct Chain {
    trusted: Vec<CertificateDer<'static>>,
    verifier: Arc<WebPkiServerVerifier>,
}

impl Chain {
    fn new(
        trusted: Vec<CertificateDer<'static>>,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, ConnectError> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(trusted.iter().cloned());
        WebPkiServerVerifier::builder_with_provider(roots.into(), Arc::clone(provider))
            .build()
            .map(|verifier| Self { trusted, verifier })
            .map_err(|error| ConnectError::Tls(format!("no authority can be used: {error}")))
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(Chain { trusted, verifier }) = &self.chain else {
            return Ok(ServerCertVerified::assertion());
        };
        let mut verified = verifier.verify_server_cert(certificate, others, name, ocsp, now);
        // webpki rejects a certificate of an authority, also if a server has issued it to itself.
        if let Err(Error::InvalidCertificate(CertificateError::Other(_))) = verified
            && trusted.contains(certificate)
        {
            verified = verify_server_name(&ParsedCertificate::try_from(certificate)?, name)
                .map(|()| ServerCertVerified::assertion());
        }
        match verified {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.ignores_name => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let Some(Chain { verifier, .. }) = &self.chain else {
            return Ok(HandshakeSignatureValid::assertion());
        };
        verifier.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let Some(Chain { verifier, .. }) = &self.chain else {
            return Ok(HandshakeSignatureValid::assertion());
        };
        verifier.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}
