//! A whole frontend on [`axum`]: the contract is the core's, and this moves its bytes.
//!
//! It shows what a frontend for any other web framework has to do, which is no more than
//! this file: make a [`Request`] of what arrives, have [`Api::start`] begin to answer it, give the
//! work that blocks to a thread that may, send the [`Reply`]. The cases of `robot_core::conformance` prove it.

use std::{iter, pin::pin};

use axum::{
    BoxError, Router,
    body::Body,
    extract::State,
    http::{self, StatusCode, uri::PathAndQuery},
    response::{IntoResponse, Response},
};
use futures_util::{
    TryStreamExt,
    future::{Either, ready, select},
    stream,
};
use robot_core::{
    Pending,
    http::{
        self as contract, Api, BODY_DEADLINE, BodyError, Chunks, Failure, Reply, Request,
        within_limit,
    },
};
use tokio::{
    sync::mpsc::{self, Sender},
    task::spawn_blocking,
    time::timeout,
};

/// The catalogue as a router. It takes every path and every method, because the core knows
/// which of them there are and what to answer to the others.
pub fn router(api: Api) -> Router {
    Router::new().fallback(answer).with_state(api)
}

async fn answer(State(api): State<Api>, request: http::Request<Body>) -> Response {
    let (head, body) = request.into_parts();
    // The core decodes paths itself, so it gets what was sent, to the letter.
    let target = head.uri.path_and_query().map_or("", PathAndQuery::as_str);
    let mut request = Request::new(head.method.as_str(), target);
    for (name, value) in &head.headers {
        request.header(name.as_str(), value.as_bytes());
    }
    if api.streams_body(&request) {
        let (pieces, mut arriving) = mpsc::channel(4);
        let pending = api.start_streamed(request, iter::from_fn(move || arriving.blocking_recv()));
        // A reply that is there sooner than the body is given without it.
        return match select(pin!(finish(&api, pending)), pin!(feed(body, pieces))).await {
            Either::Left((response, _)) => response,
            Either::Right(((), response)) => response.await,
        };
    }
    if request.takes_body() {
        let body = timeout(BODY_DEADLINE, read(body)).await;
        request = request.body_read(body.unwrap_or(Err(BodyError::TooSlow)));
    }
    finish(&api, api.start(request)).await
}

/// The response, when the reply is there.
async fn finish(api: &Api, pending: Pending<Reply>) -> Response {
    let reply = pending.resolve(spawn_blocking).await;
    response(reply.unwrap_or_else(|_| api.refuse(Failure::Internal, &Request::new("", ""))))
}

/// Hands over the pieces of a body, as far as they are wanted. An empty one is the end.
async fn feed(body: Body, pieces: Sender<Result<Vec<u8>, BodyError>>) {
    let body = body.into_data_stream();
    let mut body = pin!(body.try_filter(|piece| ready(!piece.is_empty())));
    loop {
        let piece = match timeout(BODY_DEADLINE, body.try_next()).await {
            Ok(Ok(piece)) => Ok(piece.map_or_else(Vec::new, Vec::from)),
            Ok(Err(_)) => Err(BodyError::Incomplete),
            Err(_) => Err(BodyError::TooSlow),
        };
        let is_last = piece.as_ref().map_or(true, Vec::is_empty);
        if pieces.send(piece).await.is_err() || is_last {
            return;
        }
    }
}

/// The body. It is read no further than the piece that goes beyond the limit.
async fn read(body: Body) -> Result<Vec<u8>, BodyError> {
    let mut pieces = body.into_data_stream();
    let mut bytes = Vec::new();
    while let Some(piece) = pieces.try_next().await.map_err(|_| BodyError::Incomplete)? {
        bytes.extend_from_slice(&piece);
        bytes = within_limit(bytes)?;
    }
    Ok(bytes)
}

/// The response of a reply. For `HEAD`, axum leaves the body out and keeps its length.
fn response(reply: Reply) -> Response {
    let mut response = Response::builder().status(reply.status);
    for (name, value) in reply.headers {
        response = response.header(name, value.as_ref());
    }
    let body = match reply.body {
        contract::Body::Whole(bytes) => Body::from(bytes),
        contract::Body::Streamed(chunks) => stream(chunks),
    };
    // The core's status codes and headers are well-formed, so nobody gets to see this one.
    let failure = |_| StatusCode::INTERNAL_SERVER_ERROR.into_response();
    response.body(body).unwrap_or_else(failure)
}

/// Reads each piece, on a thread that may block, when the client has taken the one before.
/// An error ends the stream without its end mark, by which the client can tell.
fn stream(chunks: Chunks) -> Body {
    Body::from_stream(stream::try_unfold(chunks, |mut chunks| async {
        let (piece, chunks) = spawn_blocking(move || (chunks.next(), chunks)).await?;
        Ok::<_, BoxError>(piece.transpose()?.map(|bytes| (bytes, chunks)))
    }))
}
