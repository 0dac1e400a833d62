//! Metrics of requests: their labels, and what is known of them.

use std::{
    borrow::Cow,
    net::IpAddr,
    sync::{Arc, OnceLock},
};

use robot_core::http::{Exchange, RequestId, TokenName};
use rocket::Request;

/// Route and token of a request, for the log and the metrics.
#[derive(Debug, Clone)]
pub(crate) struct Labels {
    /// The template of the path, or another name from a fixed list.
    pub(crate) route: Cow<'static, str>,
    /// The name of the token, from the settings.
    pub(crate) token: Option<TokenName>,
    /// The fingerprint of a token that is not known.
    pub(crate) unknown_token: Option<String>,
}

/// Where a handler puts the labels of its request.
pub(crate) type LabelSlot = Arc<OnceLock<Labels>>;

impl Labels {
    /// The route of a request that no route has received. Templates start with a slash.
    pub(crate) const NO_ROUTE: &'static str = "none";

    pub(crate) fn of(exchange: &Exchange) -> Self {
        Self {
            route: exchange.route().unwrap_or(Self::NO_ROUTE).into(),
            token: exchange.token_name().cloned(),
            unknown_token: exchange.unknown_token().map(str::to_owned),
        }
    }

    /// The labels of a request to another route.
    pub(crate) fn of_route(route: impl Into<Cow<'static, str>>) -> Self {
        Self {
            route: route.into(),
            token: None,
            unknown_token: None,
        }
    }

    /// Sets the labels of a request that comes from [`serve`](crate::serve), unless they were set before.
    pub(crate) fn set(request: &Request<'_>, labels: impl FnOnce() -> Self) {
        if let Some(slot) = request.local_cache(|| None::<LabelSlot>) {
            slot.get_or_init(labels);
        }
    }
}

/// What the log, the metrics and the traces have of a request.
pub(crate) struct RequestInfo {
    pub(crate) request_id: RequestId,
    /// From a fixed list.
    pub(crate) method: &'static str,
    /// The other end of the connection, which may be a proxy.
    pub(crate) client: IpAddr,
    /// The client behind the proxy: `ip_header` of Rocket's settings.
    pub(crate) real_ip: Option<IpAddr>,
    pub(crate) labels: Labels,
    /// `None` until there is a response.
    pub(crate) status: Option<u16>,
    /// The size of the body that was passed to hyper.
    pub(crate) bytes: usize,
    /// Whether the whole response was passed to hyper.
    pub(crate) is_sent: bool,
}

impl RequestInfo {
    /// The method if it is none of HTTP.
    pub(crate) const OTHER_METHOD: &'static str = "other";
}
