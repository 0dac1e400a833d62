//! Sequences of requests whose parts are all random.

use std::net::IpAddr;

use http::{HeaderName, HeaderValue};
use proptest::{collection::vec, prelude::*};
use robot_core::http::{Access, AccessToken, Behaviour, BodyError, Hosts, Permission};

use crate::{
    configuration,
    mutation::{Bytes, mutated},
    service::{Request, Service, request},
};

const NAMES: [&str; 2] = ["R2-D2", "HAL 9000"];

/// An allowed origin.
const ALLOWED_ORIGIN: &str = "https://app.example";

/// A request, in parts.
#[derive(Debug, Clone)]
struct Call {
    method: String,
    target: String,
    headers: Vec<(&'static str, Bytes)>,
    body: Result<Bytes, BodyError>,
}

impl Call {
    /// `None` if HTTP does not allow it.
    fn request(&self) -> Option<Request> {
        let mut request = request(&self.method, &self.target)?;
        for (name, value) in &self.headers {
            let value = HeaderValue::from_bytes(&value.0).ok()?;
            let name: HeaderName = name.parse().unwrap();
            request.headers_mut().append(name, value);
        }
        // A random one would make every answer different.
        let id = HeaderValue::from_static("fixed");
        request.headers_mut().insert("x-request-id", id);
        Some(request)
    }

    fn body(&self) -> Result<Vec<u8>, BodyError> {
        self.body.clone().map(|body| body.0)
    }

