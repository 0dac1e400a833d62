//! The response context: everything that a response depends on besides its content.

use ::http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{
        ACCEPT, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS,
        CONTENT_SECURITY_POLICY, CONTENT_TYPE, VARY, X_CONTENT_TYPE_OPTIONS,
    },
};

use super::{
    accept::content_type,
    behaviour::Behaviour,
    failure::{self, Failure},
    headers,
    origin::{self, Origin},
    render::envelope,
    request_id::RequestId,
    response::{self, Response},
    route::HandlerResult,
};

const REQUEST_ID: HeaderName = HeaderName::from_static(RequestId::HEADER);
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

#[derive(Debug, Clone)]
pub(super) struct ResponseContext {
    behaviour: Behaviour,
    request_id: RequestId,
    content_type: &'static str,
    vary: &'static str,
    /// Whether the request has `Prefer: handling=strict`.
    is_strict: bool,
    /// The origin of the page that sent the request, if it is another origin and allowed.
    origin: Option<HeaderValue>,
}

impl ResponseContext {
    /// The context of a request with these headers, if pages of these origins may use the service.
    pub(super) fn new(request: &HeaderMap, behaviour: Behaviour, origins: &[Origin]) -> Self {
        Self {
            behaviour,
            request_id: RequestId::of(request),
            content_type: content_type(headers::value(request, ACCEPT).as_deref()),
            vary: if origins.is_empty() {
                "Accept"
            } else {
                "Accept, Origin"
            },
            is_strict: headers::is_strict(request),
            origin: origin::find(request, origins)
                .and_then(|origin| HeaderValue::from_str(&origin).ok()),
        }
    }

    pub(super) fn request_id(&self) -> &RequestId {
        &self.request_id
    }

    pub(super) fn is_strict(&self) -> bool {
        self.is_strict
    }

    /// The response for a result, with the headers that every response has. Logs errors of the store.
    pub(super) fn response(&self, result: HandlerResult) -> Response {
        let mut response = result.unwrap_or_else(|failure| {
            if let Failure::Store(error) = &failure {
                failure::log(error, &self.request_id);
            }
            let body = envelope("ERROR", None::<()>, failure.messages());
            let mut response = response::whole(failure.status(self.behaviour), body);
            response.headers_mut().extend(failure.header());
            response
        });
        self.add_headers(response.headers_mut());
        response
    }

    fn add_headers(&self, headers: &mut HeaderMap) {
        let fixed = HeaderValue::from_static;
        // A response that is a file has its own content type.
        headers
            .entry(CONTENT_TYPE)
            .or_insert(fixed(self.content_type));
        headers.insert(VARY, fixed(self.vary));
        headers.insert(X_CONTENT_TYPE_OPTIONS, fixed("nosniff"));
        let policy = "default-src 'none'; frame-ancestors 'none'; sandbox";
        headers.insert(CONTENT_SECURITY_POLICY, fixed(policy));
        headers.extend(HeaderValue::from_str(self.request_id.as_str()).map(|id| (REQUEST_ID, id)));
        if self.is_strict {
            headers.insert(PREFERENCE_APPLIED, fixed("handling=strict"));
        }
        if let Some(origin) = &self.origin {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            let exposed = "Accept-Patch, Allow, Content-Disposition, ETag, Link, Preference-Applied, \
                           Retry-After, WWW-Authenticate, X-Request-Id, X-Total-Count";
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, fixed(exposed));
        }
    }
}

/// The response to a request that a frontend does not pass to an [`Api`](super::Api), such as one whose head it
/// cannot read.
///
/// ```
/// let response = robot_core::http::refusal(http::StatusCode::BAD_REQUEST, "This is no request");
/// assert_eq!(response.into_body().into_bytes()?, br#"{"status":"ERROR","messages":["This is no request"]}"#);
/// # Ok::<(), robot_core::Error>(())
/// ```
#[must_use]
pub fn refusal(status: StatusCode, message: &str) -> Response {
    let body = envelope("ERROR", None::<()>, vec![message.to_owned()]);
    let mut response = response::whole(status, body);
    let context = ResponseContext::new(&HeaderMap::new(), Behaviour::default(), &[]);
    context.add_headers(response.headers_mut());
    response.headers_mut().remove(REQUEST_ID);
    response
}
