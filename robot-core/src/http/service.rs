//! The catalogue and the settings that all requests of an `Api` share.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use super::{
    access::Access, behaviour::Behaviour, body_timer::StreamLimits, host::Hosts, origin::Origin,
};
use crate::catalogue::Catalogue;

#[derive(Clone)]
pub(super) struct Service {
    pub(super) catalogue: Arc<dyn Catalogue>,
    pub(super) behaviour: Behaviour,
    pub(super) hosts: Hosts,
    pub(super) access: Access,
    pub(super) origins: Vec<Origin>,
    pub(super) body_deadline: Duration,
    pub(super) stream_limits: StreamLimits,
    /// The base path, without a slash at its end.
    pub(super) base: String,
    /// The description of the API, made at the first request for it.
    pub(super) description: OnceLock<Vec<u8>>,
}
