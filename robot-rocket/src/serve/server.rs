//! What all connections of a server share, and the answer to each request: by a mounted catalogue, or by Rocket.

use std::{collections::HashMap, net::SocketAddr, panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt;
use http_body_util::BodyDataStream;
use hyper::{
    Method, Request, Response,
    body::{Body as _, Incoming},
    header::{CONNECTION, HeaderValue},
    http::request::Parts,
};
use robot_core::http::{Body, Failure};
use rocket::{Orbit, Rocket, Route, data::ByteUnit, local::asynchronous::Client};
use tokio_util::sync::CancellationToken;

use super::{
    activity::Answer,
    admission::{Admission, LARGE_HEAD},
    application,
    record::RequestRecord,
    refusal::{self, head_size},
    response::{self, Content, ResponseBody},
};
use crate::tls::Certificates;
use crate::{
    body::RequestBody,
    metrics::Labels,
    mounted::{Catalogues, Mounted},
    page, routes,
    settings::ConnectionLimits,
};

/// A server that runs.
pub(super) struct Server {
    /// The launched application.
    pub(super) client: Arc<Client>,
    pub(super) routing: Routing,
    pub(super) admission: Arc<Admission>,
    pub(super) limits: ConnectionLimits,
    pub(super) certificates: Option<Certificates>,
    /// Cancelled when the server stops.
    pub(super) stopping: CancellationToken,
}

impl Server {
    /// Answers a request, once earlier responses have been sent.
    pub(super) async fn answer(
        &self,
        request: Request<Incoming>,
        remote: SocketAddr,
        answer: Answer,
    ) -> Response<ResponseBody> {
        answer.activity.writable().await;
        let (head, body) = request.into_parts();
        let is_head = head.method == Method::HEAD;
        let has_large_head = head_size(&head) > LARGE_HEAD;
        let mut body = RequestBody::new(body.is_end_stream(), BodyDataStream::new(body));
        let ip_header = self.client.rocket().config().ip_header.as_ref();
        let ip_header = ip_header.map(|header| header.as_str());
        let mut record = RequestRecord::start(Some(&head), remote, ip_header);
        let response = self.respond(head, &mut body, remote, &mut record).await;
        let mut response =
            response.unwrap_or_else(|failure| refusal::response(failure).map(Content::Whole));
        // What is left of the body, and a large buffer, are not kept for further requests.
        if has_large_head || !body.is_complete() {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        record.start_response(response.status(), response.headers_mut());
        response::with_body(response, is_head, record, answer)
    }

    async fn respond(
        &self,
        head: Parts,
        body: &mut RequestBody<'_>,
        remote: SocketAddr,
        record: &mut RequestRecord,
    ) -> Result<Response<Content>, Failure> {
        refusal::check(&head)?;
        if let Some(mounted) = self.routing.catalogue(&head) {
            return Ok(answer_by_catalogue(mounted, head, body, record).await);
        }
        let body = if self.routing.reads_body(&head) {
            application::read_body(body, self.routing.body_limit).await?
        } else {
            Vec::new()
        };
        Ok(application::answer(&self.client, head, body, remote, record).await)
    }
}

async fn answer_by_catalogue(
    mounted: &Mounted,
    head: Parts,
    body: &mut RequestBody<'_>,
    record: &mut RequestRecord,
) -> Response<Content> {
    if let Some((route, response)) = page::answer(mounted, &head) {
        record.info.labels = Labels::of_route(route);
        return response.map(Content::Whole);
    }
    let exchange = mounted.api.receive(head);
    record.info.request_id = exchange.request_id().clone();
    record.info.labels = Labels::of(&exchange);
    let answer = AssertUnwindSafe(mounted.answer(&exchange, body)).catch_unwind();
    let response = answer
        .await
        .unwrap_or_else(|_| exchange.reject(Failure::Internal));
    response.map(|body| match body {
        Body::Whole(bytes) => Content::Whole(bytes.into()),
        Body::Streamed(chunks) => {
            let id = exchange.request_id().clone();
            Content::Streamed(Box::pin(mounted.permits.pieces(chunks, id)), None)
        }
    })
}

/// The receivers of requests.
pub(super) struct Routing {
    routes: Vec<OtherRoute>,
    /// The deepest first.
    catalogues: Vec<Mounted>,
    /// The maximum size of a body for Rocket: the greatest of its limits.
    pub(super) body_limit: usize,
}

/// A route that takes precedence over a catalogue.
struct OtherRoute {
    method: String,
    /// The path up to its first parameter, without a slash at its end.
    start: String,
    has_parameters: bool,
    reads_body: bool,
}

impl Routing {
    pub(super) fn of(rocket: &Rocket<Orbit>) -> Self {
        let limits: HashMap<String, ByteUnit> =
            rocket.figment().extract_inner("limits").unwrap_or_default();
        let limit = limits.values().max().map_or(0, |limit| limit.as_u64());
        let catalogues = rocket.state().map(Catalogues::all);
        Self {
            routes: rocket.routes().filter_map(OtherRoute::of).collect(),
            catalogues: catalogues.unwrap_or_default(),
            body_limit: limit.try_into().unwrap_or(usize::MAX),
        }
    }

    /// The catalogue that answers a request; `None` if Rocket does.
    fn catalogue(&self, head: &Parts) -> Option<&Mounted> {
        if self.routes.iter().any(|route| route.may_match(head)) {
            return None;
        }
        let path = head.uri.path();
        let mut catalogues = self.catalogues.iter();
        catalogues.find(|catalogue| catalogue.is_above(path))
    }

    /// Whether Rocket may need the body of a request.
    fn reads_body(&self, head: &Parts) -> bool {
        let routes = self.routes.iter();
        let mut matching = routes.filter(|route| route.may_match(head)).peekable();
        matching.peek().is_none() || matching.any(|route| route.reads_body)
    }
}

impl OtherRoute {
    /// `None` for the routes of a catalogue.
    fn of(route: &Route) -> Option<Self> {
        let path = route.uri.path();
        let start = path.split('<').next().unwrap_or_default();
        (route.rank < routes::FIRST_RANK).then(|| Self {
            method: route.method.as_str().to_owned(),
            start: start.trim_end_matches('/').to_owned(),
            has_parameters: start.len() < path.len(),
            reads_body: routes::reads_body(route),
        })
    }

    /// Whether the request may be one of this route. Its path is compared as it is written: below a catalogue, a
    /// needlessly encoded path is one of the catalogue.
    fn may_match(&self, head: &Parts) -> bool {
        let is_read = matches!(self.method.as_str(), "GET" | "HEAD");
        // Rocket answers `HEAD` by `GET`, and a field of a form may change the method.
        let has_method = head.method == self.method.as_str()
            || head.method == Method::HEAD && is_read
            || head.method == Method::POST && !is_read;
        let rest = head.uri.path().strip_prefix(&self.start);
        has_method
            && rest.is_some_and(|rest| match rest {
                "" | "/" => true,
                rest => self.has_parameters && rest.starts_with('/'),
            })
    }
}
