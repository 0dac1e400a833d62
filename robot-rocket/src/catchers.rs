//! Catchers that give Rocket's own errors the contract's shape.

use hyper::StatusCode;
use robot_core::http::{Api, Failure};
use rocket::{
    Catcher, Request,
    catcher::{Handler, Result},
    http::Status,
};

use crate::{
    permits::BlockingPermits,
    reply,
    routes::head,
    serve::{Labels, Received, Refusal},
};

/// The catchers for the errors that occur under the base.
pub(crate) fn all(api: &Api, permits: &BlockingPermits) -> Vec<Catcher> {
    [400, 500]
        .map(|code| Catcher::new(code, ContractError(api.clone(), permits.clone())))
        .into()
}

#[derive(Clone)]
struct ContractError(Api, BlockingPermits);

#[rocket::async_trait]
impl Handler for ContractError {
    async fn handle<'r>(&self, status: Status, request: &'r Request<'_>) -> Result<'r> {
        let Self(api, permits) = self;
        let exchange = api.receive(head("unknown", request));
        if let Some(received) = Received::of(request) {
            received.set_labels(|| Labels::of(&exchange));
        }
        if let Some(refusal) = Refusal::of_request(request) {
            let failure = Failure::Malformed(vec![refusal.message.into()]);
            let mut reply = exchange.reject(failure);
            *reply.status_mut() = StatusCode::from_u16(refusal.status).unwrap_or_default();
            return Ok(reply::response_without_fairings(reply, permits));
        }
        let failure = if status != Status::BadRequest {
            Failure::Internal
        } else if request.route().is_some() {
            Failure::Malformed(vec![Refusal::MALFORMED.message.into()])
        } else {
            // Rocket does not route a request with a method that it does not know. No path takes
            // such a method, so the answer needs no store and does not block.
            let reply = exchange.answer(Ok(Vec::new())).wait();
            return Ok(reply::response_without_fairings(reply, permits));
        };
        Ok(reply::response(exchange.reject(failure), permits))
    }
}
