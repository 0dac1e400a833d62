//! Responses of the application, converted for hyper.
//!
//! Rocket's responses borrow from the application, but hyper's bodies must not. So a [`BodyReader`],
//! which the connection polls, reads a streamed body and hands it over piece by piece.

use std::{
    io, mem,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
};

use bytes::{Bytes, BytesMut};
use hyper::{
    Method, Response, StatusCode,
    body::{Body, Frame, SizeHint},
    header::{CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING},
};
use rocket::{fairing::AdHoc, local::asynchronous::LocalResponse, tokio::io::AsyncReadExt};
use tokio_util::io::poll_read_buf;

use super::{activity::Answer, record::RequestRecord};

/// The maximum size of a body that is passed on as a whole, in bytes. Lower, and usual lists are passed
/// on in pieces, which costs more; higher, and a client that does not read keeps more memory.
const WHOLE: usize = 64 * 1024;

/// The minimum size of the buffer for a piece of a streamed body, in bytes: a page of a list. Lower, and
/// sending costs more system calls, and the rest of a page is kept beside the piece; higher, and a client
/// that does not read keeps more memory. Handlers can ask for larger ones (`max_chunk_size`).
const PIECE: usize = 48 * 1024;

/// Determines the sizes of bodies that know theirs only when asked, such as files.
pub(super) fn sizes() -> AdHoc {
    AdHoc::on_response("robot-rocket: sizes of bodies", |_, response| {
        Box::pin(async {
            response.body_mut().size().await;
        })
    })
}

/// The response to a request with this method, and the reader of its body if that is streamed.
pub(super) async fn convert<'a>(
    mut response: LocalResponse<'a>,
    method: &Method,
    answer: Answer,
    mut record: RequestRecord,
) -> (Response<ResponseBody>, Option<BodyReader<'a>>) {
    let status = StatusCode::from_u16(response.status().code);
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut headers = headers(&response);
    let size = response.body().preset_size();
    if headers.contains_key(TRANSFER_ENCODING) {
        headers.remove(CONTENT_LENGTH);
    } else if let Some(size) = size {
        headers.insert(CONTENT_LENGTH, size.into());
    }
    // RFC 9110, 8.6: a 204 has no length, and that of a 304 would be the one of a 200.
    let is_empty = matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    if is_empty {
        headers.remove(CONTENT_LENGTH);
    }
    let is_stripped = method == Method::HEAD || is_empty;
    let (content, reader) = match size {
        _ if is_stripped => (Content::Stripped, None),
        Some(size) if size <= WHOLE => (whole(&mut response, size).await, None),
        _ => {
            let (reader, handover) = BodyReader::new(response);
            (Content::Streamed(handover), Some(reader))
        }
    };
    record.start_response(status.as_u16(), &mut headers);
    let mut converted = Response::new(ResponseBody {
        content,
        size,
        record,
        _answer: answer,
    });
    *converted.status_mut() = status;
    *converted.headers_mut() = headers;
    (converted, reader)
}

