//! Check of the header `Host`, against DNS rebinding.
//!
//! A web page can resolve its own host name to the address of this machine, and then access a service
//! here as if it had the same origin. The browser still sends the page's host name in `Host`, so a
//! service that accepts only its own names rejects such requests.

use std::{
    fmt,
    net::{Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use compact_str::{CompactString, format_compact};

use super::parse_error::ParseError;

/// The host names that a service accepts.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, http::{Api, ApiSettings, Hosts}};
///
/// let hosts = Hosts::Only(vec!["robots.example".parse()?]);
/// let settings = ApiSettings { hosts, ..ApiSettings::default() };
/// let api = Api::with_settings(Arc::new(MemoryCatalogue::new()), settings);
/// for (host, status) in [("robots.example:8000", 200), ("localhost", 200), ("evil.example", 421)] {
///     let request = http::Request::get("/api/robots").header("host", host).body("")?;
///     assert_eq!(api.host_allowed(request.headers()), status == 200);
///     assert_eq!(api.handle(request).status(), status);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Hosts {
    /// All names: for a service in a network, or behind a proxy that checks the name.
    #[default]
    Any,
    /// These names, with any port, and the loopback names and addresses (`localhost`,
    /// `*.localhost`, `127.0.0.1`), which no web page can have.
    Only(Vec<HostName>),
}

impl Hosts {
    /// Whether the service accepts this `Host`. A client that sends none is not a browser.
    #[must_use]
    pub fn include(&self, host: Option<&str>) -> bool {
        match (self, host) {
            (Self::Any, _) | (_, None) => true,
            (Self::Only(names), Some(host)) => {
                let name = without_port(host);
                names.iter().any(|known| known.is(name)) || is_loopback(name)
            }
        }
    }
}

/// A host name or IP address, without a port, that a header `Host` can have.
///
/// ```
/// use robot_core::http::HostName;
///
/// assert_eq!("Robots.example.".parse::<HostName>()?.to_string(), "robots.example");
/// assert_eq!("2001:DB8::1".parse::<HostName>()?.to_string(), "[2001:db8::1]");
/// assert!("*.example".parse::<HostName>().is_err());
/// # Ok::<(), robot_core::http::ParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostName(CompactString);

impl HostName {
    /// Compares names without regard to case and to a dot at the end.
    fn is(&self, name: &str) -> bool {
        self.0.eq_ignore_ascii_case(without_root(name))
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for HostName {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let unbracketed = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'))
            .unwrap_or(text);
        if let Ok(address) = unbracketed.parse::<Ipv6Addr>() {
            // Browsers write addresses in this form.
            return Ok(Self(format_compact!("[{address}]")));
        }
        let mut name = CompactString::from(without_root(text));
        if is_domain_name(&name) {
            name.make_ascii_lowercase();
            Ok(Self(name))
        } else {
            Err(ParseError(
                format!(
                    "'{text}' is not a host name; write whole names without scheme, port and wildcard, \
                     such as robots.example, in ASCII (xn--...)"
                )
                .into(),
            ))
        }
    }
}

/// Whether this is a domain name or an IPv4 address. A name whose last label is a number is an
/// address to browsers.
fn is_domain_name(name: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let ends_in_number = name
        .rsplit('.')
        .next()
        .is_some_and(|label| label.bytes().all(|byte| byte.is_ascii_digit()));
    name.len() <= 253
        && name.split('.').all(is_label)
        && (!ends_in_number || name.parse::<Ipv4Addr>().is_ok())
}

/// A name without the dot of the root zone at its end.
fn without_root(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

/// Whether this is a loopback name or address.
fn is_loopback(name: &str) -> bool {
    match without_root(name).parse::<Ipv4Addr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => name.parse().is_ok_and(|HostName(name)| {
            name == "[::1]" || name.rsplit('.').next() == Some("localhost")
        }),
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        // In `[::1]` the last colon is part of the address.
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
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
            "127.0.0.1.",
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
            "a..localhost",
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
        let names = ["Robots.example", "10.0.0.1", "2001:DB8:0::1"];
        let hosts = Hosts::Only(names.map(|name| name.parse().unwrap()).into());
        for host in [
            "robots.example",
            "ROBOTS.example.:80",
            "10.0.0.1:8000",
            "[2001:db8::1]:8000",
            "localhost",
        ] {
            assert!(hosts.include(Some(host)), "{host}");
        }
        for host in ["a.robots.example", "example", "10.0.0.2"] {
            assert!(!hosts.include(Some(host)), "{host}");
        }
        assert!(Hosts::Any.include(Some("evil.example")));
    }

    #[test]
    fn name_that_no_host_header_can_have_is_rejected() {
        let long = "a".repeat(64);
        for name in [
            "",
            "*",
            "*.example",
            ".example",
            "robots..example",
            "robots.example:80",
            "[::1]:80",
            "[::1",
            "::1::2",
            "https://robots.example",
            "robots.example/page",
            "robots example",
            "robots.example,other.example",
            "röbots.example",
            "10.0.0.256",
            "10.0.0.01",
            "10.0.1",
            "2130706433",
            &long,
        ] {
            assert!(name.parse::<HostName>().is_err(), "{name}");
        }
        for (name, written) in [
            ("localhost", "localhost"),
            ("Robots-1_x.EXAMPLE.", "robots-1_x.example"),
            ("3com.example", "3com.example"),
            ("10.0.0.1", "10.0.0.1"),
            ("[::1]", "[::1]"),
        ] {
            assert_eq!(name.parse::<HostName>().unwrap().to_string(), written);
        }
    }
}
