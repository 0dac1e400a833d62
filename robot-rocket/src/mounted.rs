//! The catalogues that are mounted in an application.

use std::{
    cmp::Reverse,
    iter,
    pin::pin,
    sync::{Arc, PoisonError, RwLock},
};

use futures_util::future::{Either, select};
use robot_core::{
    StoreFiles,
    http::{Api, BODY_LIMIT, BodyError, BodyMode, Exchange, Failure, Response},
};
use rocket::{
    Build, Rocket,
    tokio::{sync::mpsc, time::timeout},
};

use crate::{
    body::RequestBody,
    import_client::ImportClient,
    permits::{BlockingPermits, Work},
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

    /// Answers a request. Reads as much of its body as the answer depends on.
    pub(crate) async fn answer(&self, exchange: &Exchange, body: &mut RequestBody<'_>) -> Response {
        let body = match exchange.body_mode() {
            BodyMode::Streamed => {
                let response = self.answer_streamed(exchange, body).await;
                return response.unwrap_or_else(|failure| exchange.reject(failure));
            }
            BodyMode::Whole => timeout(exchange.body_deadline(), body.read_whole(BODY_LIMIT))
                .await
                .unwrap_or(Err(BodyError::TooSlow)),
            BodyMode::None => Ok(Vec::new()),
        };
        let kind = if exchange.is_costly() {
            Work::Costly
        } else {
            Work::Usual
        };
        let id = exchange.request_id().as_str();
        let pending = exchange.answer(body);
        let response = pending.resolve(|work| self.permits.run(kind, id, work));
        response
            .await
            .unwrap_or_else(|failure| exchange.reject(failure))
    }

    /// Reads the body while the request is answered.
    async fn answer_streamed(
        &self,
        exchange: &Exchange,
        body: &mut RequestBody<'_>,
    ) -> Result<Response, Failure> {
        let (sender, mut receiver) = mpsc::channel(PIECES);
        let pending = exchange.answer_streamed(iter::from_fn(move || receiver.blocking_recv()));
        let id = exchange.request_id().as_str();
        let client = Arc::<ImportClient>::default();
        let answering = pending.resolve(|work| self.permits.run_import(&client, id, work));
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
