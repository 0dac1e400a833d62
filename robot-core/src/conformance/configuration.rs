//! The configuration of a service that is tested.

use std::{sync::Arc, time::Duration};

use crate::{
    catalogue::Catalogue,
    http::{Api, ApiSettings, Behaviour},
};

/// How a frontend is to be configured for a case.
///
/// ```
/// use robot_core::{MemoryCatalogue, conformance::{Store, Suite}};
///
/// let store = Store::volatile(MemoryCatalogue::new);
/// let suite = Suite::new().http("api", store, |catalogue, configuration| {
///     // As `Api::new(catalogue)` with each member of the configuration.
///     configuration.api(catalogue)
/// });
/// # drop(suite);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Configuration {
    /// See [`ApiSettings::behaviour`].
    pub behaviour: Behaviour,
    /// See [`BodyLimits::deadline`](crate::http::BodyLimits::deadline). Shorter in cases that wait for it, so that
    /// they take less time. A frontend that cannot configure it passes with the contract's as well.
    pub body_deadline: Duration,
}

impl Configuration {
    /// The contract over this catalogue.
    #[must_use]
    pub fn api(self, catalogue: Arc<dyn Catalogue>) -> Api {
        let mut settings = ApiSettings {
            behaviour: self.behaviour,
            ..ApiSettings::default()
        };
        settings.body_limits.deadline = self.body_deadline;
        Api::with_settings(catalogue, settings)
    }
}
