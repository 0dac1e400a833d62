//! Rocket routes that pass every path and method under the base to the core.

use std::{
    iter,
    pin::pin,
    time::{Duration, Instant},
};

use futures_util::future::{Either, select};
use robot_core::http::{
    Api, BODY_LIMIT, BodyError, BodyMode, BodyTimer, Exchange, Failure, IMPORT_LIMIT, Reply,
};
use rocket::{
    Data, Request, Route,
    data::ToByteUnit,
    http::Method,
    route::{Handler, Outcome},
    tokio::{io::AsyncReadExt, sync::mpsc, time::timeout},
};

use crate::{
    forms::{ends_early, true_method},
    permits::BlockingPermits,
    rank,
    reply::response,
};

/// After the routes of applications and the static files.
const RANK: isize = 3000;

/// Size of the pieces of a streamed body, in bytes. Lower, and an import switches threads more often;
/// higher, and each import uses more memory. One record of an import fits.
const PIECE: usize = 64 * 1024;

/// Number of pieces that are buffered: more than one, so that the network and the database work at the
/// same time. Higher, and each import uses more memory.
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
            route.name = Some("robots".into());
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
        let exchange = self.api.receive(core_request(method.as_str(), request));
        let reply = if exchange.body_mode() == BodyMode::Streamed {
            self.answer_streamed(&exchange, data, ends_early).await
        } else {
            let body = match exchange.body_mode() {
                _ if ends_early => Err(BodyError::Incomplete),
                BodyMode::Whole => read(data, exchange.body_deadline()).await,
                _ => Ok(Vec::new()),
            };
            let pending = exchange.answer(body);
            pending.resolve(|work| self.permits.run(work)).await
        };
        let reply = reply.unwrap_or_else(|failure| exchange.reject(failure));
        Outcome::Success(response(reply, &self.permits))
    }
}

impl ApiHandler {
    /// Reads the body while the request is answered.
    async fn answer_streamed(
        &self,
        exchange: &Exchange,
        data: Data<'_>,
        ends_early: bool,
    ) -> Result<Reply, Failure> {
        let (sender, mut receiver) = mpsc::channel(PIECES);
        let pending = exchange.answer_streamed(iter::from_fn(move || receiver.blocking_recv()));
        let answering = pending.resolve(|work| self.permits.run_slow(work));
        let timer = exchange.body_timer();
        let sending = async move {
            // If the sender is dropped without an end mark, the body is incomplete.
            if !ends_early {
                send_pieces(data, timer, sender).await;
            }
        };
        // The rest of the body is not read if the reply is ready before.
        match select(pin!(answering), pin!(sending)).await {
            Either::Left((reply, _)) => reply,
            Either::Right(((), answering)) => answering.await,
        }
    }
}

/// Reads a body in pieces until its end, an error, or the receiver is dropped.
async fn send_pieces(
    data: Data<'_>,
    mut timer: BodyTimer,
    sender: mpsc::Sender<Result<Vec<u8>, BodyError>>,
) {
    let mut body = data.open((IMPORT_LIMIT + 1).bytes());
    loop {
        let mut piece = vec![0; PIECE];
        let started = Instant::now();
        let piece = match timeout(timer.next_timeout(), body.read(&mut piece)).await {
            Ok(Ok(length)) => {
                piece.truncate(length);
                Ok(piece)
            }
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

/// Reads a whole body, or one byte more than the limit.
async fn read(data: Data<'_>, deadline: Duration) -> Result<Vec<u8>, BodyError> {
    let body = data.open((BODY_LIMIT + 1).bytes()).into_bytes();
    match timeout(deadline, body).await {
        Ok(Ok(bytes)) => Ok(bytes.into_inner()),
        Ok(Err(_)) => Err(BodyError::Incomplete),
        Err(_) => Err(BodyError::TooSlow),
    }
}

/// The core's request, without a body.
pub(crate) fn core_request(method: &str, request: &Request<'_>) -> robot_core::http::Request {
    let uri = request.uri();
    let path = uri.path().as_str();
    let target = match uri.query() {
        Some(query) => [path, "?", query.as_str()].concat(),
        None => path.to_owned(),
    };
    let mut core_request = robot_core::http::Request::new(method, target);
    for header in request.headers().iter() {
        core_request.header(header.name.as_str(), header.value.as_bytes());
    }
    // HTTP/2, which an application may enable in Rocket, has the host outside of the headers.
    if !request.headers().contains("host")
        && let Some(host) = request.host()
    {
        core_request.header("host", host.to_string().as_bytes());
    }
    core_request
}
