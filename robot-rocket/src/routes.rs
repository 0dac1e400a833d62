//! Rocket routes that pass every path and method under the base to the core, and catchers that give Rocket's own
//! errors the contract's shape.

use std::io::Cursor;

use hyper::{
    HeaderMap,
    header::{HOST, HeaderName},
    http::request::Parts,
};
use robot_core::http::{Failure, IMPORT_LIMIT};
use rocket::{
    Catcher, Data, Request, Response, Route, catcher,
    data::ByteUnit,
    form::Form,
    http::{Method, Status},
    route::{Handler, Outcome},
};
use tokio_util::io::{ReaderStream, StreamReader};

use crate::{
    body::{Content, RequestBody},
    metrics::Labels,
    mounted::Mounted,
    routing,
    serve::refusal,
};

/// All methods of Rocket. Requests with other methods are passed to the catchers.
pub(crate) const METHODS: [Method; 9] = {
    use Method::{Connect, Delete, Get, Head, Options, Patch, Post, Put, Trace};
    [Get, Head, Post, Put, Delete, Options, Patch, Trace, Connect]
};

/// A route for each method.
pub(crate) fn all(mounted: &Mounted) -> Vec<Route> {
    let rank = routing::catalogue_rank(&mounted.base);
    let route = |method| Route::ranked(rank, method, "/<path..>", ApiHandler(mounted.clone()));
    METHODS.map(route).into()
}

#[derive(Clone)]
struct ApiHandler(Mounted);

#[rocket::async_trait]
impl Handler for ApiHandler {
    async fn handle<'r>(&self, request: &'r Request<'_>, mut data: Data<'r>) -> Outcome<'r> {
        let Self(mounted) = self;
        let method = true_method(request, &mut data).await;
        let pieces = ReaderStream::new(data.open(ByteUnit::Byte(IMPORT_LIMIT + 1)));
        let mut body = RequestBody::new(false, pieces);
        let identify = |_, labels| Labels::set(request, || labels);
        let answer = mounted.answer(head(method.as_str(), request), &mut body, identify);
        Outcome::Success(convert(answer.await))
    }
}

/// The head of a request for the core.
fn head(method: &str, request: &Request<'_>) -> Parts {
    let (mut head, ()) = hyper::Request::new(()).into_parts();
    head.method = method.parse().unwrap_or_default();
    // No path of the catalogue has a target that HTTP does not allow.
    head.uri = request.uri().to_string().parse().unwrap_or_default();
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
        && let Some(host) = request.host()
        && let Ok(host) = host.to_string().parse()
    {
        headers.insert(HOST, host);
    }
    headers
}

/// Set by Rocket's `Shield`, which is attached to every application, and logs a warning for each response
/// that has it already.
const NO_SNIFF: &str = "x-content-type-options";

/// The response of Rocket.
fn convert(response: hyper::Response<Content>) -> Response<'static> {
    let (head, content) = response.into_parts();
    let mut converted = Response::build();
    converted.status(Status::new(head.status.as_u16()));
    for (name, value) in &head.headers {
        if name != NO_SNIFF
            && let Ok(value) = value.to_str()
        {
            converted.raw_header_adjoin(name.to_string(), value.to_owned());
        }
    }
    match content {
        Content::Whole(bytes) => {
            converted.sized_body(bytes.len(), Cursor::new(bytes));
        }
        Content::Streamed(pieces, _) => {
            converted.streamed_body(StreamReader::new(pieces));
        }
    }
    converted.finalize()
}

/// The bytes that Rocket examines.
const START: usize = "_method=delete".len();

/// The method that the client sent. With Rocket's field `_method`, any web page could make a browser
/// delete robots by a form. A request that was not a `POST`, but has a form with this field, is
/// treated as a `POST`, too, and is rejected.
async fn true_method(request: &Request<'_>, data: &mut Data<'_>) -> Method {
    let is_form = request.content_type().is_some_and(|kind| kind.is_form());
    if !is_form || request.method() == Method::Post {
        return request.method();
    }
    let overridden = str::from_utf8(data.peek(START).await)
        .ok()
        .and_then(|start| Form::values(start).next())
        .filter(|field| field.name == "_method")
        .and_then(|field| field.value.parse().ok());
    if overridden == Some(request.method()) {
        return Method::Post;
    }
    request.method()
}

/// The catchers for the errors that occur under the base.
pub(crate) fn catchers(mounted: &Mounted) -> Vec<Catcher> {
    [400, 500]
        .map(|code| Catcher::new(code, ContractError(mounted.clone())))
        .into()
}

#[derive(Clone)]
struct ContractError(Mounted);

#[rocket::async_trait]
impl catcher::Handler for ContractError {
    async fn handle<'r>(&self, status: Status, request: &'r Request<'_>) -> catcher::Result<'r> {
        let Self(mounted) = self;
        let exchange = mounted.api.receive(head("unknown", request));
        Labels::set(request, || Labels::of(&exchange));
        // Rocket does not route a request with a method or a target that it does not know. No path takes such a method,
        // so that the answer needs no store and does not block.
        let is_unrouted = status == Status::BadRequest && request.route().is_none();
        let response = match status {
            Status::BadRequest if is_unrouted => exchange.answer([]).wait(),
            Status::BadRequest => exchange.reject(refusal::malformed()),
            _ => exchange.reject(Failure::Internal),
        };
        let mut converted = convert(mounted.content(response, exchange.request_id()));
        if is_unrouted {
            // Rocket runs no fairings for such a request.
            converted.set_raw_header(NO_SNIFF, "nosniff");
        }
        Ok(converted)
    }
}
