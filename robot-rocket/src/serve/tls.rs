//! Certificates of HTTPS, which can be replaced while the server runs.

use std::{
    fmt, io,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
    time::Duration,
};

use rocket::{
    config::TlsConfig,
    tokio::{net::TcpStream, time::sleep},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::{
    SettingsError, metrics,
    settings::tls::{self, Identity},
};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// The certificate chain and the private key of a server. Clones share them.
#[derive(Clone)]
pub struct Certificates(Arc<RwLock<Identity>>);

impl Certificates {
    /// Reads the files of Rocket's setting `tls`.
    pub(super) fn read(setting: &TlsConfig) -> Result<Self, SettingsError> {
        let identity = tls::read(setting)?;
        Ok(Self(Arc::new(RwLock::new(identity))))
    }

    /// Reads the files of Rocket's setting `tls` as it is now, which blocks. Connections from then on
    /// use the new certificates.
    ///
    /// # Errors
    /// A file cannot be used, or its certificate is not valid at present, but the previous one is. The
    /// previous certificates stay in use.
    pub fn reload(&self, setting: &TlsConfig) -> Result<(), SettingsError> {
        let identity = tls::read(setting)?;
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
    pub(super) fn record_expiry(&self) {
        metrics::record_certificate_expiry(self.current().expiry());
    }

    /// Logs every day that the certificate is not valid, or expires soon. The first time is a day after the
    /// start, of which `robot-rocket` logs that itself.
    pub(super) async fn warn_daily(self) {
        loop {
            sleep(DAY).await;
            let warning = self.current().validity_warning();
            if let Some(warning) = warning {
                tracing::warn!("{warning}");
            }
        }
    }

    pub(super) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let config = Arc::clone(&self.current().config);
        TlsAcceptor::from(config).accept(stream).await
    }

    fn current(&self) -> RwLockReadGuard<'_, Identity> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Certificates {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Certificates")
            .finish_non_exhaustive()
    }
}
