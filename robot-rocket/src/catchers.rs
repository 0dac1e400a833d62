//! The catchers: what Rocket fails at by itself, in the contract's shape.

use robot_core::http::{Api, Failure};
use rocket::{
    Catcher, Request,
    catcher::{Handler, Result},
    http::Status,
};

use crate::{reply, routes::question, threads::BlockingThreads};

/// The catchers for the errors that can come up under the base.
pub(crate) fn all(api: &Api, threads: &BlockingThreads) -> Vec<Catcher> {
    [400, 500]
        .map(|code| Catcher::new(code, InTheContractsShape(api.clone(), threads.clone())))
        .into()
}

#[derive(Clone)]
struct InTheContractsShape(Api, BlockingThreads);

#[rocket::async_trait]
impl Handler for InTheContractsShape {
    async fn handle<'r>(&self, status: Status, request: &'r Request<'_>) -> Result<'r> {
        let Self(api, threads) = self;
        let failure = if status != Status::BadRequest {
            Failure::Internal
        } else if request.route().is_some() {
            Failure::Malformed(vec!["The request cannot be understood".into()])
        } else {
            // Rocket routes no request whose method it does not know. No path takes such a
            // method, whichever it is, so the store is not asked and nothing blocks.
            let reply = api.handle(question("unknown", request));
            return Ok(reply::unseen_by_fairings(reply, threads));
        };
        Ok(reply::response(
            api.refuse(failure, &question("unknown", request)),
            threads,
        ))
    }
}
