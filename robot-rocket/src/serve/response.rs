//! Bodies of responses, as hyper reads them.

use std::{
    io, mem,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use hyper::{
    Response, StatusCode,
    body::{Body, Frame, SizeHint},
    header::{CONTENT_LENGTH, TRANSFER_ENCODING},
};

use super::{activity::Answer, record::RequestRecord};
use crate::body::Content;

const EMPTY: Content = Content::Whole(Bytes::new());

/// The response for hyper. Its body is omitted for `HEAD`, and the headers are kept.
pub(super) fn with_body(
    mut response: Response<Content>,
    is_head: bool,
    record: RequestRecord,
    answer: Answer,
) -> Response<ResponseBody> {
    let size = match response.body() {
        Content::Whole(bytes) => Some(bytes.len()),
        Content::Streamed(_, size) => *size,
    };
    // RFC 9110, 8.6: a 204 has no length, and that of a 304 would be the one of a 200.
    let is_empty = [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED].contains(&response.status());
    // hyper adds the length of a whole body itself.
    let is_added = !is_head && matches!(response.body(), Content::Whole(_));
    let headers = response.headers_mut();
    headers.remove(CONTENT_LENGTH);
    if let Some(size) = size
        && !(is_empty || is_added || headers.contains_key(TRANSFER_ENCODING))
    {
        headers.insert(CONTENT_LENGTH, size.into());
    }
    let is_omitted = is_head || is_empty || size == Some(0);
    response.map(|content| ResponseBody {
        content: if is_omitted { EMPTY } else { content },
        record,
        must_write: false,
        answer,
    })
}

/// The body of a response.
pub(super) struct ResponseBody {
    /// A whole one is empty once it has been passed to hyper. Hyper does not read the end of a streamed one whose size
    /// it knows.
    content: Content,
    record: RequestRecord,
    /// Whether hyper has a piece that it has not tried to write.
    must_write: bool,
    answer: Answer,
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let body = &mut *self;
        let piece = match &mut body.content {
            Content::Whole(bytes) if bytes.is_empty() => None,
            Content::Whole(bytes) => Some(Ok(mem::take(bytes))),
            Content::Streamed(pieces, _) => {
                // One piece at a time, so that a client that does not read uses little memory. Hyper
                // writes when it has to wait for the body.
                if mem::take(&mut body.must_write) {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                ready!(body.answer.0.poll_writable());
                ready!(pieces.as_mut().poll_next(context))
            }
        };
        match &piece {
            Some(Ok(bytes)) => {
                body.record.info.bytes += bytes.len();
                body.must_write = true;
            }
            Some(Err(_)) => {}
            None => body.content = EMPTY,
        }
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.content, Content::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Streamed(..) => SizeHint::default(),
        }
    }
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        self.record.info.is_sent = match &self.content {
            Content::Whole(bytes) => bytes.is_empty(),
            Content::Streamed(_, size) => *size == Some(self.record.info.bytes),
        };
    }
}
