//! Certificates that connections with TLS trust.

use std::{fs, path::Path};

use rustls::pki_types::{CertificateDer, pem::PemObject};

use super::connect_error::ConnectError;

/// How the certificate of a server is checked, and the authorities that are trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verification<A> {
    /// It is not: the connection is encrypted only.
    None,
    /// An authority must have issued it, for any host.
    Authority(A),
    /// An authority must have issued it for the host.
    Full(A),
}

/// The certificates of the authorities in a PEM file, one at least.
pub(super) fn read_certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, ConnectError> {
    let failure = |cause: &dyn std::fmt::Display| {
        ConnectError::Tls(format!(
            "cannot read certificates from {}: {cause}",
            file.display()
        ))
    };
    let text = fs::read(file).map_err(|error| failure(&error))?;
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&text)
        .collect::<Result<_, _>>()
        .map_err(|error| failure(&error))?;
    if certificates.is_empty() {
        return Err(failure(&"there is no certificate in it"));
    }
    Ok(certificates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_file_is_named_with_its_cause() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (path, cause) in [
            (Path::new("/missing.pem"), "No such file or directory"),
            (file.path(), "there is no certificate in it"),
        ] {
            let message = read_certificates(path).unwrap_err().to_string();
            assert!(message.contains(&path.display().to_string()), "{message}");
            assert!(message.contains(cause), "{message}");
        }
    }
}
