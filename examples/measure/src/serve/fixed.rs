//! Answers that cost nothing to find: what the server can do at most.

use std::io::Cursor;

use rocket::{
    Build, Data, Request, Response, Rocket, Route,
    http::{Method, Status},
    response::Body,
    route::{Handler, Outcome},
};

/// The most that an answer can be long.
const LIMIT: usize = 1024 * 1024;

static BYTES: [u8; LIMIT] = [b'x'; LIMIT];

/// The headers of the catalogue's answers, which the program compares before it measures.
const HEADERS: [(&str, &str); 3] = [
    ("content-type", "text/html; charset=UTF-8"),
    ("vary", "Accept"),
    (
        "content-security-policy",
        "default-src 'none'; frame-ancestors 'none'; sandbox",
    ),
];

/// As the frontend of the catalogue sends long bodies.
pub(super) const LARGE_PIECE: usize = 64 * 1024;

/// Mounts the answers, each under its length: under `/fixed` as Rocket sends them, and under
/// `/tuned` in pieces as large as those of the catalogue's frontend.
pub(super) fn mount(rocket: Rocket<Build>) -> Rocket<Build> {
    [("/fixed", Body::DEFAULT_MAX_CHUNK), ("/tuned", LARGE_PIECE)]
        .into_iter()
        .fold(rocket, |rocket, (base, piece)| {
            rocket.mount(
                base,
                [Route::new(Method::Get, "/<length>", Fixed { piece })],
            )
        })
}

#[derive(Clone)]
struct Fixed {
    /// The most bytes that go into one piece of the body.
    piece: usize,
}

#[rocket::async_trait]
impl Handler for Fixed {
    async fn handle<'r>(&self, request: &'r Request<'_>, _: Data<'r>) -> Outcome<'r> {
        let length = request.param(0).and_then(Result::ok).unwrap_or(0);
        match BYTES.get(..length) {
            Some(bytes) => Outcome::Success(response(Status::Ok, bytes, self.piece)),
            None => Outcome::Error(Status::NotFound),
        }
    }
}

/// An answer with the headers of the catalogue, in pieces of so many bytes.
pub(super) fn response<B>(status: Status, bytes: B, piece: usize) -> Response<'static>
where
    B: AsRef<[u8]> + Unpin + Send + 'static,
{
    let mut response = Response::build();
    response.status(status);
    for (name, value) in HEADERS {
        response.raw_header(name, value);
    }
    response
        .sized_body(bytes.as_ref().len(), Cursor::new(bytes))
        .max_chunk_size(piece)
        .finalize()
}
