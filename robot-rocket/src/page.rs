//! The web page, at the base path, and the pages about the API, at `docs`.
//!
//! Their files are in `static/` and are compiled into the program. They call the API like any other
//! client, so the files themselves need no token.

use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use hyper::{
    Method, Response, StatusCode, Uri,
    header::{self, HeaderMap, HeaderValue},
    http::{self, request::Parts},
};
use robot_core::{
    Definition,
    http::{Api, Failure},
};
use serde_json::json;

use crate::serve::refusal;

const METHODS: &str = "GET, HEAD, OPTIONS";

/// Scripts, styles and data may come only from the page's own origin, and text cannot become markup
/// or a script.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; manifest-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

/// The paths below the base, each with its file: two have paths of their own, the others are below `page/`.
macro_rules! files {
    ($($path:literal => $start:literal)+; $($name:literal)+) => {
        [
            $(($path, include_str!(concat!("../static/", $start))),)+
            $((concat!("/page/", $name), include_str!(concat!("../static/", $name)))),+
        ]
    };
}

const FILES: &[(&str, &str)] = &files! {
    "/" => "index.html" "/docs" => "docs.html";
    "style.css" "table.css" "controls.css" "record.css" "docs.css" "favicon.svg"
    "access.js" "action.js" "adding.js" "address.js" "announcements.js" "api.js" "app.js" "bins.js"
    "cells.js" "changes.js" "chart.js" "columns.js" "connection.js" "defining.js" "docs.js"
    "drafts.js" "editing.js" "elements.js" "exporting.js" "field.js" "fields.js" "filters.js"
    "grid.js" "history.js" "importing.js" "kinds.js" "list.js" "live.js" "nothing.js"
    "overview.js" "pages.js" "panels.js" "pasting.js" "recent.js" "record.js" "robot.js" "row.js"
    "search.js" "selection.js" "sorting.js" "start.js" "suggestions.js" "times.js" "token.js" "undo.js"
    "view.js" "views.js"
};

/// The path of the module that has the definition of the catalogue.
const DEFINITION: &str = "/page/definition.js";

/// The module: the document as text, and its revision. If clients without a token may not read it, it is the document
/// of the contract, without a revision.
fn definition(api: &Api) -> String {
    let public = api.public_definition();
    let revision = json!(public.as_ref().map(|public| public.revision().to_string()));
    let document = public.as_ref().unwrap_or(Definition::built_in());
    let document = json!(document.to_string());
    format!("export const DOCUMENT = {document};\nexport const REVISION = {revision};\n")
}

/// The route of a request for the page, and its response. `None` for other paths, and for hosts that the catalogue does
/// not accept.
pub(crate) fn answer(
    base: &str,
    api: &Api,
    head: &Parts,
) -> Option<(&'static str, Response<Bytes>)> {
    let path = head.uri.path().strip_prefix(base)?;
    let file = FILES.iter().find(|(name, _)| *name == path);
    let (route, file) = match file {
        Some((name, content)) => (*name, Some(Bytes::from_static(content.as_bytes()))),
        None if path == DEFINITION => (DEFINITION, Some(definition(api).into())),
        None if path.is_empty() && !base.is_empty() => ("/", None),
        None => return None,
    };
    if !api.host_allowed(&head.headers) {
        return None;
    }
    let response = match (&head.method, file) {
        (&Method::GET | &Method::HEAD, Some(content)) => respond(route, content, &head.headers),
        (&Method::GET | &Method::HEAD, None) => with_slash(&head.uri),
        (&Method::OPTIONS, _) => {
            (Response::builder().status(StatusCode::NO_CONTENT)).body(Bytes::new())
        }
        _ => Ok(refusal::response(Failure::MethodNotAllowed(
            METHODS.to_owned(),
        ))),
    };
    let mut response = response.unwrap_or_default();
    let (headers, text) = (response.headers_mut(), HeaderValue::from_static);
    headers.insert(header::ALLOW, text(METHODS));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, text("nosniff"));
    let is_part = route.starts_with("/page/");
    Some((if is_part { "/page/<file>" } else { route }, response))
}

/// The file of a path, or 304 if the browser has it. Browsers validate it each time, so that they never mix
/// files of two versions of the server.
fn respond(path: &str, content: Bytes, headers: &HeaderMap) -> http::Result<Response<Bytes>> {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    let tag = format!("\"{:016x}\"", hasher.finish());
    let known = headers.get_all(header::IF_NONE_MATCH).iter();
    let mut known = known.filter_map(|tags| tags.to_str().ok());
    // A tag has quotes, so that it is found in a list, and if a proxy has made it weak.
    let is_known = known.any(|tags| tags == "*" || tags.contains(&tag));
    let response = Response::builder()
        .header(header::ETAG, &tag)
        .header(header::CACHE_CONTROL, "no-cache")
        .header(header::CONTENT_SECURITY_POLICY, POLICY)
        .header("cross-origin-resource-policy", "same-origin")
        .header(header::REFERRER_POLICY, "no-referrer");
    if is_known {
        let response = response.status(StatusCode::NOT_MODIFIED);
        return response.body(Bytes::new());
    }
    let content_type = match path.rsplit_once('.') {
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    };
    response
        .header(header::CONTENT_TYPE, content_type)
        .body(content)
}

/// Redirects to the base with a trailing slash; relative, so that it works behind a proxy. The paths in the page are
/// relative, too, and without the slash they would be wrong.
fn with_slash(uri: &Uri) -> http::Result<Response<Bytes>> {
    let last = uri.path().rsplit('/').next().unwrap_or_default();
    let query = uri.query().map(|query| format!("?{query}"));
    let location = format!("./{last}/{}", query.unwrap_or_default());
    Response::builder()
        .status(StatusCode::FOUND)
        .header(header::LOCATION, location)
        .header(header::CACHE_CONTROL, "no-cache")
        .body(Bytes::new())
}
