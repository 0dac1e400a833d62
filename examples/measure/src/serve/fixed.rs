//! Answers that cost nothing to find: what the server can do at most.

use std::io::Cursor;

use rocket::{
    Build, Data, Request, Response, Rocket, Route,
    http::{Method, Status},
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
const PIECE: usize = 64 * 1024;

/// Mounts the answers under `/fixed`, each under its length.
pub(super) fn mount(rocket: Rocket<Build>) -> Rocket<Build> {
    rocket.mount("/fixed", [Route::new(Method::Get, "/<length>", Fixed)])
}

#[derive(Clone)]
struct Fixed;

#[rocket::async_trait]
impl Handler for Fixed {
    async fn handle<'r>(&self, request: &'r Request<'_>, _: Data<'r>) -> Outcome<'r> {
        let length = request.param(0).and_then(Result::ok).unwrap_or(0);
        match BYTES.get(..length) {
            Some(bytes) => Outcome::Success(response(Status::Ok, bytes)),
            None => Outcome::Error(Status::NotFound),
        }
    }
}

/// An answer with the headers of the catalogue.
pub(super) fn response<B>(status: Status, bytes: B) -> Response<'static>
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
        .max_chunk_size(PIECE)
        .finalize()
}
