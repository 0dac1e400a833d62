//! Certificates of HTTPS, which can be replaced while the server runs.

use std::{
    fmt, io,
    sync::{Arc, PoisonError, RwLock},
};

use rocket::{config::TlsConfig, tokio::net::TcpStream};
use rustls::ServerConfig;
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::{SettingProblem, SettingsError, settings::tls::server_config};

/// The certificate chain and the private key of a server. Clones share them.
#[derive(Clone)]
pub struct Certificates(Arc<RwLock<Arc<ServerConfig>>>);

impl Certificates {
    /// Reads the files of Rocket's setting `tls`.
    pub(super) fn read(setting: &TlsConfig) -> Result<Self, SettingsError> {
        let config = server_config(setting).map_err(SettingProblem::Server)?;
        Ok(Self(Arc::new(RwLock::new(config))))
    }

    /// Reads the files of Rocket's setting `tls` as it is now, which blocks. Connections from then on
    /// use the new certificates.
    ///
    /// # Errors
    /// A file cannot be used. The previous certificates stay in use.
    pub fn reload(&self, setting: &TlsConfig) -> Result<(), SettingsError> {
        let config = server_config(setting).map_err(SettingProblem::Server)?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = config;
        Ok(())
    }

    pub(super) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let config = {
            let current = self.0.read();
            Arc::clone(&current.unwrap_or_else(PoisonError::into_inner))
        };
        TlsAcceptor::from(config).accept(stream).await
    }
}

impl fmt::Debug for Certificates {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Certificates")
            .finish_non_exhaustive()
    }
}
