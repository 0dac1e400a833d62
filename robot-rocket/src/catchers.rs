//! Catchers that give Rocket's own errors the contract's shape.

use robot_core::http::Failure;
use rocket::{
    Catcher, Request,
    catcher::{Handler, Result},
    http::Status,
};

use crate::{
    mounted::Mounted,
    response::{convert, convert_without_fairings},
    routes::head,
    serve::Labels,
};

/// The catchers for the errors that occur under the base.
pub(crate) fn all(mounted: &Mounted) -> Vec<Catcher> {
    [400, 500]
        .map(|code| Catcher::new(code, ContractError(mounted.clone())))
        .into()
}

#[derive(Clone)]
struct ContractError(Mounted);

#[rocket::async_trait]
impl Handler for ContractError {
    async fn handle<'r>(&self, status: Status, request: &'r Request<'_>) -> Result<'r> {
        let Self(Mounted { api, permits, .. }) = self;
        let exchange = api.receive(head("unknown", request));
        Labels::set(request, || Labels::of(&exchange));
        if status == Status::BadRequest && request.route().is_none() {
            // Rocket does not route a request with a method that it does not know. No path takes
            // such a method, so the answer needs no store and does not block.
            let response = exchange.answer(Ok(Vec::new())).wait();
            return Ok(convert_without_fairings(response, permits));
        }
        let failure = if status == Status::BadRequest {
            Failure::Malformed(vec!["The request cannot be understood".into()])
        } else {
            Failure::Internal
        };
        Ok(convert(exchange.reject(failure), permits))
    }
}
