//! The catalogues that are mounted in an application, and their answers to requests.

use std::{
    cmp::Reverse,
    iter,
    panic::AssertUnwindSafe,
    pin::pin,
    sync::{Arc, PoisonError, RwLock},
};

use futures_util::{
    FutureExt,
    future::{Either, select},
    stream,
};
use hyper::{Response, http::request::Parts};
use robot_core::{
    StoreFiles,
    http::{self, Api, BODY_LIMIT, Body, BodyMode, Exchange, Failure, RequestId},
};
use rocket::{Build, Rocket, tokio::sync::mpsc};

use crate::{
    body::{Content, RequestBody},
    import_client::ImportClient,
    metrics::Labels,
    page,
    permits::BlockingPermits,
};

/// Number of pieces of a streamed body that are buffered. Only one, and the network and the database do
/// not work at the same time; higher, and each import uses more memory.
const PIECES: usize = 3;

/// A catalogue that is mounted under a base path.
#[derive(Clone)]
pub(crate) struct Mounted {
    /// The base path, without a slash at its end.
    pub(crate) base: String,
    pub(crate) api: Api,
    pub(crate) permits: BlockingPermits,
    pub(crate) files: StoreFiles,
}

impl Mounted {
    /// Whether a path is the base or below it.
    pub(crate) fn is_above(&self, path: &str) -> bool {
        let below = path.strip_prefix(&self.base);
        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }

    /// Answers a request, by the page or the API. Reads as much of its body as the answer depends on. The id and the
    /// labels of the request are passed on before.
    pub(crate) async fn answer(
        &self,
        head: Parts,
        body: &mut RequestBody<'_>,
        identify: impl FnOnce(RequestId, Labels),
    ) -> Response<Content> {
        if let Some((route, response)) = page::answer(&self.base, &self.api, &head) {
            identify(RequestId::of(&head.headers), Labels::of_route(route));
            return response.map(Content::Whole);
        }
        let exchange = self.api.receive(head);
        identify(exchange.request_id().clone(), Labels::of(&exchange));
        let answer = AssertUnwindSafe(self.answer_exchange(&exchange, body)).catch_unwind();
        let response = answer.await.unwrap_or(Err(Failure::Internal));
        let response = response.unwrap_or_else(|failure| exchange.reject(failure));
        self.content(response, exchange.request_id())
    }

    /// The response with the content that frontends send. A streamed one is read from the store on blocking threads.
    pub(crate) fn content(&self, response: http::Response, id: &RequestId) -> Response<Content> {
        response.map(|body| match body {
            Body::Whole(bytes) => Content::Whole(bytes.into()),
            Body::Streamed(chunks) => {
                Content::Streamed(Box::pin(self.permits.pieces(chunks, id.clone())), None)
            }
            Body::Events(events) => {
                let pieces = stream::unfold(events, |mut events| async {
                    let piece = events.next().await?;
                    Some((Ok(piece.into()), events))
                });
                Content::Streamed(Box::pin(pieces), None)
            }
        })
    }

    async fn answer_exchange(
        &self,
        exchange: &Exchange,
        body: &mut RequestBody<'_>,
    ) -> Result<http::Response, Failure> {
        let body = match exchange.body_mode() {
            BodyMode::Streamed => return self.answer_streamed(exchange, body).await,
            BodyMode::Whole => body.read_whole(BODY_LIMIT, exchange.body_deadline()).await,
            BodyMode::None => Ok(Vec::new()),
        };
        let pending = exchange.answer([body, Ok(Vec::new())]);
        pending
            .resolve(|work| self.permits.run(exchange, work))
            .await
    }

    /// Reads the body while the request is answered.
    async fn answer_streamed(
        &self,
        exchange: &Exchange,
        body: &mut RequestBody<'_>,
    ) -> Result<http::Response, Failure> {
        let (sender, mut receiver) = mpsc::channel(PIECES);
        let pending = exchange.answer(iter::from_fn(move || receiver.blocking_recv()));
        let client = Arc::<ImportClient>::default();
        let answering = pending.resolve(|work| self.permits.run_import(&client, exchange, work));
        let answering = pin!(answering);
        // If the sender is dropped without an end mark, the body is incomplete.
        let sending = pin!(body.send_pieces(exchange.body_timer(), sender, &client));
        // The rest of the body is not read if the response is ready before.
        match select(answering, sending).await {
            Either::Left((response, _)) => response,
            Either::Right(((), answering)) => answering.await,
        }
    }
}

/// The catalogues of an application, those with the longest base first, since one may be mounted below another.
#[derive(Default)]
pub(crate) struct Catalogues(RwLock<Vec<Mounted>>);

impl Catalogues {
    /// Adds a catalogue to those of an application.
    pub(crate) fn add(mut rocket: Rocket<Build>, mounted: Mounted) -> Rocket<Build> {
        if rocket.state::<Self>().is_none() {
            rocket = rocket.manage(Self::default());
        }
        if let Some(Self(all)) = rocket.state() {
            let mut all = all.write().unwrap_or_else(PoisonError::into_inner);
            all.push(mounted);
            all.sort_by_key(|mounted| Reverse(mounted.base.len()));
        }
        rocket
    }

    pub(crate) fn all(&self) -> Vec<Mounted> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.clone()
    }
}
