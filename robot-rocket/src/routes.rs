//! Rocket routes that pass every path and method under the base to the core.

use std::{iter, pin::pin};

use futures_util::future::{Either, select};
use hyper::{
    HeaderMap,
    header::{HOST, HeaderName},
    http::request::Parts,
};
use robot_core::http::{Api, BodyError, BodyMode, Exchange, Failure, RequestId, Response};
use rocket::{
    Data, Request, Route,
    http::Method,
    route::{Handler, Outcome},
    tokio::sync::mpsc,
};

use crate::{
    body::RequestBody,
    forms::{ends_early, true_method},
    permits::BlockingPermits,
    rank,
    reply::response,
    serve::{Labels, READS_FROM_CONNECTION, Received},
};

/// After the routes of applications and the static files.
const RANK: isize = 3000;

/// Number of pieces of a streamed body that are buffered. Only one, and the network and the database do
/// not work at the same time; higher, and each import uses more memory.
const PIECES: usize = 4;

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
pub(crate) fn all(base: &str, api: &Api, permits: &BlockingPermits) -> Vec<Route> {
    let handler = ApiHandler {
        api: api.clone(),
        permits: permits.clone(),
    };
    METHODS
        .into_iter()
        .map(|method| {
            let rank = rank(RANK, base);
            let mut route = Route::ranked(rank, method, "/<path..>", handler.clone());
            route.name = Some(format!("{READS_FROM_CONNECTION}robots").into());
            route
        })
        .collect()
}

#[derive(Clone)]
struct ApiHandler {
    api: Api,
    permits: BlockingPermits,
}

#[rocket::async_trait]
impl Handler for ApiHandler {
    async fn handle<'r>(&self, request: &'r Request<'_>, mut data: Data<'r>) -> Outcome<'r> {
        let ends_early = ends_early(&mut data).await;
        let method = true_method(request, &mut data).await;
        let exchange = self.api.receive(head(method.as_str(), request));
        if let Some(received) = Received::of(request) {
            received.set_labels(|| Labels::of(&exchange));
            received.release_head();
        }
        let reply = if exchange.body_mode() == BodyMode::Streamed {
            let body = (!ends_early).then(|| RequestBody::open(request, data));
            self.answer_streamed(&exchange, body).await
        } else {
            let body = match exchange.body_mode() {
                _ if ends_early => Err(BodyError::Incomplete),
                BodyMode::Whole => {
                    let body = RequestBody::open(request, data);
                    body.read_whole(exchange.body_deadline()).await
                }
                _ => Ok(Vec::new()),
            };
            let pending = exchange.answer(body);
            let id = exchange.request_id().as_str();
            pending.resolve(|work| self.permits.run(id, work)).await
        };
        let reply = reply.unwrap_or_else(|failure| exchange.reject(failure));
        Outcome::Success(response(reply, &self.permits))
    }
}

impl ApiHandler {
    /// Reads the body while the request is answered. Without one, it is incomplete.
    async fn answer_streamed(
        &self,
        exchange: &Exchange,
        body: Option<RequestBody<'_>>,
    ) -> Result<Response, Failure> {
        let (sender, mut receiver) = mpsc::channel(PIECES);
        let pending = exchange.answer_streamed(iter::from_fn(move || receiver.blocking_recv()));
        let id = exchange.request_id().as_str();
        let answering = pending.resolve(|work| self.permits.run_slow(id, work));
        let timer = exchange.body_timer();
        let sending = async move {
            // If the sender is dropped without an end mark, the body is incomplete.
            if let Some(body) = body {
                body.send_pieces(timer, sender).await;
            }
        };
        // The rest of the body is not read if the reply is ready before.
        match select(pin!(answering), pin!(sending)).await {
            Either::Left((reply, _)) => reply,
            Either::Right(((), answering)) => answering.await,
        }
    }
}

/// The head of a request for the core.
pub(crate) fn head(method: &str, request: &Request<'_>) -> Parts {
    let received = Received::of(request);
    if let Some(head) = received.and_then(|received| received.take_head(method)) {
        return head;
    }
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
    if let Some(id) = received.and_then(|received| received.request_id().as_str().parse().ok()) {
        head.headers.insert(RequestId::HEADER, id);
    }
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
