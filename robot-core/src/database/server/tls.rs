//! Certificates that connections with TLS trust.

use std::path::Path;

use rustls::pki_types::{CertificateDer, pem::PemObject};

use super::connect_error::{ConnectError, ConnectFailure};

/// The certificates of the authorities in a PEM file.
pub(super) fn read_certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, ConnectError> {
    let certificates = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
    certificates.map_err(|error| {
        let file = file.display();
        let message = format!("cannot read certificates from {file}: {error}");
        ConnectError(ConnectFailure::Tls, message)
    })
}
