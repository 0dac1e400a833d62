//! The routes: every path and method under the base goes to the core, which knows them.

use std::{iter, pin::pin};

use futures_util::future::{Either, select};
use robot_core::{
    Pending,
    http::{Api, BODY_DEADLINE, BODY_LIMIT, BodyError, Failure, IMPORT_LIMIT, Reply, within_limit},
};
use rocket::{
    Data, Request, Route,
    data::ToByteUnit,
    http::Method,
    route::{Handler, Outcome},
    tokio::{
        io::AsyncReadExt,
        sync::mpsc::{self, Sender},
        time::timeout,
    },
};

use crate::{
    forms::{broke_off, true_method},
    rank,
    reply::response,
    threads::BlockingThreads,
};

/// Behind the routes of applications, and behind the static files.
const RANK: isize = 3000;

/// How many bytes of a body that is streamed are read at a time, and how many such pieces wait for
/// who takes them.
const PIECE: usize = 64 * 1024;
const PIECES: usize = 4;

/// Every method that Rocket knows. Requests of others end in the catchers.
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
pub(crate) fn all(base: &str, api: &Api, threads: &BlockingThreads) -> Vec<Route> {
    METHODS
        .into_iter()
        .map(|method| {
            let handler = ToTheApi {
                api: api.clone(),
                threads: threads.clone(),
            };
            let mut route = Route::ranked(rank(RANK, base), method, "/<path..>", handler);
            route.name = Some("robots".into());
            route
        })
        .collect()
}

#[derive(Clone)]
struct ToTheApi {
    api: Api,
    threads: BlockingThreads,
}

#[rocket::async_trait]
impl Handler for ToTheApi {
    async fn handle<'r>(&self, request: &'r Request<'_>, mut data: Data<'r>) -> Outcome<'r> {
        let broke_off = broke_off(&mut data).await;
        let method = true_method(request, &mut data).await;
        let asked = question(method.as_str(), request);
        if self.api.streams_body(&asked) {
            let reply = self.streamed(asked, data, broke_off).await;
            return Outcome::Success(response(reply, &self.threads));
        }
        let body = if broke_off {
            Err(BodyError::Incomplete)
        } else if asked.takes_body() {
            read(data).await
        } else {
            Ok(Vec::new())
        };
        let pending = self.api.start(asked.body_read(body));
        let reply = self.finish(pending).await;
        let reply = reply.unwrap_or_else(|failure| {
            let asked = question(method.as_str(), request);
            self.api.refuse(failure, &asked)
        });
        Outcome::Success(response(reply, &self.threads))
    }
}

impl ToTheApi {
    /// The reply, when it is there, or why there is none.
    async fn finish(&self, pending: Pending<Reply>) -> Result<Reply, Failure> {
        pending.resolve(|work| self.threads.run(work)).await
    }

    /// The reply to a request whose body is read while it is being answered.
    async fn streamed(
        &self,
        asked: robot_core::http::Request,
        data: Data<'_>,
        broke_off: bool,
    ) -> Reply {
        let (pieces, mut arriving) = mpsc::channel(PIECES);
        let body = iter::from_fn(move || arriving.blocking_recv());
        let pending = self.api.start_streamed(asked.clone(), body);
        let answering = pending.resolve(|work| self.threads.run_for_a_client(work));
        let feeding = async {
            if broke_off {
                // Pieces without an end are what that means.
                drop(pieces);
            } else {
                feed(data, pieces).await;
            }
        };
        // A reply that is there sooner than the body is given without it.
        let finished = match select(pin!(answering), pin!(feeding)).await {
            Either::Left((reply, _)) => reply,
            Either::Right(((), reply)) => reply.await,
        };
        finished.unwrap_or_else(|failure| self.api.refuse(failure, &asked))
    }
}

/// Reads a body piece by piece, as far as it is wanted.
async fn feed(data: Data<'_>, pieces: Sender<Result<Vec<u8>, BodyError>>) {
    let mut body = data.open((IMPORT_LIMIT + 1).bytes());
    loop {
        let mut piece = vec![0; PIECE];
        let piece = match timeout(BODY_DEADLINE, body.read(&mut piece)).await {
            Ok(Ok(length)) => {
                piece.truncate(length);
                Ok(piece)
            }
            Ok(Err(_)) => Err(BodyError::Incomplete),
            Err(_) => Err(BodyError::TooSlow),
        };
        let is_last = piece.as_ref().map_or(true, Vec::is_empty);
        if pieces.send(piece).await.is_err() || is_last {
            return;
        }
    }
}

/// The request as the core takes it, still without a body.
pub(crate) fn question(method: &str, request: &Request<'_>) -> robot_core::http::Request {
    let uri = request.uri();
    let path = uri.path().as_str();
    let target = match uri.query() {
        Some(query) => [path, "?", query.as_str()].concat(),
        None => path.to_owned(),
    };
    let mut question = robot_core::http::Request::new(method, target);
    for header in request.headers().iter() {
        question.header(header.name.as_str(), header.value.as_bytes());
    }
    // HTTP/2, which an application may have Rocket speak, names the host outside of the headers.
    if !request.headers().contains("host")
        && let Some(host) = request.host()
    {
        question.header("host", host.to_string().as_bytes());
    }
    question
}

/// The body, unless it is too long or too slow.
async fn read(data: Data<'_>) -> Result<Vec<u8>, BodyError> {
    let just_past_the_limit = (BODY_LIMIT + 1).bytes();
    match timeout(BODY_DEADLINE, data.open(just_past_the_limit).into_bytes()).await {
        Ok(Ok(bytes)) => within_limit(bytes.into_inner()),
        Ok(Err(_)) => Err(BodyError::Incomplete),
        Err(_) => Err(BodyError::TooSlow),
    }
}
