//! Protection against writes from pages of other origins (CSRF), except allowed ones (CORS).
//!
//! Any web page can make a browser send a form or a simple `fetch` to this service. Browsers send
//! the origin of such a request (`Sec-Fetch-Site`, `Origin`); other clients send neither header.

use std::{borrow::Cow, fmt, str::FromStr};

use ::http::{
    HeaderMap,
    header::{HOST, ORIGIN},
};

use super::{
    headers::{SEC_FETCH_SITE, value},
    host::HostName,
    parse_error::ParseError,
};

/// The origin of web pages, such as `https://robots.example` or `http://localhost:3000`.
///
/// ```
/// use robot_core::http::Origin;
///
/// let origin: Origin = "HTTPS://Robots.example:443".parse()?;
/// assert_eq!(origin.to_string(), "https://robots.example");
/// # Ok::<(), robot_core::http::ParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(String);

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for Origin {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match parts(text) {
            Some((scheme, authority)) if is_authority(&authority) => {
                Ok(Self(format!("{scheme}://{authority}")))
            }
            _ => Err(ParseError(
                format!(
                    "'{text}' is not an origin; write only scheme, name and port, as in \
                     https://robots.example:8443"
                )
                .into(),
            )),
        }
    }
}

/// Whether this is a host, with a port or without one, as browsers write it in an origin.
fn is_authority(authority: &str) -> bool {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !authority.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let is_port = |port: &str| !port.starts_with(['0', '+']) && port.parse::<u16>().is_ok();
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_host = host
        .parse()
        .is_ok_and(|name: HostName| name.to_string() == host);
    is_host && port.is_none_or(is_port)
}

/// Whether a page of another origin, which is not allowed, sent these headers.
pub(super) fn is_foreign(headers: &HeaderMap, allowed: &[Origin]) -> bool {
    if find(headers, allowed).is_some() {
        return false;
    }
    let site = value(headers, SEC_FETCH_SITE);
    let is_foreign_site = site.is_some_and(|site| !matches!(&*site, "same-origin" | "none"));
    let is_foreign_origin = match (value(headers, ORIGIN), value(headers, HOST)) {
        (None, _) => false,
        (Some(origin), Some(host)) => !is_same(&origin, &host),
        (Some(_), None) => true,
    };
    is_foreign_site || is_foreign_origin
}

/// The origin in the headers, if it is allowed, as the browser writes it.
pub(super) fn find<'a>(headers: &'a HeaderMap, allowed: &[Origin]) -> Option<Cow<'a, str>> {
    let origin = value(headers, ORIGIN)?;
    let known = allowed
        .iter()
        .any(|known| Ok(known) == origin.parse().as_ref());
    known.then_some(origin)
}

/// The scheme, and the host with its port, unless that is the default, in lower case.
fn parts(origin: &str) -> Option<(&'static str, String)> {
    let (scheme, authority) = origin.split_once("://")?;
    let (scheme, port) = [("http", ":80"), ("https", ":443")]
        .into_iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(scheme))?;
    let host = authority.strip_suffix(port).unwrap_or(authority);
    Some((scheme, host.to_ascii_lowercase()))
}

/// Whether an origin (`https://host:port`, or `null`) has this host. The scheme is ignored: behind a
/// proxy that terminates TLS, the service does not know the browser's.
fn is_same(origin: &str, host: &str) -> bool {
    parts(origin).is_some_and(|(scheme, authority)| {
        parts(&format!("{scheme}://{host}")).is_some_and(|(_, host)| host == authority)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foreign(site: Option<&str>, origin: Option<&str>, host: Option<&str>) -> bool {
        is_foreign(&headers(site, origin, host), &[])
    }

    fn headers(site: Option<&str>, origin: Option<&str>, host: Option<&str>) -> HeaderMap {
        let headers = [(SEC_FETCH_SITE, site), (ORIGIN, origin), (HOST, host)].into_iter();
        headers
            .filter_map(|(name, value)| Some((name, value?.parse().unwrap())))
            .collect()
    }

    #[test]
    fn client_without_browser_headers_is_not_foreign() {
        assert!(!foreign(None, None, Some("localhost:8000")));
        assert!(!foreign(None, None, None));
    }

    #[test]
    fn page_of_the_same_origin_is_not_foreign() {
        let host = Some("localhost:8000");
        assert!(!foreign(None, Some("http://localhost:8000"), host));
        assert!(!foreign(Some("same-origin"), None, host));
        assert!(!foreign(Some("none"), None, host));
        assert!(!foreign(
            None,
            Some("https://Robots.example"),
            Some("robots.example:443")
        ));
        assert!(!foreign(
            None,
            Some("http://robots.example"),
            Some("robots.example:80")
        ));
    }

    #[test]
    fn page_of_another_origin_is_foreign() {
        let host = Some("localhost:8000");
        assert!(foreign(None, Some("http://localhost:8001"), host));
        assert!(foreign(None, Some("http://evil.example"), host));
        assert!(foreign(None, Some("null"), host));
        assert!(foreign(None, Some("http://localhost:8000"), None));
        assert!(foreign(Some("cross-site"), None, host));
        assert!(foreign(
            Some("same-origin"),
            Some("http://evil.example"),
            host
        ));
        assert!(foreign(
            Some("same-site"),
            Some("http://localhost:8000"),
            host
        ));
    }

    #[test]
    fn page_of_an_allowed_origin_is_not_foreign() {
        let allowed = ["https://app.example".parse().unwrap()];
        let ours = |origin| headers(Some("cross-site"), Some(origin), Some("robots.example"));
        for origin in ["https://app.example", "https://app.example:443"] {
            assert!(!is_foreign(&ours(origin), &allowed), "{origin}");
            assert_eq!(find(&ours(origin), &allowed).as_deref(), Some(origin));
        }
        for origin in [
            "http://app.example",
            "https://app.example:8443",
            "https://app.example.evil.example",
            "https://evil.example, https://app.example",
            "https://app.example, https://app.example",
            "https://app.example/",
            "app.example",
            "null",
        ] {
            assert!(is_foreign(&ours(origin), &allowed), "{origin}");
            assert_eq!(find(&ours(origin), &allowed), None, "{origin}");
        }
        let same = headers(None, Some("https://robots.example"), Some("robots.example"));
        assert_eq!(find(&same, &allowed), None);
        assert!(!is_foreign(&same, &allowed));
    }

    #[test]
    fn origin_consists_of_scheme_name_and_port() {
        for (text, origin) in [
            ("http://localhost:3000", "http://localhost:3000"),
            ("http://Robots.Example:80", "http://robots.example"),
            ("https://[::1]:8443", "https://[::1]:8443"),
        ] {
            assert_eq!(text.parse::<Origin>().unwrap().to_string(), origin);
        }
        for text in [
            "",
            "*",
            "null",
            "robots.example",
            "https://",
            "https://robots.example/",
            "https://robots.example/page",
            "https://user@robots.example",
            "https://*.example",
            "https://.example",
            "https://::1",
            "https://[::1",
            "https://[0::1]",
            "https://10.0.0.256",
            "https://robots.example:",
            "https://robots.example:high",
            "https://robots.example:070",
            "https://robots.example:65536",
            "ftp://robots.example",
            "https://a.example,https://b.example",
            "https://a.example\r\nx: y",
        ] {
            assert!(text.parse::<Origin>().is_err(), "{text}");
        }
    }
}
