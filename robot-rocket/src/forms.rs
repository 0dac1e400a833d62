//! What Rocket does with the start of a body before any handler sees it, and how that is undone.
//!
//! It looks there for a form's field `_method`, and takes it for the method.

use rocket::{
    Data, Request,
    fairing::{Fairing, Info, Kind},
    form::Form,
    http::Method,
};

/// As far as Rocket looks.
const START: usize = "_method=delete".len();

/// Whether the body broke off so early that Rocket noticed, which it keeps to itself: of what it
/// looks at, something is missing, and yet there was no end.
pub(crate) async fn broke_off(data: &mut Data<'_>) -> bool {
    !data.peek_complete() && data.peek(START).await.len() < START
}

/// The method that was sent. Of a form, Rocket takes the field `_method` for it, by which any
/// page on the web could make a browser delete robots; here a form is a `POST` like another.
/// A request that was not a `POST` and yet looks as if it had been one passes for one, too,
/// and is refused.
pub(crate) async fn true_method(request: &Request<'_>, data: &mut Data<'_>) -> Method {
    let is_form = request.content_type().is_some_and(|kind| kind.is_form());
    if !is_form || request.method() == Method::Post {
        return request.method();
    }
    let disguise = str::from_utf8(data.peek(START).await)
        .ok()
        .and_then(|start| Form::values(start).next())
        .filter(|field| field.name == "_method")
        .and_then(|field| field.value.parse().ok());
    if disguise == Some(request.method()) {
        return Method::Post;
    }
    request.method()
}

/// Makes a `POST` again, before it is routed, of a form that passes for a `HEAD`: Rocket would
/// take the body off the answer, for which the client would wait in vain.
pub(crate) struct NoDisguisedHeads {
    base: String,
}

impl NoDisguisedHeads {
    /// For the paths under this base.
    pub(crate) fn below(base: &str) -> Self {
        Self {
            base: base.trim_end_matches('/').to_owned(),
        }
    }
}

#[rocket::async_trait]
impl Fairing for NoDisguisedHeads {
    fn info(&self) -> Info {
        Info {
            name: "Robot catalogue: no disguised heads",
            kind: Kind::Request,
        }
    }

    async fn on_request(&self, request: &mut Request<'_>, data: &mut Data<'_>) {
        if request.method() == Method::Head && is_below(&self.base, request) {
            request.set_method(true_method(request, data).await);
        }
    }
}

/// Whether a request is for a path under a base, which has no slash at its end.
pub(crate) fn is_below(base: &str, request: &Request<'_>) -> bool {
    let below_base = request.uri().path().as_str().strip_prefix(base);
    below_base.is_some_and(|path| path.is_empty() || path.starts_with('/'))
}
