//! Rocket routes that pass every path and method under the base to the core.

use std::io;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt};
use hyper::{
    HeaderMap,
    header::{HOST, HeaderName},
    http::request::Parts,
};
use robot_core::http::{Body, IMPORT_LIMIT};
use rocket::{
    Data, Request, Route,
    data::ByteUnit,
    http::Method,
    route::{Handler, Outcome},
};
use tokio_util::io::ReaderStream;

use crate::{
    body::RequestBody,
    forms::{ends_early, true_method},
    mounted::Mounted,
    page, rank,
    response::convert,
    serve::Labels,
};

/// After the routes of applications and the static files.
const RANK: isize = 3000;

/// The least rank of a catalogue's routes: every other route takes precedence.
pub(crate) const FIRST_RANK: isize = RANK - 256;

/// All methods of Rocket. Requests with other methods are passed to the catchers.
pub(crate) const METHODS: [Method; 9] = [
    Method::Get,
    Method::Head,
    Method::Post,
    Method::Put,
    Method::Delete,
    Method::Options,
    Method::Patch,
    Method::Trace,
    Method::Connect,
];

/// A route for each method.
pub(crate) fn all(mounted: &Mounted) -> Vec<Route> {
    let rank = rank(RANK, mounted.base());
    let route = |method| Route::ranked(rank, method, "/<path..>", ApiHandler(mounted.clone()));
    METHODS.map(route).into()
}

#[derive(Clone)]
struct ApiHandler(Mounted);

#[rocket::async_trait]
impl Handler for ApiHandler {
    async fn handle<'r>(&self, request: &'r Request<'_>, mut data: Data<'r>) -> Outcome<'r> {
        let Self(mounted) = self;
        let ends_early = ends_early(&mut data).await;
        let method = true_method(request, &mut data).await;
        let head = head(method.as_str(), request);
        if let Some((route, response)) = page::answer(mounted, &head) {
            Labels::set(request, || Labels::of_route(route));
            let response = response.map(|bytes| Body::Whole(bytes.into()));
            return Outcome::Success(convert(response, &mounted.permits));
        }
        let exchange = mounted.api.receive(head);
        Labels::set(request, || Labels::of(&exchange));
        let pieces: BoxStream<'_, io::Result<Bytes>> = if ends_early {
            let error = io::Error::from(io::ErrorKind::UnexpectedEof);
            stream::once(async { Err(error) }).boxed()
        } else {
            ReaderStream::new(data.open(ByteUnit::Byte(IMPORT_LIMIT + 1))).boxed()
        };
        let mut body = RequestBody::new(false, pieces);
        let response = mounted.answer(&exchange, &mut body).await;
        Outcome::Success(convert(response, &mounted.permits))
    }
}

/// The head of a request for the core.
pub(crate) fn head(method: &str, request: &Request<'_>) -> Parts {
    let uri = request.uri();
    let path = uri.path().as_str();
    let target = match uri.query() {
        Some(query) => [path, "?", query.as_str()].concat(),
        None => path.to_owned(),
    };
    let (mut head, ()) = hyper::Request::new(()).into_parts();
    head.method = method.parse().unwrap_or_default();
    // No path of the catalogue has a target that HTTP does not allow.
    head.uri = target.parse().unwrap_or_default();
    head.headers = headers(request);
    head
}

/// The headers of a request for the core.
pub(crate) fn headers(request: &Request<'_>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for header in request.headers().iter() {
        let name = HeaderName::from_bytes(header.name.as_str().as_bytes());
        if let (Ok(name), Ok(value)) = (name, header.value.parse()) {
            headers.append(name, value);
        }
    }
    // HTTP/2, which an application may enable in Rocket, has the host outside of the headers.
    if !headers.contains_key(HOST)
        && let Some(host) = request
            .host()
            .and_then(|host| host.to_string().parse().ok())
    {
        headers.insert(HOST, host);
    }
    headers
}
