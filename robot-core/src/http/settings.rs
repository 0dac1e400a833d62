//! The settings of a service, and what all its requests share.

use std::sync::Arc;

use super::{
    access::Access, behaviour::Behaviour, body_timer::BodyLimits, host::Hosts, origin::Origin,
};
use crate::catalogue::{Catalogue, Watch};

/// The settings of an [`Api`](super::Api). By default, it is at `/api/robots` and `/v1/robots`, for every host name and every
/// client except pages of other origins.
#[derive(Debug, Clone, Default)]
pub struct ApiSettings {
    /// The behaviour of `/api`: A by default.
    pub behaviour: Behaviour,
    /// The host names that the service accepts.
    pub hosts: Hosts,
    /// The permissions of clients.
    pub access: Access,
    /// Pages of these origins may send changes and read the replies (CORS).
    pub origins: Vec<Origin>,
    /// How long a frontend waits for bodies.
    pub body_limits: BodyLimits,
    /// The base path: `/base` for `/base/api/robots`. A slash at its end is ignored.
    pub base: String,
}

impl ApiSettings {
    /// The behaviour of a path below the base.
    pub(super) fn behaviour_of(&self, path: &str) -> Behaviour {
        if path == "/v1" || path.starts_with("/v1/") {
            Behaviour::C
        } else {
            self.behaviour
        }
    }
}

/// What all requests of an [`Api`](super::Api) share.
pub(super) struct Service {
    pub(super) catalogue: Arc<dyn Catalogue>,
    /// For requests that wait for changes.
    pub(super) watch: Watch,
    pub(super) settings: ApiSettings,
}
