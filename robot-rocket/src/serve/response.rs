//! Bodies of responses, as hyper reads them.

use std::{
    io, mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_util::Stream;
use hyper::{
    Response, StatusCode,
    body::{Body, Frame, SizeHint},
    header::{CONTENT_LENGTH, TRANSFER_ENCODING},
};

use super::{
    activity::{Activity, Answer},
    record::RequestRecord,
};

/// A body that is read while the client reads it.
pub(super) type Pieces = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// The content of a response.
pub(super) enum Content {
    Whole(Bytes),
    /// With the size, if it is known.
    Streamed(Pieces, Option<usize>),
}

impl Content {
    fn size(&self) -> Option<usize> {
        match self {
            Self::Whole(bytes) => Some(bytes.len()),
            Self::Streamed(_, size) => *size,
        }
    }
}

/// The response for hyper. Its body is omitted for `HEAD`, and the headers are kept.
pub(super) fn with_body(
    mut response: Response<Content>,
    is_head: bool,
    record: RequestRecord,
    (answer, activity): (Answer, Arc<Activity>),
) -> Response<ResponseBody> {
    let size = response.body().size();
    // RFC 9110, 8.6: a 204 has no length, and that of a 304 would be the one of a 200.
    let is_empty = matches!(
        response.status(),
        StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED
    );
    let headers = response.headers_mut();
    headers.remove(CONTENT_LENGTH);
    if let Some(size) = size.filter(|_| !is_empty && !headers.contains_key(TRANSFER_ENCODING)) {
        headers.insert(CONTENT_LENGTH, size.into());
    }
    response.map(|content| ResponseBody {
        content: if is_head || is_empty {
            State::Stripped
        } else {
            match content {
                Content::Whole(bytes) => State::Whole(bytes),
                Content::Streamed(pieces, _) => State::Streamed(pieces),
            }
        },
        size,
        record,
        activity,
        must_write: false,
        _answer: answer,
    })
}

/// The body of a response.
pub(super) struct ResponseBody {
    content: State,
    /// The size, if it is stated: hyper does not read the end after that.
    size: Option<usize>,
    record: RequestRecord,
    activity: Arc<Activity>,
    /// Whether hyper has a piece that it has not tried to write.
    must_write: bool,
    _answer: Answer,
}

enum State {
    /// No body, although the headers may state its size: hyper does not examine it.
    Stripped,
    Whole(Bytes),
    Streamed(Pieces),
    /// Everything has been read.
    End,
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let has_bytes = self.size != Some(0);
        let body = &mut *self;
        let piece = match &mut body.content {
            State::Stripped | State::End => None,
            State::Whole(bytes) => Some(Ok(mem::take(bytes))).filter(|_| has_bytes),
            State::Streamed(pieces) => {
                // One piece at a time, so that a client that does not read uses little memory. Hyper
                // writes when it has to wait for the body.
                if mem::take(&mut body.must_write) {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                ready!(body.activity.poll_writable(context));
                ready!(pieces.as_mut().poll_next(context))
            }
        };
        match &piece {
            Some(Ok(bytes)) => {
                self.record.add_bytes(bytes.len());
                self.must_write = true;
            }
            Some(Err(_)) => {}
            None => self.content = State::End,
        }
        if let State::Whole(_) = self.content {
            self.content = State::End;
        }
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            State::Whole(bytes) => bytes.is_empty(),
            State::End => true,
            _ => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            State::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            _ => SizeHint::default(),
        }
    }
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        let is_sent = match &self.content {
            State::Stripped | State::End => true,
            State::Whole(bytes) => bytes.is_empty(),
            State::Streamed(_) => self.size.is_some_and(|size| self.record.has_bytes(size)),
        };
        if is_sent {
            self.record.set_sent();
        }
    }
}