    /// The values of a header, joined.
    fn header(&self, name: &str) -> Option<String> {
        let lines = self.headers.iter();
        let lines = lines.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let values: Vec<_> = lines
            .map(|(_, value)| String::from_utf8_lossy(&value.0))
            .collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    fn is_write(&self) -> bool {
        ["POST", "PUT", "PATCH", "DELETE"].contains(&self.method.as_str())
    }

    fn is_from_allowed_origin(&self) -> bool {
        self.header("origin").is_some_and(|origin| {
            let origin = origin.to_ascii_lowercase();
            origin.strip_suffix(":443").unwrap_or(&origin) == ALLOWED_ORIGIN
        })
    }

    /// Whether the headers are those of a page of another origin that is not allowed.
    fn is_foreign(&self) -> bool {
        if self.is_from_allowed_origin() {
            return false;
        }
        let site = self.header("sec-fetch-site");
        let is_foreign_site = site.is_some_and(|site| site != "same-origin" && site != "none");
        let is_foreign_origin = self.header("origin").is_some_and(|origin| {
            let host = self.header("host");
            !host.is_some_and(|host| is_same(&origin, &host))
        });
        is_foreign_site || is_foreign_origin
    }

    /// The token in the headers.
    fn token(&self) -> Option<String> {
        let credentials = self.header("authorization")?;
        let (scheme, token) = credentials.split_once(' ')?;
        let is_token = scheme.eq_ignore_ascii_case("bearer");
        is_token.then(|| token.trim().to_owned())
    }

    /// Whether the host is neither `robots.example` nor a loopback name.
    fn has_foreign_host(&self) -> bool {
        self.header("host").is_some_and(|host| !is_own_host(&host))
    }

    /// The length of the body.
    fn length(&self) -> usize {
        self.body.as_ref().map_or(0, |body| body.0.len())
    }

    /// Whether the body is shorter than its `Content-Length`, or could not be read.
    fn is_broken(&self) -> bool {
        let length = self.header("content-length");
        let announced = length.map_or(0, |length| length.parse().unwrap_or(usize::MAX));
        self.length() < announced || self.body.is_err()
    }
}

/// Whether an origin has this host. Either may have the default port.
fn is_same(origin: &str, host: &str) -> bool {
    let (origin, host) = (origin.to_ascii_lowercase(), host.to_ascii_lowercase());
    [("http://", ":80"), ("https://", ":443")]
        .iter()
        .any(|(scheme, port)| {
            let name = |authority: &str| authority.strip_suffix(port).map(str::to_owned);
            let authority = origin.strip_prefix(scheme);
            authority.is_some_and(|authority| {
                let said = name(authority).unwrap_or(authority.to_owned());
                said == name(&host).unwrap_or(host.clone())
            })
        })
}

fn is_own_host(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let (before, port) = host.rsplit_once(':').unwrap_or((&host, ""));
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
    let host = if is_port { before } else { &host };
    let bracketed = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let name = host.strip_suffix('.').unwrap_or(host);
    let address = match bracketed {
        Some(address) => address.parse().ok().map(IpAddr::V6),
        None => name.parse().ok(),
    };
    name == "robots.example"
        || name == "localhost"
        || (name.ends_with(".localhost") && is_name(name))
        || address.is_some_and(|address| address.is_loopback())
}

/// Whether a text is a single host name.
fn is_name(text: &str) -> bool {
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(is_name_byte);
    text.split('.').all(is_label)
}

/// One of these values, which are separated by `|`, or a similar one.
fn one_of(values: &'static str) -> impl Strategy<Value = Bytes> {
    let values: Vec<_> = values
        .split('|')
        .map(|value| value.as_bytes().to_vec())
        .collect();
    let values = prop::sample::select(values);
    prop_oneof![6 => mutated(values), 1 => vec(any::<u8>(), 0..20)].prop_map(|mut value| {
        value.retain(|byte| *byte >= b' ' && *byte != 0x7f);
        Bytes(value)
    })
}

const HOSTS: &str = "localhost|localhost:8000|127.0.0.1:8000|[::1]:8000|robots.example|\
                     ROBOTS.example.:443|evil.example|a.localhost|robots.example.evil.example|";

const ORIGINS: &str = "http://localhost|http://localhost:8000|https://robots.example|\
                       https://robots.example:443|http://evil.example|https://app.example|\
                       HTTPS://App.Example:443|https://app.example.evil.example|null|file://";

fn header() -> impl Strategy<Value = (&'static str, Bytes)> {
    let of = |name: &'static str, values: &'static str| {
        one_of(values).prop_map(move |value| (name, value))
    };
    prop_oneof![
        4 => of("Host", HOSTS),
        2 => of("Origin", ORIGINS),
        2 => of("sec-fetch-site", "same-origin|none|cross-site|same-site|None"),
        2 => of("Authorization", "Bearer writer|bearer reader|Basic writer"),
        1 => of("Content-Length", "0|1|60|65536|65537|99999999999999999999"),
        1 => of("ACCEPT", "application/json|text/html|*/*;q=0.1"),
        1 => of("Transfer-Encoding", "chunked|identity"),
        2 => of("If-Match", "\"1\"|W/\"2\", \"1\"|*|1"),
        2 => of("If-None-Match", "\"1\"|W/\"2\", \"3\"|*|1"),
        1 => of("X-HTTP-Method-Override", "DELETE"),
        1 => of("Content-Type", "application/json|text/plain|application/merge-patch+json"),
    ]
}

fn body() -> impl Strategy<Value = Result<Bytes, BodyError>> {
    let bodies = [
        r#"{"name":"C-3PO","type":"droid","year":1977}"#,
        r#"{"name":"<b>&\u000d\u000a","type":"virtual","year":2001}"#,
        r#"{"name":"R2-D2","type":"toaster","year":-1}"#,
        "",
    ];
    let bodies = prop::sample::select(bodies.to_vec()).prop_map(|body| body.as_bytes().to_vec());
    let errors = [
        BodyError::TooLarge,
        BodyError::TooSlow,
        BodyError::Incomplete,
    ];
    prop_oneof![
        8 => mutated(bodies).prop_map(|body| Ok(Bytes(body))),
        1 => prop::sample::select(errors.to_vec()).prop_map(Err),
    ]
}

/// A method and a target, which often match.
fn method_and_target() -> impl Strategy<Value = (String, String)> {
    let matching = [
        ("GET", "/api/robots?limit=1&fields=name,year"),
        ("HEAD", "/api/robots/search/-D"),
        ("GET", "/api/robots/export?format=csv"),
        ("POST", "/api/robots"),
        ("POST", "/api/robots/import?format=ndjson&on_conflict=skip"),
        ("POST", "/api/robots/import?format=ndjson&atomic=true"),
        ("PUT", "/api/robots/1"),
        ("PUT", "/api/robots/3"),
        ("PATCH", "/api/robots/2"),
        ("DELETE", "/api/robots/1"),
        ("DELETE", "/api/robots/2"),
    ];
    let matching = prop::sample::select(matching.to_vec());
    let damaged = mutated(matching.clone().prop_map(|(_, target)| target.into()))
        .prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"];
    let method = prop_oneof![
        9 => prop::sample::select(methods.to_vec()).prop_map(str::to_owned),
        1 => "[A-Za-z_-]{1,8}",
    ];
    prop_oneof![
        3 => matching.prop_map(|(method, target)| (method.to_owned(), target.to_owned())),
        1 => (method, prop_oneof![4 => damaged, 1 => Just("*".to_owned())]),
    ]
}

/// The headers of a browser for a page of the same or another origin.
fn browser_headers() -> impl Strategy<Value = Vec<(&'static str, Bytes)>> {
    let hosts = [
        "localhost:8000",
        "localhost",
        "robots.example",
        "evil.example",
    ];
    let ports = ["", ":80", ":443", ":8000", ".evil.example"];
    let origin = (
        prop::sample::select(vec!["http://", "https://", "HTTP://", "ftp://", ""]),
        prop::sample::select(hosts.to_vec()),
        prop::sample::select(ports.to_vec()),
    );
    let origin = origin.prop_map(|(scheme, host, port)| format!("{scheme}{host}{port}"));
    (prop::sample::select(hosts.to_vec()), origin).prop_map(|(host, origin)| {
        vec![
            ("Host", Bytes(host.into())),
            ("Origin", Bytes(origin.into())),
        ]
    })
}

fn call() -> impl Strategy<Value = Call> {
    let headers = prop_oneof![Just(Vec::new()), browser_headers(), vec(header(), 1..4),];
    // The difference between `Content-Length` and the length of the body.
    let surplus = prop::option::of(-1..=1_isize);
    let parts = (method_and_target(), headers, body(), surplus);
    parts.prop_map(|((method, target), headers, body, surplus)| {
        let mut call = Call {
            method,
            target,
            headers,
            body,
        };
        let length = surplus.and_then(|surplus| call.length().checked_add_signed(surplus));
        if call.method == "PATCH" && surplus != Some(1) {
            let content_type = Bytes(b"application/merge-patch+json".to_vec());
            call.headers.push(("Content-Type", content_type));
        }
        if let Some(length) = length {
            let length = Bytes(length.to_string().into_bytes());
            call.headers.push(("Content-Length", length));
        }
        call
    })
}

/// The status of behaviour B for one of A.
fn in_b(status: u16) -> u16 {
    match status {
        201 => 200,
        409 => 500,
        other => other,
    }
}

proptest! {
    #![proptest_config(configuration(300))]

    #[test]
    fn rejected_random_requests_change_nothing(calls in vec(call(), 1..12)) {
        let service = |behaviour| Service::of(NAMES).with(|settings| {
            settings.hosts = Hosts::Only(vec!["robots.example".parse().unwrap()]);
            settings.origins = vec![ALLOWED_ORIGIN.parse().unwrap()];
            settings.behaviour = behaviour;
        });
        let (one, other) = (service(Behaviour::A), service(Behaviour::B));
        for call in calls {
            let Some(request) = call.request() else { continue };
            let before = one.robots();
            let answer = one.exchange(request.clone(), call.body());
            let of_b = other.exchange(request, call.body());
            prop_assert_eq!(of_b.status, in_b(answer.status), "{:?}", call);
            prop_assert_eq!((&of_b.headers, &of_b.body), (&answer.headers, &answer.body));

            // An import stores the records before the end of a body that is cut off.
            let is_broken = call.is_broken() && !answer.is_import();
            if !call.is_write() {
                prop_assert_eq!(one.robots(), before, "{:?}", call);
            } else if call.is_foreign() || is_broken {
                prop_assert!(answer.status >= 400, "{:?}: {:?}", call, answer);
            }
            prop_assert_eq!(answer.status == 421, call.has_foreign_host(), "{:?}", call);
            prop_assert!(answer.status != 403 || call.is_foreign(), "{:?}", call);
            let admitted = answer.header("access-control-allow-origin");
            prop_assert_eq!(admitted.is_some(), call.is_from_allowed_origin(), "{:?}", call);
        }
        prop_assert_eq!(one.robots(), other.robots());
    }
    #[test]
    fn permission_matches_the_token(
        calls in vec(call(), 1..6),
        credentials in one_of("Bearer writer|Bearer reader|BEARER writer|Basic writer"),
        reads_are_open in any::<bool>(),
    ) {
        let tokens = [("reader", Permission::Read), ("writer", Permission::Write)];
        let tokens = tokens.map(|(text, permission)| AccessToken::of(text, permission));
        let anonymous = reads_are_open.then_some(Permission::Read);
        let access = Access::new(tokens.into(), anonymous);
        let service = Service::of(NAMES).with(|settings| settings.access = access);
        for mut call in calls {
            call.headers.push(("Authorization", credentials.clone()));
            let Some(request) = call.request() else { continue };
            let status = service.exchange(request, call.body()).status;
            let token = call.token();
            let may_write = token.as_deref() == Some("writer");
            let may_read = may_write || token.as_deref() == Some("reader");
            let may_read = may_read || (reads_are_open && token.is_none());
            let is_done = (200..300).contains(&status) && call.method != "OPTIONS";
            let may_do_it = if call.is_write() { may_write } else { may_read };
            prop_assert!(may_do_it || !is_done, "{:?}: {}", call, status);
            prop_assert!(status != 401 || !may_do_it, "{:?}", call);
        }
    }
}
