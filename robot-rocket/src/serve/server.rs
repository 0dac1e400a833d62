//! What all connections of a server share, and the answer to each request: by a mounted catalogue, or by Rocket.

use std::{future::poll_fn, net::SocketAddr, sync::Arc};

use http_body_util::BodyDataStream;
use hyper::{
    Method, Request, Response,
    body::{Body as _, Incoming},
    header::{CONNECTION, HeaderValue},
    http::request::Parts,
};
use robot_core::http::Failure;
use rocket::local::asynchronous::Client;
use tokio_util::sync::CancellationToken;

use super::{
    activity::Answer,
    admission::{Admission, LARGE_HEAD},
    application,
    record::RequestRecord,
    refusal::{self, head_size},
    response::{self, ResponseBody},
};
use crate::{
    body::{Content, RequestBody},
    routing::{Destination, Routing},
    settings::ConnectionLimits,
    tls::Certificates,
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
        poll_fn(|_| answer.0.poll_writable()).await;
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
        let body = match self.routing.destination(&head) {
            Destination::Catalogue(mounted) => {
                let info = &mut record.info;
                let identify = |id, labels| (info.request_id, info.labels) = (id, labels);
                return Ok(mounted.answer(head, body, identify).await);
            }
            Destination::Rocket(Some(limit)) => application::read_body(body, limit).await?,
            Destination::Rocket(None) => Vec::new(),
        };
        Ok(application::answer(&self.client, head, body, remote, record).await)
    }
}
