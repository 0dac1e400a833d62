//! Workarounds for Rocket's field `_method`.
//!
//! Rocket looks for this field at the start of each form, before any handler runs, and uses its value
//! as the method.

use rocket::{Data, Request, form::Form, http::Method};

/// The bytes that Rocket examines.
const START: usize = "_method=delete".len();

/// Whether reading the body failed within the bytes that Rocket examines. Rocket does not report
/// that, but there are fewer bytes then, and yet no end.
pub(crate) async fn ends_early(data: &mut Data<'_>) -> bool {
    !data.peek_complete() && data.peek(START).await.len() < START
}

/// The method that the client sent. With Rocket's field `_method`, any web page could make a browser
/// delete robots by a form. A request that was not a `POST`, but has a form with this field, is
/// treated as a `POST`, too, and is rejected.
pub(crate) async fn true_method(request: &Request<'_>, data: &mut Data<'_>) -> Method {
    let is_form = request.content_type().is_some_and(|kind| kind.is_form());
    if !is_form || request.method() == Method::Post {
        return request.method();
    }
    let overridden = str::from_utf8(data.peek(START).await)
        .ok()
        .and_then(|start| Form::values(start).next())
        .filter(|field| field.name == "_method")
        .and_then(|field| field.value.parse().ok());
    if overridden == Some(request.method()) {
        return Method::Post;
    }
    request.method()
}
