//! What all connections of a server share.

use std::sync::Arc;

#[cfg(feature = "tls")]
use super::tls::Certificates;
use super::{admission::Admission, application::Application, shutdown::Stopping};
use crate::settings::ConnectionLimits;

/// A server that runs.
pub(super) struct Server {
    pub(super) application: Application,
    pub(super) admission: Arc<Admission>,
    pub(super) limits: ConnectionLimits,
    #[cfg(feature = "tls")]
    pub(super) certificates: Option<Certificates>,
    pub(super) stopping: Stopping,
}
