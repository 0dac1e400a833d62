//! Check of the header `Host`, against DNS rebinding.
//!
//! A web page can resolve its own host name to the address of this machine, and then access a service
//! here as if it had the same origin. The browser still sends the page's host name in `Host`, so a
//! service that accepts only its own names rejects such requests.

use std::net::{IpAddr, Ipv6Addr};

/// The host names that a service accepts.
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
///     assert_eq!(api.host_allowed(&request), status == 200);
///     assert_eq!(api.handle(request).status, status);
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Hosts {
    /// All names: for a service in a network, or behind a proxy that checks the name.
    #[default]
    Any,
    /// These names, with any port, and the loopback names and addresses (`localhost`,
    /// `*.localhost`, `127.0.0.1`), which no web page can have.
    Only(Vec<String>),
}

impl Hosts {
    /// Whether the service accepts this `Host`. A client that sends none is not a browser.
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

/// Compares names without regard to case and to a dot at the end.
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

/// Whether this is a single name, without any other text, that ends in `localhost`.
fn is_below_localhost(name: &str) -> bool {
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let last_label = name.strip_suffix('.').unwrap_or(name).rsplit('.').next();
    name.bytes().all(is_name_byte)
        && last_label.is_some_and(|label| label.eq_ignore_ascii_case("localhost"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_names_are_accepted_by_default() {
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
    fn configured_names_are_accepted_too() {
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
