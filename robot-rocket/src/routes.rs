//! The routes: every path and method under the base goes to the core, which knows them.

use robot_core::{
    Pending,
    http::{Api, BODY_DEADLINE, BODY_LIMIT, BodyError, within_limit},
};
use rocket::{
    Data, Request, Route,
    data::ToByteUnit,
    http::Method,
    route::{Handler, Outcome},
    tokio::time::timeout,
};

use crate::{
    forms::{broke_off, true_method},
    rank,
    reply::response,
    threads::BlockingThreads,
};

/// Behind the routes of applications, and behind the static files.
const RANK: isize = 3000;

/// A route for each method that Rocket knows. Those that it does not know end in the catchers.
pub(crate) fn all(base: &str, api: &Api, threads: &BlockingThreads) -> Vec<Route> {
    [
        Method::Get,
        Method::Head,
        Method::Post,
        Method::Put,
        Method::Delete,
        Method::Options,
        Method::Patch,
        Method::Trace,
        Method::Connect,
    ]
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
        let body = if broke_off {
            Err(BodyError::Incomplete)
        } else if asked.takes_body() {
            read(data).await
        } else {
            Ok(Vec::new())
        };
        let reply = match self.api.start(asked.body_read(body)) {
            Pending::Ready(reply) => reply,
            Pending::Awaited(reply) => reply.await,
            Pending::Blocking(work) => match self.threads.run(work).await {
                Ok(reply) => reply,
                Err(failure) => self
                    .api
                    .refuse(failure, &question(method.as_str(), request)),
            },
        };
        Outcome::Success(response(reply, &self.threads))
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
