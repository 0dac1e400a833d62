//! Whether a browser may send a write: only from a page of this very origin.
//!
//! Any page on the web can make a browser send a form or a simple `fetch` here. Browsers say
//! where such a request comes from (`Sec-Fetch-Site`, `Origin`); other clients send neither.

use super::request::Headers;

/// Whether the headers tell of a page of another origin.
pub(super) fn is_foreign(headers: &Headers) -> bool {
    let site = headers.sec_fetch_site.as_deref();
    let is_foreign_site = site.is_some_and(|site| !matches!(site, "same-origin" | "none"));
    let is_foreign_origin = match (&headers.origin, &headers.host) {
        (None, _) => false,
        (Some(origin), Some(host)) => !is_same(origin, host),
        (Some(_), None) => true,
    };
    is_foreign_site || is_foreign_origin
}

/// Whether an origin (`https://host:port`, or `null`) is that of this host. The scheme is
/// left out: behind a proxy that ends TLS, ours is not the browser's.
fn is_same(origin: &str, host: &str) -> bool {
    let Some((scheme, authority)) = origin.split_once("://") else {
        return false;
    };
    let port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return false,
    };
    let without_port = |authority: &str| {
        authority
            .strip_suffix(port)
            .unwrap_or(authority)
            .to_ascii_lowercase()
    };
    without_port(authority) == without_port(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foreign(site: Option<&str>, origin: Option<&str>, host: Option<&str>) -> bool {
        is_foreign(&Headers {
            sec_fetch_site: site.map(str::to_owned),
            origin: origin.map(str::to_owned),
            host: host.map(str::to_owned),
            ..Headers::default()
        })
    }

    #[test]
    fn a_client_that_is_no_browser_is_at_home() {
        assert!(!foreign(None, None, Some("localhost:8000")));
        assert!(!foreign(None, None, None));
    }

    #[test]
    fn a_page_of_this_origin_is_at_home() {
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
    fn every_other_page_is_foreign() {
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
}
