//! Requests that a launched Rocket answers, through its local client.

use std::{io, net::SocketAddr, pin::Pin, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt};
use hyper::{
    Response, StatusCode,
    header::{COOKIE, HOST, HeaderName, HeaderValue},
    http::request::Parts,
};
use percent_encoding::{CONTROLS, utf8_percent_encode};
use robot_core::http::{BodyError, Failure};
use rocket::{
    fairing::AdHoc,
    http::{
        Cookie, Header, Method,
        uri::{Host, Origin},
    },
    local::asynchronous::{Client, LocalRequest, LocalResponse},
    response::stream::stream,
    tokio::io::AsyncReadExt,
};

use super::{record::RequestRecord, refusal};
use crate::{
    body::{Content, RequestBody},
    metrics::{LabelSlot, Labels},
};

/// How long a client may take to send a body to a route of the application. Shorter, and large bodies over
/// slow networks are rejected; longer, and slow clients occupy memory.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The maximum size of a piece of a response in bytes. Lower, and sending costs more system calls; higher, and a client
/// that does not read keeps more memory.
const PIECE: usize = 16 * 1024;

/// The visible ASCII characters that hyper permits in a path or query, but Rocket does not.
const NOT_PERMITTED: &str = r##""#<>[\]^`{|}"##;

/// Determines the sizes of bodies that know theirs only when asked, such as files, and records the routes of an
/// application that record nothing themselves.
pub(super) fn fairing() -> AdHoc {
    AdHoc::on_response("robot-rocket: sizes and routes", |request, response| {
        Box::pin(async move {
            Labels::set(request, || match request.route() {
                Some(route) => Labels::of_route(route.uri.to_string()),
                None => Labels::of_route(Labels::NO_ROUTE),
            });
            response.body_mut().size().await;
        })
    })
}

/// Reads the whole body for a route.
pub(super) async fn read_body(
    body: &mut RequestBody<'_>,
    limit: usize,
) -> Result<Vec<u8>, Failure> {
    let body = body.read_whole(limit, BODY_TIMEOUT).await;
    body.map_err(|error| match error {
        BodyError::TooLarge => Failure::TooMany(format!(
            "The body has more than {limit} bytes; send a shorter one"
        )),
        error => Failure::Body(error),
    })
}

/// The response of Rocket to a request.
pub(super) async fn answer(
    client: &Arc<Client>,
    mut head: Parts,
    body: Vec<u8>,
    remote: SocketAddr,
    record: &mut RequestRecord,
) -> Response<Content> {
    record.add_id(&mut head.headers);
    let labels = LabelSlot::default();
    let mut parts = dispatch(Arc::clone(client), head, body, remote, labels.clone());
    let first = parts.next().await;
    if let Some(labels) = labels.get() {
        record.info.labels = labels.clone();
    }
    let Some(ResponsePart::Head(head, size)) = first else {
        return refusal::response(refusal::malformed()).map(Content::Whole);
    };
    let pieces = parts.filter_map(async |part| match part {
        ResponsePart::Piece(piece) => Some(piece),
        ResponsePart::Head(..) => None,
    });
    head.map(|()| Content::Streamed(Box::pin(pieces), size))
}

/// A part of a response.
enum ResponsePart {
    /// The first one, with the size of the body, if it is known.
    Head(Response<()>, Option<usize>),
    Piece(io::Result<Bytes>),
}

/// Dispatches a request, and returns the parts of its response. Rocket's response borrows from the request, so that
/// it cannot leave the stream.
fn dispatch(
    client: Arc<Client>,
    head: Parts,
    body: Vec<u8>,
    remote: SocketAddr,
    labels: LabelSlot,
) -> Pin<Box<dyn Stream<Item = ResponsePart> + Send>> {
    Box::pin(stream! {
        let mut request = request(&client, &head, remote);
        drop(head);
        request.set_body(body);
        request.inner().local_cache(|| Some(labels));
        let mut response = request.dispatch().await;
        let size = response.body().preset_size();
        yield ResponsePart::Head(response_head(&response), size);
        let mut buffer = BytesMut::new();
        loop {
            buffer.reserve(size.map_or(PIECE, |size| size.clamp(1, PIECE)));
            let read = response.read_buf(&mut buffer).await;
            if let Ok(0) = read {
                break;
            }
            yield ResponsePart::Piece(read.map(|_| buffer.split().freeze()));
        }
    })
}

/// The status and the headers. Those that HTTP does not allow are omitted.
fn response_head(response: &LocalResponse<'_>) -> Response<()> {
    let mut head = Response::new(());
    let status = StatusCode::from_u16(response.status().code);
    *head.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = head.headers_mut();
    for header in response.headers().iter() {
        let name = HeaderName::from_bytes(header.name.as_str().as_bytes());
        let value = HeaderValue::from_str(header.value());
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        } else {
            tracing::error!("the response has an invalid header: {}", header.name);
        }
    }
    head
}

/// The request for Rocket. If Rocket does not know the method, or if there is no path, dispatching it returns the
/// response of the catcher for 400: no path has a blank.
fn request<'c>(client: &'c Client, parts: &Parts, remote: SocketAddr) -> LocalRequest<'c> {
    let mut local = if let (Some(method), Some(origin)) = (method(parts), origin(parts)) {
        let mut local = client.req(method, "/");
        local.inner_mut().set_uri(origin);
        local
    } else {
        let path = parts.uri.path().trim_end_matches('/');
        client.req(Method::Get, format!("{path}/ "))
    };
    for cookies in parts.headers.get_all(COOKIE) {
        for cookie in Cookie::split_parse_encoded(cookies.to_str().unwrap_or_default()).flatten() {
            local = local.cookie(cookie.into_owned());
        }
    }
    let request = local.inner_mut();
    request.set_remote(remote);
    if let Some(host) = text(parts.headers.get(HOST))
        && let Ok(host) = Host::parse_owned(host)
    {
        request.set_host(host);
    }
    for (name, value) in &parts.headers {
        if let Some(value) = text(Some(value)) {
            request.add_header(Header::new(name.as_str().to_owned(), value));
        }
    }
    local
}

fn text(value: Option<&HeaderValue>) -> Option<String> {
    str::from_utf8(value?.as_bytes()).ok().map(str::to_owned)
}

fn method(parts: &Parts) -> Option<Method> {
    let method: Method = parts.method.as_str().parse().ok()?;
    // Rocket ignores the case, but methods are case-sensitive.
    (method.as_str() == parts.method.as_str()).then_some(method)
}

/// The target for Rocket, with characters encoded that it does not permit.
fn origin(parts: &Parts) -> Option<Origin<'static>> {
    let target = parts.uri.path_and_query()?.as_str();
    let encode = |target: String, character| {
        target.replace(character, &format!("%{:02X}", u32::from(character)))
    };
    let ascii = utf8_percent_encode(target, CONTROLS).to_string();
    Origin::parse_owned(NOT_PERMITTED.chars().fold(ascii, encode)).ok()
}
