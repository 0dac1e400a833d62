//! Whether a request is meant for this service: the name that it was sent to (`Host`).
//!
//! A page on the web can point a name of its own at this machine and then talk to a service
//! here as if it were its own server ("DNS rebinding"). But the browser still sends the
//! page's name, which is none of this service's.

use std::net::{IpAddr, Ipv6Addr};

/// The names that a service answers to.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, http::{Api, Hosts, Request}};
///
/// let hosts = Hosts::Only(vec!["robots.example".to_owned()]);
/// let api = Api::new(Arc::new(MemoryCatalogue::new())).hosts(hosts);
/// for (host, status) in [("robots.example:8000", 200), ("localhost", 200), ("evil.example", 421)] {
///     let mut request = Request::new("GET", "/api/robots");
///     request.header("Host", host.as_bytes());
///     assert_eq!(api.is_addressed_by(&request), status == 200);
///     assert_eq!(api.handle(request).status, status);
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Hosts {
    /// All names: for a service that is meant for a network, or stands behind a proxy which
    /// checks the name.
    #[default]
    Any,
    /// These names, whatever the port, and those of this machine to itself (`localhost`,
    /// `*.localhost`, the loopback addresses), which no page can take for its own.
    Only(Vec<String>),
}

impl Hosts {
    /// Whether the service answers to this `Host`. A client that sends none is no browser.
    pub(super) fn include(&self, host: Option<&str>) -> bool {
        match (self, host) {
            (Self::Any, _) | (_, None) => true,
            (Self::Only(names), Some(host)) => {
                let name = without_port(host);
                is_loopback(name) || names.iter().any(|known| is_same_name(known, name))
            }
        }
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        // In `[::1]` the last colon is part of the address.
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Names are the same in either case, with or without the dot of the root.
fn is_same_name(known: &str, name: &str) -> bool {
    let rootless = |name: &str| name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    rootless(known) == rootless(name)
}

fn is_loopback(name: &str) -> bool {
    let address = match name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'))
    {
        Some(address) => address.parse::<Ipv6Addr>().ok().map(IpAddr::from),
        None => name.parse().ok(),
    };
    address.is_some_and(|address| address.is_loopback()) || is_below_localhost(name)
}

/// Whether it is one name, and not several or one behind something else, that ends in `localhost`.
fn is_below_localhost(name: &str) -> bool {
    let is_of_a_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let last_label = name.strip_suffix('.').unwrap_or(name).rsplit('.').next();
    name.bytes().all(is_of_a_name)
        && last_label.is_some_and(|label| label.eq_ignore_ascii_case("localhost"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_of_its_own_machine_answers_to_loopback_names_alone() {
        let hosts = Hosts::Only(Vec::new());
        for host in [
            "localhost",
            "localhost:8000",
            "LocalHost.:8000",
            "robots.localhost",
            "127.0.0.1:8000",
            "127.1.2.3",
            "[::1]",
            "[::1]:8000",
        ] {
            assert!(hosts.include(Some(host)), "{host}");
        }
        for host in [
            "",
            ":8000",
            "evil.example",
            "evil.example:8000",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "notlocalhost",
            "10.0.0.1",
            "0.0.0.0",
            "[::2]:80",
            "[::1",
            "localhost, evil.example",
            "evil.example, robots.localhost",
            "evil.example:80.localhost",
            "evil.example/.localhost",
            "evil.example:localhost",
            "user@localhost:80@evil.example",
        ] {
            assert!(!hosts.include(Some(host)), "{host}");
        }
        assert!(hosts.include(None));
    }

    #[test]
    fn names_are_added_to_those() {
        let hosts = Hosts::Only(vec!["Robots.example".to_owned(), "10.0.0.1".to_owned()]);
        for host in [
            "robots.example",
            "robots.example.:80",
            "10.0.0.1:8000",
            "localhost",
        ] {
            assert!(hosts.include(Some(host)), "{host}");
        }
        for host in ["a.robots.example", "example", "10.0.0.2"] {
            assert!(!hosts.include(Some(host)), "{host}");
        }
        assert!(Hosts::Any.include(Some("evil.example")));
    }
}
