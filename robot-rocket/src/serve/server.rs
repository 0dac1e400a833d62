//! What all connections of a server share, and the answer to each request.

use std::{net::SocketAddr, panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt;
use http_body_util::BodyDataStream;
use hyper::{
    Method, Request, Response,
    body::{Body as _, Incoming},
    header::{CONNECTION, HeaderValue},
    http::request::Parts,
};
use robot_core::http::{Body, Failure};
use rocket::local::asynchronous::Client;

#[cfg(feature = "tls")]
use super::tls::Certificates;
use super::{
    activity::Answer,
    admission::{Admission, LARGE_HEAD},
    application,
    record::{Labels, RequestRecord},
    refusal::{Refusal, head_size},
    response::{self, Content, ResponseBody},
    routing::{Receiver, Routing},
    shutdown::Stopping,
};
use crate::{
    body::{ConnectionBody, RequestBody},
    mounted::Mounted,
    page,
    settings::ConnectionLimits,
};

/// A server that runs.
pub(super) struct Server {
    /// The launched application.
    pub(super) client: Arc<Client>,
    pub(super) routing: Routing,
    pub(super) admission: Arc<Admission>,
    pub(super) limits: ConnectionLimits,
    #[cfg(feature = "tls")]
    pub(super) certificates: Option<Certificates>,
    pub(super) stopping: Stopping,
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
        let response = match Refusal::of_head(&head) {
            Some(refusal) => Err(refusal),
            None => self.respond(head, &mut body, remote, &mut record).await,
        };
        let mut response =
            response.unwrap_or_else(|refusal| refusal.response().map(Content::Whole));
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
        body: &mut ConnectionBody,
        remote: SocketAddr,
        record: &mut RequestRecord,
    ) -> Result<Response<Content>, Refusal> {
        match self.routing.receiver(&head) {
            Receiver::Catalogue(mounted) => {
                Ok(answer_by_catalogue(mounted, head, body, record).await)
            }
            Receiver::Rocket { reads_body } => {
                let body = if reads_body {
                    application::read_body(body, self.routing.body_limit).await?
                } else {
                    Vec::new()
                };
                Ok(application::answer(&self.client, head, body, remote, record).await)
            }
        }
    }
}

async fn answer_by_catalogue(
    mounted: &Mounted,
    head: Parts,
    body: &mut ConnectionBody,
    record: &mut RequestRecord,
) -> Response<Content> {
    if let Some((route, response)) = page::answer(mounted, &head) {
        record.labels = Some(Labels::of_route(route));
        return response.map(Content::Whole);
    }
    let exchange = mounted.api.receive(head);
    record.request_id = exchange.request_id().clone();
    record.labels = Some(Labels::of(&exchange));
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
