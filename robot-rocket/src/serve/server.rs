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

#[cfg(feature = "tls")]
use super::tls::Certificates;
use super::{
    activity::{Activity, Answer},
    admission::{Admission, LARGE_HEAD},
    application::Application,
    record::{Labels, RequestRecord},
    refusal::{Refusal, head_size},
    response::{self, Content, ResponseBody},
    shutdown::Stopping,
};
use crate::{body::RequestBody, mounted::Mounted, settings::ConnectionLimits};

/// A server that runs.
pub(super) struct Server {
    pub(super) application: Application,
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
        activity: &Arc<Activity>,
        answer: Answer,
    ) -> Response<ResponseBody> {
        activity.writable().await;
        let (head, body) = request.into_parts();
        let is_head = head.method == Method::HEAD;
        let has_large_head = head_size(&head) > LARGE_HEAD;
        let mut body = RequestBody::new(body.is_end_stream(), BodyDataStream::new(body));
        let mut record = RequestRecord::start(&head, remote, self.application.ip_header());
        let mut response = if let Some(refusal) = Refusal::of_head(&head) {
            refusal.response().map(Content::Whole)
        } else if let Some(mounted) = self.application.catalogue(&head) {
            answer_by_catalogue(mounted, head, &mut body, &mut record).await
        } else {
            let application = &self.application;
            application
                .answer(head, &mut body, remote, &mut record)
                .await
        };
        // What is left of the body, and a large buffer, are not kept for further requests.
        if has_large_head || !body.is_complete() {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        record.start_response(response.status(), response.headers_mut());
        response::with_body(response, is_head, record, (answer, Arc::clone(activity)))
    }
}

async fn answer_by_catalogue(
    mounted: &Mounted,
    head: Parts,
    body: &mut RequestBody<BodyDataStream<Incoming>>,
    record: &mut RequestRecord,
) -> Response<Content> {
    let exchange = mounted.api.receive(head);
    record.set_request_id(exchange.request_id());
    record.set_labels(Labels::of(&exchange));
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
