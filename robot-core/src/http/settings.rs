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
    /// The APIs that are served. Both by default.
    pub apis: Apis,
    /// The base path: `/base` for `/base/api/robots`. A slash at its end is ignored.
    pub base: String,
}

impl ApiSettings {
    /// The behaviour of a path below the base.
    pub(super) fn behaviour_of(&self, path: &str) -> Behaviour {
        match self.apis {
            Apis::Both if path == "/v1" || path.starts_with("/v1/") => Behaviour::C,
            Apis::Both | Apis::Contract => self.behaviour,
            Apis::V1 => Behaviour::C,
        }
    }
}

/// The APIs of a service: that of the contract, at `/api`, and that of today, at `/v1`, which answers the same
/// requests as [`Behaviour::C`].
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, http::{Api, ApiSettings, Apis}};
///
/// let settings = ApiSettings { apis: Apis::V1, ..ApiSettings::default() };
/// let api = Api::with_settings(Arc::new(MemoryCatalogue::new()), settings);
/// for (path, status) in [("/v1/robots", 200), ("/api/robots", 404)] {
///     assert_eq!(api.handle(http::Request::get(path).body("")?).status(), status);
/// }
/// # http::Result::Ok(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Apis {
    /// Both.
    #[default]
    Both,
    /// That of the contract alone.
    Contract,
    /// That of today alone.
    V1,
}

/// What all requests of an [`Api`](super::Api) share.
pub(super) struct Service {
    pub(super) catalogue: Arc<dyn Catalogue>,
    /// For requests that wait for changes.
    pub(super) watch: Watch,
    pub(super) settings: ApiSettings,
}
