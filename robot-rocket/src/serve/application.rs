//! The application behind the server: the catalogues that are mounted in it, and a launched Rocket for all
//! other requests.

use std::{
    future::{Future, poll_fn},
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use futures_util::{FutureExt, future::Fuse, stream};
use hyper::{
    HeaderMap, Response, StatusCode,
    header::{HeaderName, HeaderValue},
    http::request::Parts,
};
use robot_core::http::RequestId;
use rocket::{
    fairing::AdHoc,
    local::asynchronous::{Client, LocalResponse},
    tokio::{io::AsyncReadExt, sync::mpsc, time::timeout},
};

use super::{
    record::{LabelSlot, Labels, RequestRecord},
    refusal::Refusal,
    request,
    response::Content,
    routing::{Receiver, Routing},
};
use crate::{
    body::{ConnectionBody, ReadError},
    mounted::Mounted,
};

/// How long a client may take to send a body to a route of the application. Shorter, and large bodies over
/// slow networks are rejected; longer, and slow clients occupy memory.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The maximum size of a body that is passed on as a whole, and of a piece of a longer one, in bytes. Lower, and
/// sending costs more system calls; higher, and a client that does not read keeps more memory.
const WHOLE: usize = 16 * 1024;

/// A launched application.
pub(super) struct Application {
    client: Arc<Client>,
    routing: Routing,
}

/// Determines the sizes of bodies that know theirs only when asked, such as files, and records the routes of an
/// application that record nothing themselves.
pub(super) fn fairing() -> AdHoc {
    AdHoc::on_response("robot-rocket: sizes and routes", |request, response| {
        Box::pin(async move {
            Labels::set(request, || Labels::of_route(request));
            response.body_mut().size().await;
        })
    })
}

impl Application {
    pub(super) fn new(client: Client) -> Self {
        Self {
            routing: Routing::of(client.rocket()),
            client: Arc::new(client),
        }
    }

    /// The header with the address of the client behind a proxy.
    pub(super) fn ip_header(&self) -> Option<&str> {
        let header = self.client.rocket().config().ip_header.as_ref();
        header.map(|header| header.as_str())
    }

    /// The catalogue that answers a request, unless a route of Rocket does.
    pub(super) fn catalogue(&self, head: &Parts) -> Option<&Mounted> {
        match self.routing.receiver(head) {
            Receiver::Catalogue(mounted) => Some(mounted),
            Receiver::Rocket { .. } => None,
        }
    }

    /// Answers a request by Rocket, which gets the whole body if a route may read it.
    pub(super) async fn answer(
        &self,
        mut head: Parts,
        body: &mut ConnectionBody,
        remote: SocketAddr,
        record: &mut RequestRecord,
    ) -> Response<Content> {
        let mut bytes = Vec::new();
        if let Receiver::Rocket { reads_body: true } = self.routing.receiver(&head) {
            let read = timeout(BODY_TIMEOUT, body.read_whole(self.routing.body_limit));
            let refusal = match read.await {
                Ok(Ok(whole)) => {
                    bytes = whole;
                    None
                }
                Ok(Err(ReadError::TooLarge)) => Some(Refusal::BODY_TOO_LARGE),
                Ok(Err(ReadError::Incomplete)) => Some(Refusal::MALFORMED),
                Err(_) => Some(Refusal::BODY_TOO_SLOW),
            };
            if let Some(refusal) = refusal {
                return refusal.response().map(Content::Whole);
            }
        }
        if let Ok(id) = HeaderValue::from_str(record.request_id().as_str()) {
            head.headers.insert(RequestId::HEADER, id);
        }
        let labels = LabelSlot::default();
        let slot = Arc::clone(&labels);
        let response = respond(Arc::clone(&self.client), head, remote, bytes, slot).await;
        if let Some(labels) = labels.get() {
            record.set_labels(labels.clone());
        }
        response
    }

    /// Runs the fairings for shutdown, unless a handler blocks its thread.
    pub(super) async fn terminate(self) {
        if let Some(client) = Arc::into_inner(self.client) {
            client.terminate().await;
        }
    }
}

/// What a dispatched request hands over.
enum Part {
    Head(Response<Option<Bytes>>, Option<usize>),
    Piece(io::Result<Bytes>),
}

/// A request that is dispatched, and the parts of its response. Rocket's response borrows from the request, so
/// that it cannot leave the future.
struct Dispatched {
    producer: Fuse<Pin<Box<dyn Future<Output = ()> + Send>>>,
    parts: mpsc::Receiver<Part>,
}

impl Dispatched {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Part>> {
        match self.parts.poll_recv(context) {
            Poll::Pending => {}
            ready @ Poll::Ready(_) => return ready,
        }
        // If it ends, the receiver says so.
        let _ = self.producer.poll_unpin(context);
        self.parts.poll_recv(context)
    }
}

/// Dispatches a request.
async fn respond(
    client: Arc<Client>,
    head: Parts,
    remote: SocketAddr,
    body: Vec<u8>,
    labels: LabelSlot,
) -> Response<Content> {
    let (sender, parts) = mpsc::channel(1);
    let producer: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move {
        let mut local = request::local(&client, &head, remote);
        drop(head);
        local.set_body(body);
        local.inner().local_cache(|| Some(labels));
        let response = local.dispatch().await;
        produce(response, sender).await;
    });
    let mut dispatched = Dispatched {
        producer: producer.fuse(),
        parts,
    };
    let Some(Part::Head(head, size)) = poll_fn(|context| dispatched.poll_next(context)).await
    else {
        return Response::new(Content::Whole(Bytes::new()));
    };
    head.map(|whole| {
        if let Some(bytes) = whole {
            return Content::Whole(bytes);
        }
        let pieces = stream::poll_fn(move |context| {
            dispatched.poll_next(context).map(|part| match part? {
                Part::Piece(piece) => Some(piece),
                Part::Head(..) => None,
            })
        });
        Content::Streamed(Box::pin(pieces), size)
    })
}

/// Hands over a response, in pieces if it is long or has no known size.
async fn produce(mut response: LocalResponse<'_>, sender: mpsc::Sender<Part>) {
    let mut head = Response::new(None);
    let status = StatusCode::from_u16(response.status().code);
    *head.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *head.headers_mut() = headers(&response);
    let size = response.body().preset_size();
    if let Some(size) = size.filter(|size| *size <= WHOLE) {
        let mut bytes = Vec::with_capacity(size);
        if response.read_to_end(&mut bytes).await.is_ok() && bytes.len() == size {
            *head.body_mut() = Some(bytes.into());
        }
    }
    let is_whole = head.body().is_some();
    if sender.send(Part::Head(head, size)).await.is_err() || is_whole {
        return;
    }
    let mut buffer = BytesMut::new();
    // The next piece is read when the previous one has been taken.
    while let Ok(permit) = sender.reserve().await {
        buffer.reserve(WHOLE);
        let piece = match response.read_buf(&mut buffer).await {
            Ok(0) => return,
            Ok(_) => Ok(buffer.split().freeze()),
            Err(error) => Err(error),
        };
        permit.send(Part::Piece(piece));
    }
}

/// The headers. Those that HTTP does not allow are omitted.
fn headers(response: &LocalResponse<'_>) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(response.headers().len() + 2);
    for header in response.headers().iter() {
        let name = HeaderName::from_bytes(header.name.as_str().as_bytes());
        let value = HeaderValue::from_str(header.value());
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        } else {
            tracing::error!("the response has an invalid header: {}", header.name);
        }
    }
    headers
}
