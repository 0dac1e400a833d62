//! Requests, converted for Rocket.

use std::net::SocketAddr;

use hyper::{
    header::{COOKIE, HOST, HeaderValue},
    http::request::Parts,
};
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use rocket::{
    http::{
        Cookie, Header, Method,
        uri::{Host, Origin},
    },
    local::asynchronous::{Client, LocalRequest},
};

/// The bytes that hyper permits in a path or query, but Rocket does not.
const NOT_PERMITTED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

fn target(parts: &Parts) -> &str {
    parts
        .uri
        .path_and_query()
        .map_or("", |target| target.as_str())
}

/// The application's request. If Rocket does not know the method, or if there is no path, dispatching it
/// returns the response of the catcher for 400.
pub(super) fn local<'c>(client: &'c Client, parts: &Parts, remote: SocketAddr) -> LocalRequest<'c> {
    let mut local = match (method(parts), origin(target(parts))) {
        (Some(method), Some(origin)) => {
            let mut local = client.req(method, "/");
            local.inner_mut().set_uri(origin);
            local
        }
        _ => invalid(client, parts.uri.path()),
    };
    for cookies in parts.headers.get_all(COOKIE) {
        for cookie in Cookie::split_parse_encoded(cookies.to_str().unwrap_or_default()).flatten() {
            local = local.cookie(cookie.into_owned());
        }
    }
    let request = local.inner_mut();
    request.set_remote(remote);
    if let Some(host) = text(parts.headers.get(HOST))
        && let Ok(host) = Host::parse_owned(host)
    {
        request.set_host(host);
    }
    for (name, value) in &parts.headers {
        if let Some(value) = text(Some(value)) {
            request.add_header(Header::new(name.as_str().to_owned(), value));
        }
    }
    local
}

/// A request that Rocket rejects with the catcher for 400 of this path, since a path has no blanks.
fn invalid<'c>(client: &'c Client, path: &str) -> LocalRequest<'c> {
    client.req(Method::Get, format!("{}/ ", path.trim_end_matches('/')))
}

fn text(value: Option<&HeaderValue>) -> Option<String> {
    str::from_utf8(value?.as_bytes()).ok().map(str::to_owned)
}

fn method(parts: &Parts) -> Option<Method> {
    let method: Method = parts.method.as_str().parse().ok()?;
    // Rocket ignores the case, but methods are case-sensitive.
    (method.as_str() == parts.method.as_str()).then_some(method)
}

/// The target for Rocket, with bytes encoded that it does not permit.
fn origin(target: &str) -> Option<Origin<'static>> {
    Origin::parse_owned(target.to_owned())
        .or_else(|_| {
            let encoded = percent_encode(target.as_bytes(), NOT_PERMITTED);
            Origin::parse_owned(encoded.to_string())
        })
        .ok()
}
