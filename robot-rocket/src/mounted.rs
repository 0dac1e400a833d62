//! The catalogues that are mounted in an application.

use std::{
    iter,
    pin::pin,
    sync::{Arc, PoisonError, RwLock},
};

use bytes::Bytes;
use futures_util::{
    Stream,
    future::{Either, select},
};
use robot_core::http::{Api, BODY_LIMIT, BodyError, BodyMode, Exchange, Failure, Response};
use rocket::{
    Build, Rocket,
    tokio::{sync::mpsc, time::timeout},
};

use crate::{
    body::{ReadError, RequestBody},
    permits::BlockingPermits,
};

/// Number of pieces of a streamed body that are buffered. Only one, and the network and the database do
/// not work at the same time; higher, and each import uses more memory.
const PIECES: usize = 4;

/// A catalogue that is mounted under a base path.
#[derive(Clone)]
pub(crate) struct Mounted {
    /// Without a slash at its end.
    base: String,
    pub(crate) api: Api,
    pub(crate) permits: BlockingPermits,
}

impl Mounted {
    pub(crate) fn new(base: &str, api: Api, permits: BlockingPermits) -> Self {
        let base = base.trim_end_matches('/').to_owned();
        Self { base, api, permits }
    }

    /// The base path, without a slash at its end.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Whether a path is the base or below it.
    pub(crate) fn is_above(&self, path: &str) -> bool {
        let below = path.strip_prefix(&self.base);
        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }

    /// Answers a request. Reads as much of its body as the answer depends on.
    pub(crate) async fn answer<S, E>(
        &self,
        exchange: &Exchange,
        body: &mut RequestBody<S>,
    ) -> Response
    where
        S: Stream<Item = Result<Bytes, E>> + Unpin,
    {
        let id = exchange.request_id().as_str();
        let response = match exchange.body_mode() {
            BodyMode::Streamed => self.answer_streamed(exchange, body).await,
            BodyMode::Whole => {
                let read = timeout(exchange.body_deadline(), body.read_whole(BODY_LIMIT)).await;
                let body = read.map_or(Err(BodyError::TooSlow), |read| read.map_err(into_error));
                let pending = exchange.answer(body);
                pending.resolve(|work| self.permits.run(id, work)).await
            }
            BodyMode::None if exchange.is_costly() => {
                let pending = exchange.answer(Ok(Vec::new()));
                pending
                    .resolve(|work| self.permits.run_costly(id, work))
                    .await
            }
            BodyMode::None => {
                let pending = exchange.answer(Ok(Vec::new()));
                pending.resolve(|work| self.permits.run(id, work)).await
            }
        };
        response.unwrap_or_else(|failure| exchange.reject(failure))
    }

    /// Reads the body while the request is answered.
    async fn answer_streamed<S, E>(
        &self,
        exchange: &Exchange,
        body: &mut RequestBody<S>,
    ) -> Result<Response, Failure>
    where
        S: Stream<Item = Result<Bytes, E>> + Unpin,
    {
        let (sender, mut receiver) = mpsc::channel(PIECES);
        let pending = exchange.answer_streamed(iter::from_fn(move || receiver.blocking_recv()));
        let id = exchange.request_id().as_str();
        let answering = pin!(pending.resolve(|work| self.permits.run_slow(id, work)));
        // If the sender is dropped without an end mark, the body is incomplete.
        let sending = pin!(body.send_pieces(exchange.body_timer(), sender));
        // The rest of the body is not read if the response is ready before.
        match select(answering, sending).await {
            Either::Left((response, _)) => response,
            Either::Right(((), answering)) => answering.await,
        }
    }
}

fn into_error(error: ReadError) -> BodyError {
    match error {
        ReadError::TooLarge => BodyError::TooLarge,
        ReadError::Incomplete => BodyError::Incomplete,
    }
}

/// The catalogues of an application.
#[derive(Clone, Default)]
pub(crate) struct Catalogues(Arc<RwLock<Vec<Mounted>>>);

impl Catalogues {
    /// Adds a catalogue to those of an application.
    pub(crate) fn add(rocket: Rocket<Build>, mounted: Mounted) -> Rocket<Build> {
        let known = rocket.state::<Self>().cloned();
        let is_new = known.is_none();
        let catalogues = known.unwrap_or_default();
        let mut all = catalogues.0.write().unwrap_or_else(PoisonError::into_inner);
        all.push(mounted);
        drop(all);
        if is_new {
            rocket.manage(catalogues)
        } else {
            rocket
        }
    }

    /// All catalogues, those with the longest base first.
    pub(crate) fn deepest_first(&self) -> Vec<Mounted> {
        let mut all = self
            .0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        all.sort_by_key(|mounted| std::cmp::Reverse(mounted.base.len()));
        all
    }
}
