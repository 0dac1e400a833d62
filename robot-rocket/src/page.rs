//! The web page, at the base path, and the pages about the API, at `docs`.
//!
//! Their files are in `static/` and are compiled into the program. They call the API like any other
//! client, so the files themselves need no token.

use std::{
    borrow::Cow,
    hash::{DefaultHasher, Hash, Hasher},
    io::Cursor,
    sync::LazyLock,
};

use robot_core::{Field, Kind, Sort, http::Failure};
use rocket::{
    Data, Request, Response, Route,
    http::{Method, Status},
    response::Builder,
    route::{Handler, Outcome},
};
use serde_json::{Value as Json, json};

use crate::{forms::true_method, mounted::Mounted, rank, response::convert, routes};

/// Before the routes of the catalogue, after static files, which may replace the page's.
const RANK: isize = 2500;

/// The methods of the page's files.
const METHODS: &str = "GET, HEAD, OPTIONS";

/// Scripts, styles and data may come only from the page's own origin, and text cannot become markup
/// or a script.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; manifest-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

/// A file of the page.
struct File {
    /// Its path below the base.
    path: &'static str,
    content_type: &'static str,
    content: Cow<'static, str>,
}

/// The files with these names: two at paths of their own, the others below `page/`.
macro_rules! files {
    ($($path:literal => $start:literal),+; $($name:literal),+ $(,)?) => {
        [
            $(File {
                path: $path,
                content_type: content_type($start),
                content: Cow::Borrowed(include_str!(concat!("../static/", $start))),
            },)+
            $(File {
                path: concat!("/page/", $name),
                content_type: content_type($name),
                content: Cow::Borrowed(include_str!(concat!("../static/", $name))),
            }),+
        ]
    };
}

const STATIC: &[File] = &files![
    "/" => "index.html",
    "/docs" => "docs.html";
    "style.css",
    "controls.css",
    "favicon.svg",
    "adding.js",
    "address.js",
    "announcements.js",
    "api.js",
    "app.js",
    "chart.js",
    "conflict.js",
    "connection.js",
    "docs.css",
    "docs.js",
    "editing.js",
    "elements.js",
    "exporting.js",
    "fields.js",
    "importing.js",
    "list.js",
    "overview.js",
    "pages.js",
    "robot.js",
    "row.js",
    "schema.js",
    "search.js",
    "sorting.js",
    "start.js",
    "token.js",
    "transfer.js",
    "view.js",
];

/// The module of the page that has the fields of a robot.
static DEFINITION: LazyLock<File> = LazyLock::new(|| File {
    path: "/page/definition.js",
    content_type: content_type("definition.js"),
    content: definition().into(),
});

/// The members that users enter, in the order of the table and of the form: the key in JSON, the
/// title, the kind of input, and the choices; and the members by which the service sorts.
fn definition() -> String {
    let members = Field::SETTABLE.iter().map(|field| {
        let input = match field.kind() {
            Kind::Choice(_) => "choice",
            Kind::Integer { .. } => "digits",
            _ => "text",
        };
        let (key, title, choices) = (field.name(), field.title(), field.choices());
        json!({ "key": key, "title": title, "input": input, "choices": choices })
    });
    let sorts = Sort::ALL.map(|sort| sort.to_string());
    let keys = sorts.iter().filter(|sort| !sort.starts_with('-'));
    format!(
        "export const MEMBERS = {};\nexport const SORT_KEYS = {};\n",
        members.collect::<Json>(),
        keys.map(String::as_str).collect::<Json>(),
    )
}

const fn content_type(name: &str) -> &'static str {
    match name.as_bytes() {
        [.., b'.', b'j', b's'] => "text/javascript; charset=utf-8",
        [.., b'.', b'c', b's', b's'] => "text/css; charset=utf-8",
        [.., b'.', b's', b'v', b'g'] => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    }
}

