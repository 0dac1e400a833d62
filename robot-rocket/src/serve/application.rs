//! The application behind the server: a launched Rocket, which answers requests.

use std::net::SocketAddr;

use bytes::Bytes;
use hyper::{
    Request, Response, StatusCode,
    body::Incoming,
    header::{HeaderValue, RETRY_AFTER},
};
use rocket::{http::Status, local::asynchronous::Client};

use super::{
    activity::Answer,
    buffering::{BufferedBody, Buffering},
    record::RequestRecord,
    refusal::Refusal,
    request::{self, Received},
    response::{self, BodyReader, ResponseBody},
};

/// A launched application.
pub(super) struct Application {
    client: Client,
    buffering: Buffering,
}

impl Application {
    pub(super) fn new(client: Client) -> Self {
        Self {
            buffering: Buffering::of(client.rocket()),
            client,
        }
    }

    /// Answers a request. If the body of the response is streamed, it comes from the reader.
    pub(super) async fn answer(
        &self,
        request: Request<Incoming>,
        remote: SocketAddr,
        answer: Answer,
    ) -> (Response<ResponseBody>, Option<BodyReader<'_>>) {
        let (parts, body) = request.into_parts();
        let mut record = RequestRecord::start(&parts.method, &parts.headers, remote);
        let method = parts.method.clone();
        let mut local = request::local(&self.client, &parts, remote);
        record.set_real_ip(local.real_ip());
        match self.buffering.read(&parts, &local, body).await {
            Ok(BufferedBody::Read(bytes)) => {
                local.set_body(bytes);
                Received::new(parts, None, &record).attach(&local);
            }
            Ok(BufferedBody::Unread(body)) => {
                Received::new(parts, Some(body), &record).attach(&local);
            }
            Err(refusal) => {
                let response = self.refusal(refusal, &mut record).await;
                let response = response.map(|body| ResponseBody::whole(body, answer, record));
                return (response, None);
            }
        }
        response::convert(local.dispatch().await, &method, answer, record).await
    }

    /// The answer without a request: that of the catcher for 400, or a text if this catcher does not
    /// know refusals.
    pub(super) async fn refusal(
        &self,
        refusal: Refusal,
        record: &mut RequestRecord,
    ) -> Response<Bytes> {
        let local = request::invalid(&self.client, "/");
        refusal.attach(&local);
        let caught = local.dispatch().await;
        let mut response = Response::new(Bytes::new());
        if caught.status() == Status::new(refusal.status) {
            *response.headers_mut() = response::headers(&caught);
            let body = caught.into_bytes().await;
            *response.body_mut() = body.unwrap_or_default().into();
        } else {
            *response.body_mut() = Bytes::from_static(refusal.message.as_bytes());
        }
        let status = StatusCode::from_u16(refusal.status);
        *response.status_mut() = status.unwrap_or(StatusCode::BAD_REQUEST);
        if refusal.status == 503 {
            let headers = response.headers_mut();
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        record.start_response(refusal.status, response.headers_mut());
        response
    }

    /// Runs the fairings for shutdown.
    pub(super) async fn terminate(self) {
        self.client.terminate().await;
    }
}
