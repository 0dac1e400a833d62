//! The web page, at the base path, and the pages about the API, at `docs`.
//!
//! Their files are in `static/` and are compiled into the program. They call the API like any other
//! client, so the files themselves need no token.

use std::{
    borrow::Cow,
    hash::{DefaultHasher, Hash, Hasher},
};

use bytes::Bytes;
use hyper::{
    HeaderMap, Method, Response, StatusCode, Uri,
    header::{
        ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, HeaderValue,
        IF_NONE_MATCH, LOCATION, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    },
    http::{self, request::Parts},
};
use robot_core::{
    Definition,
    http::{Api, Failure, refusal},
};
use serde_json::json;

use crate::mounted::Mounted;

const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-resource-policy");

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
    ($($path:literal => $start:literal)+; $($name:literal)+) => {
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

const STATIC: &[File] = &files! {
    "/" => "index.html" "/docs" => "docs.html";
    "style.css" "controls.css" "docs.css" "favicon.svg"
    "adding.js" "address.js" "announcements.js" "api.js" "app.js" "chart.js"
    "columns.js" "conflict.js" "connection.js" "defining.js" "detail.js" "docs.js" "editing.js"
    "elements.js" "exporting.js" "fields.js" "importing.js" "json.js" "kinds.js" "list.js"
    "overview.js" "pages.js" "panels.js" "proposing.js" "robot.js" "row.js" "schema.js" "search.js" "selection.js"
    "sorting.js" "start.js" "token.js" "view.js"
};

/// The path of the module that has the definition of the catalogue.
const DEFINITION: &str = "/page/definition.js";

/// The module: the document as text, and its revision. If clients without a token may not read it, it is the document
/// of the contract, without a revision.
fn definition(api: &Api) -> File {
    let public = api.public_definition();
    let revision = json!(public.as_ref().map(|public| public.revision().to_string()));
    let document = public.as_ref().unwrap_or(Definition::built_in());
    let document = json!(document.to_string());
    File {
        path: DEFINITION,
        content_type: content_type(DEFINITION),
        content: format!(
            "export const DOCUMENT = {document};\nexport const REVISION = {revision};\n"
        )
        .into(),
    }
}

const fn content_type(name: &str) -> &'static str {
    match name.as_bytes() {
        [.., b'.', b'j', b's'] => "text/javascript; charset=utf-8",
        [.., b'.', b'c', b's', b's'] => "text/css; charset=utf-8",
        [.., b'.', b's', b'v', b'g'] => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    }
}

/// The route of a request for the page, and its response. `None` for other paths, and for hosts that the catalogue does
/// not accept.
pub(crate) fn answer(mounted: &Mounted, head: &Parts) -> Option<(&'static str, Response<Bytes>)> {
    let path = head.uri.path().strip_prefix(&*mounted.base)?;
    let definition = (path == DEFINITION).then(|| definition(&mounted.api));
    let file = STATIC.iter().find(|file| file.path == path);
    let file = file.or(definition.as_ref());
    let is_base_without_slash = path.is_empty() && !mounted.base.is_empty();
    if file.is_none() && !is_base_without_slash || !mounted.api.host_allowed(&head.headers) {
        return None;
    }
    let mut response = match head.method {
        Method::GET | Method::HEAD => file
            .map_or_else(
                || with_slash(&head.uri),
                |file| file.response(&head.headers),
            )
            .unwrap_or_default(),
        Method::OPTIONS => {
            let mut response = Response::default();
            *response.status_mut() = StatusCode::NO_CONTENT;
            response
        }
        _ => refusal(Failure::MethodNotAllowed(METHODS.to_owned()))
            .map(|body| body.into_bytes().unwrap_or_default().into()),
    };
    let headers = response.headers_mut();
    headers.insert(ALLOW, HeaderValue::from_static(METHODS));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let route = if path.starts_with("/page/") {
        "/page/<file>"
    } else {
        file.map_or("/", |file| file.path)
    };
    Some((route, response))
}

impl File {
    /// The file, or 304 if the browser has it. Browsers validate it each time, so that they never mix
    /// files of two versions of the server.
    fn response(&self, headers: &HeaderMap) -> http::Result<Response<Bytes>> {
        let mut hasher = DefaultHasher::new();
        self.content.hash(&mut hasher);
        let tag = format!("\"{:016x}\"", hasher.finish());
        let known = headers.get_all(IF_NONE_MATCH).iter();
        let mut known = known.filter_map(|tags| tags.to_str().ok());
        // A tag has quotes, so that it is found in a list, and if a proxy has made it weak.
        let is_known = known.any(|tags| tags == "*" || tags.contains(&tag));
        let response = Response::builder()
            .header(ETAG, &tag)
            .header(CACHE_CONTROL, "no-cache")
            .header(CONTENT_SECURITY_POLICY, POLICY)
            .header(CROSS_ORIGIN_RESOURCE_POLICY, "same-origin")
            .header(REFERRER_POLICY, "no-referrer");
        if is_known {
            let response = response.status(StatusCode::NOT_MODIFIED);
            return response.body(Bytes::new());
        }
        let content = match &self.content {
            Cow::Borrowed(content) => Bytes::from_static(content.as_bytes()),
            Cow::Owned(content) => content.clone().into(),
        };
        response
            .header(CONTENT_TYPE, self.content_type)
            .body(content)
    }
}

/// Redirects to the base with a trailing slash; relative, so that it works behind a proxy. The paths in the page are
/// relative, too, and without the slash they would be wrong.
fn with_slash(uri: &Uri) -> http::Result<Response<Bytes>> {
    let last = uri.path().rsplit('/').next().unwrap_or_default();
    let query = uri.query().map(|query| format!("?{query}"));
    let location = format!("./{last}/{}", query.unwrap_or_default());
    Response::builder()
        .status(StatusCode::FOUND)
        .header(LOCATION, location)
        .header(CACHE_CONTROL, "no-cache")
        .body(Bytes::new())
}