/// The routes of the page, for the hosts that the catalogue accepts.
pub(crate) fn routes(mounted: &Mounted) -> Vec<Route> {
    let rank = rank(RANK, mounted.base());
    routes::METHODS
        .into_iter()
        .flat_map(|method| ["/", "/docs", "/page/<file>"].map(|path| (method, path)))
        .map(|(method, path)| Route::ranked(rank, method, path, Page(mounted.clone())))
        .collect()
}

#[derive(Clone)]
struct Page(Mounted);

/// The resource of a path under the base.
enum Found {
    File(&'static File),
    /// The base without its slash, which redirects to the base. The paths in the page are relative,
    /// so that it works under any path of a proxy, and without the slash they would be wrong.
    BaseWithoutSlash,
}

impl Page {
    fn find(&self, request: &Request<'_>) -> Option<Found> {
        let path = request.uri().path().as_str().strip_prefix(self.0.base())?;
        if path.is_empty() {
            return Some(Found::BaseWithoutSlash);
        }
        let mut files = STATIC.iter().chain([&*DEFINITION]);
        let file = files.find(|file| file.path == path);
        file.map(Found::File)
    }
}

#[rocket::async_trait]
impl Handler for Page {
    async fn handle<'r>(&self, request: &'r Request<'_>, mut data: Data<'r>) -> Outcome<'r> {
        let Self(Mounted { api, permits, .. }) = self;
        let method = true_method(request, &mut data).await;
        let found = self.find(request);
        let Some(found) = found.filter(|_| api.host_allowed(&routes::headers(request))) else {
            return Outcome::Forward((data, Status::NotFound));
        };
        Outcome::Success(match (method, found) {
            (Method::Get | Method::Head, Found::File(file)) => file.response(request),
            (Method::Get | Method::Head, Found::BaseWithoutSlash) => with_slash(request),
            (Method::Options, _) => options(),
            _ => {
                let failure = Failure::MethodNotAllowed(METHODS.to_owned());
                let response = api
                    .receive(routes::head(method.as_str(), request))
                    .reject(failure);
                convert(response, permits)
            }
        })
    }
}

impl File {
    /// The file, or 304 if the browser has it. Browsers validate it each time, so that they never mix
    /// files of two versions of the server.
    fn response(&'static self, request: &Request<'_>) -> Response<'static> {
        let tag = self.tag();
        let mut response = Response::build();
        response
            .raw_header("etag", tag.clone())
            .raw_header("cache-control", "no-cache")
            .raw_header("content-security-policy", POLICY)
            .raw_header("cross-origin-resource-policy", "same-origin")
            .raw_header("referrer-policy", "no-referrer");
        if is_known(&tag, request) {
            response.status(Status::NotModified);
        } else {
            response.raw_header("content-type", self.content_type);
            sized(&mut response, &self.content);
        }
        response.finalize()
    }

    /// The entity tag, a hash of the content.
    fn tag(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.content.hash(&mut hasher);
        format!("\"{:016x}\"", hasher.finish())
    }
}

fn sized(response: &mut Builder<'static>, content: &'static str) {
    response.sized_body(content.len(), Cursor::new(content));
}

/// Whether the browser has the content with this tag (`If-None-Match`).
fn is_known(tag: &str, request: &Request<'_>) -> bool {
    request
        .headers()
        .get("if-none-match")
        .flat_map(|tags| tags.split(','))
        .map(str::trim)
        .any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

/// Redirects to the base with a trailing slash; relative, so that it works behind a proxy.
fn with_slash(request: &Request<'_>) -> Response<'static> {
    let path = request.uri().path();
    let last = path.as_str().rsplit('/').next().unwrap_or_default();
    let query = match request.uri().query() {
        Some(query) => Cow::Owned(format!("?{query}")),
        None => Cow::Borrowed(""),
    };
    Response::build()
        .status(Status::Found)
        .raw_header("location", format!("./{last}/{query}"))
        .raw_header("cache-control", "no-cache")
        .finalize()
}

fn options() -> Response<'static> {
    Response::build()
        .status(Status::NoContent)
        .raw_header("allow", METHODS)
        .finalize()
}
