//! Axum frontend of the robot catalogue, and a model for frontends on other web frameworks.
//!
//! A frontend passes the head of each request to [`Api::receive`], reads the body as the [`Exchange`]
//! says, runs the work that blocks on a blocking thread, and sends the response. The cases of
//! `robot_core::conformance` test it.

use std::{iter, pin::pin, time::Instant};

use axum::{
    BoxError, Router,
    body::Body,
    extract::{Request, State},
    response::Response,
};
use futures_util::{TryStreamExt, future, stream};
use robot_core::{
    Pending,
    http::{
        self, Api, BODY_LIMIT, BodyError, BodyMode, BodyTimer, Chunks, Exchange, Failure, Piece,
    },
};
use tokio::{sync::mpsc, task::spawn_blocking, time::timeout};

/// A router for every path and method, since the core decides which of them exist.
pub fn router(api: Api) -> Router {
    Router::new().fallback(answer).with_state(api)
}

async fn answer(State(api): State<Api>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let exchange = api.receive(head);
    let body = match exchange.body_mode() {
        BodyMode::Streamed => return answer_streamed(&exchange, body).await,
        BodyMode::Whole => timeout(exchange.body_deadline(), read(body)).await,
        BodyMode::None => Ok(Ok(Vec::new())),
    };
    let body = body.unwrap_or(Err(BodyError::TooSlow));
    let pending = exchange.answer([body, Ok(Vec::new())]);
    finish(&exchange, pending).await
}

/// Reads the body while the request is answered, and no further if the response is ready before.
async fn answer_streamed(exchange: &Exchange, body: Body) -> Response {
    let (sender, mut receiver) = mpsc::channel(4);
    let pending = exchange.answer(iter::from_fn(move || receiver.blocking_recv()));
    let finishing = pin!(finish(exchange, pending));
    let sending = pin!(send_pieces(body, exchange.body_timer(), sender));
    match future::select(finishing, sending).await {
        future::Either::Left((response, _)) => response,
        future::Either::Right(((), finishing)) => finishing.await,
    }
}

async fn finish(exchange: &Exchange, pending: Pending<http::Response>) -> Response {
    let response = pending.resolve(spawn_blocking).await;
    let response = response.unwrap_or_else(|_| exchange.reject(Failure::Internal));
    // For `HEAD`, axum omits the body and keeps its length.
    response.map(|body| match body {
        http::Body::Whole(bytes) => Body::from(bytes),
        http::Body::Streamed(chunks) => stream(chunks),
        http::Body::Events(events) => {
            let pieces = stream::unfold(events, |mut events| async {
                let piece = events.next().await?;
                Some((Ok::<_, BoxError>(piece), events))
            });
            Body::from_stream(pieces)
        }
    })
}

/// Reads a whole body, or the first piece beyond the limit.
async fn read(body: Body) -> Result<Vec<u8>, BodyError> {
    let mut pieces = body.into_data_stream();
    let mut bytes = Vec::new();
    while let Some(piece) = pieces.try_next().await.map_err(|_| BodyError::Incomplete)? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > BODY_LIMIT {
            return Err(BodyError::TooLarge);
        }
    }
    Ok(bytes)
}

/// Reads a body in pieces until its end, marked by an empty piece, an error, or the receiver is
/// dropped.
async fn send_pieces(body: Body, mut timer: BodyTimer, sender: mpsc::Sender<Piece>) {
    let body = body.into_data_stream();
    let mut body = pin!(body.try_filter(|piece| future::ready(!piece.is_empty())));
    loop {
        let started = Instant::now();
        let piece = match timeout(timer.next_timeout(), body.try_next()).await {
            Ok(Ok(piece)) => Ok(piece.map_or_else(Vec::new, Vec::from)),
            Ok(Err(_)) => Err(BodyError::Incomplete),
            Err(_) => Err(BodyError::TooSlow),
        };
        timer.record(started.elapsed(), piece.as_ref().map_or(0, Vec::len));
        let is_last = piece.as_ref().map_or(true, Vec::is_empty);
        if sender.send(piece).await.is_err() || is_last {
            return;
        }
    }
}

/// Reads each piece on a blocking thread when the client has received the previous one. An error
/// closes the connection without the end mark, so that the client can detect it.
fn stream(chunks: Chunks) -> Body {
    Body::from_stream(stream::try_unfold(chunks, |mut chunks| async {
        let (piece, chunks) = spawn_blocking(move || (chunks.next(), chunks)).await?;
        Ok::<_, BoxError>(piece.transpose()?.map(|bytes| (bytes, chunks)))
    }))
}