/// The headers. Those that HTTP does not allow are omitted.
pub(super) fn headers(response: &LocalResponse<'_>) -> HeaderMap {
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

async fn whole(response: &mut LocalResponse<'_>, size: usize) -> Content {
    let mut bytes = Vec::with_capacity(size);
    while bytes.len() < size {
        match response.read_buf(&mut bytes).await {
            Ok(0) => return Content::Failed(Some(io::ErrorKind::UnexpectedEof.into())),
            Ok(_) => {}
            Err(error) => return Content::Failed(Some(error)),
        }
    }
    Content::Whole(bytes.into())
}

/// The body of a response, as hyper reads it.
pub(super) struct ResponseBody {
    content: Content,
    /// The size, if it is stated: hyper does not read the end after that.
    size: Option<usize>,
    record: RequestRecord,
    _answer: Answer,
}

enum Content {
    /// No body, although the headers may state its size: hyper does not examine it.
    Stripped,
    Whole(Bytes),
    Streamed(Arc<Handover>),
    /// The error, until hyper has it.
    Failed(Option<io::Error>),
    /// Everything has been read.
    End,
}

impl ResponseBody {
    pub(super) fn whole(bytes: Bytes, answer: Answer, record: RequestRecord) -> Self {
        Self {
            record,
            size: Some(bytes.len()),
            content: Content::Whole(bytes),
            _answer: answer,
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let frame = match mem::replace(&mut self.content, Content::End) {
            Content::Stripped | Content::End => None,
            Content::Whole(bytes) if bytes.is_empty() => None,
            Content::Whole(bytes) => Some(Ok(bytes)),
            Content::Failed(error) => {
                self.content = Content::Failed(None);
                error.map(Err)
            }
            Content::Streamed(handover) => {
                let piece = handover.take();
                if !matches!(piece, Poll::Ready(None)) {
                    self.content = Content::Streamed(handover);
                }
                ready!(piece)
            }
        };
        if let Some(Ok(bytes)) = &frame {
            self.record.add_bytes(bytes.len());
        }
        Poll::Ready(frame.map(|bytes| bytes.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Whole(bytes) => bytes.is_empty(),
            Content::End => true,
            _ => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            _ => SizeHint::default(),
        }
    }
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        match &self.content {
            Content::Streamed(handover) => {
                *handover.piece() = Piece::NoLongerNeeded;
                if self.size.is_some_and(|size| self.record.has_bytes(size)) {
                    self.record.set_sent();
                }
            }
            Content::Stripped | Content::End => self.record.set_sent(),
            Content::Whole(bytes) if bytes.is_empty() => self.record.set_sent(),
            Content::Whole(_) | Content::Failed(_) => {}
        }
    }
}

/// Where a reader puts the next piece when the body needs it. Both are polled by the task of the
/// connection, which polls the reader after hyper, so neither wakes the other.
#[derive(Default)]
struct Handover(Mutex<Piece>);

#[derive(Default)]
enum Piece {
    #[default]
    NotNeeded,
    Needed,
    Read(Bytes),
    End,
    Failed(io::Error),
    /// Hyper needs no more of the body, or the connection has failed.
    NoLongerNeeded,
}

impl Handover {
    /// The next piece, or a note that it is needed.
    fn take(&self) -> Poll<Option<io::Result<Bytes>>> {
        let mut piece = self.piece();
        match mem::take(&mut *piece) {
            Piece::NotNeeded | Piece::Needed => {
                *piece = Piece::Needed;
                Poll::Pending
            }
            Piece::Read(bytes) => Poll::Ready(Some(Ok(bytes))),
            Piece::Failed(error) => Poll::Ready(Some(Err(error))),
            Piece::End | Piece::NoLongerNeeded => {
                *piece = Piece::NoLongerNeeded;
                Poll::Ready(None)
            }
        }
    }

    fn piece(&self) -> MutexGuard<'_, Piece> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a streamed body while the client reads it.
pub(super) struct BodyReader<'a> {
    response: LocalResponse<'a>,
    buffer: BytesMut,
    handover: Arc<Handover>,
}

impl<'a> BodyReader<'a> {
    fn new(response: LocalResponse<'a>) -> (Self, Arc<Handover>) {
        let handover = Arc::<Handover>::default();
        let reader = Self {
            response,
            buffer: BytesMut::new(),
            handover: Arc::clone(&handover),
        };
        (reader, handover)
    }

    /// Whether the body is complete, or was dropped.
    pub(super) fn is_done(&self) -> bool {
        matches!(*self.handover.piece(), Piece::NoLongerNeeded)
    }

    /// Hands over a piece. Pending while the body needs none, or the response has none yet.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if !matches!(*self.handover.piece(), Piece::Needed) {
            return Poll::Pending;
        }
        let size = self.response.body().max_chunk_size().max(PIECE);
        self.buffer.reserve(size);
        let response = Pin::new(&mut self.response);
        let piece = match ready!(poll_read_buf(response, context, &mut self.buffer)) {
            Ok(0) => Piece::End,
            Ok(_) => Piece::Read(self.buffer.split().freeze()),
            Err(error) => Piece::Failed(error),
        };
        *self.handover.piece() = piece;
        Poll::Ready(())
    }
}
