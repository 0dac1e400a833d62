//! The response context: everything that a response depends on besides its content.

use std::sync::Arc;

use ::http::{
    HeaderMap, HeaderValue,
    header::{
        ACCEPT, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS,
        CONTENT_SECURITY_POLICY, CONTENT_TYPE, VARY, X_CONTENT_TYPE_OPTIONS,
    },
};

use super::{
    accept::{self, content_type},
    behaviour::Behaviour,
    failure::{self, Failure},
    headers::{self, PREFERENCE_APPLIED},
    origin::{self, Origin},
    render,
    request_id::RequestId,
    response::{HandlerResult, Response},
};
use crate::model::Definition;

#[derive(Debug, Clone)]
pub(super) struct ResponseContext {
    pub(super) behaviour: Behaviour,
    pub(super) request_id: RequestId,
    content_type: &'static str,
    vary: &'static str,
    /// Whether unknown parameters and members are errors.
    pub(super) is_strict: bool,
    /// The preference for that, if it takes effect.
    applied: Option<&'static str>,
    /// The origin of the page that sent the request, if it is another origin and allowed.
    origin: Option<HeaderValue>,
}

impl ResponseContext {
    /// The context of a request with these headers, if pages of these origins may use the service.
    pub(super) fn new(request: &HeaderMap, behaviour: Behaviour, origins: &[Origin]) -> Self {
        let is_strict = headers::is_strict(request);
        Self {
            behaviour,
            request_id: RequestId::of(request),
            content_type: if behaviour.is_contract() {
                content_type(headers::value(request, ACCEPT).as_deref())
            } else {
                accept::JSON
            },
            vary: if origins.is_empty() {
                "Accept"
            } else {
                "Accept, Origin"
            },
            is_strict: is_strict.unwrap_or(!behaviour.is_contract()),
            applied: match is_strict {
                Some(true) => Some("handling=strict"),
                Some(false) if !behaviour.is_contract() => Some("handling=lenient"),
                _ => None,
            },
            origin: origin::find(request, origins)
                .and_then(|origin| HeaderValue::from_str(&origin).ok()),
        }
    }

    /// The response for a result, with the headers that every response has. Logs errors of the store.
    pub(super) fn response(
        &self,
        result: HandlerResult,
        definition: impl FnOnce() -> Arc<Definition>,
    ) -> Response {
        let mut response = result.unwrap_or_else(|failure| {
            if let Failure::Store(error) = &failure {
                failure::log(error, &self.request_id);
            }
            let mut response =
                render::failed(self.behaviour, &failure, &definition(), &self.request_id);
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
        headers.extend(
            HeaderValue::from_str(self.request_id.as_str()).map(|id| (RequestId::HEADER, id)),
        );
        if let Some(applied) = self.applied {
            headers.append(PREFERENCE_APPLIED, fixed(applied));
        }
        if let Some(origin) = &self.origin {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            let exposed = "Accept-Patch, Allow, Content-Disposition, Changes-Cursor, ETag, Link, Location, \
                           Preference-Applied, Retry-After, WWW-Authenticate, X-Request-Id, X-Total-Count";
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, fixed(exposed));
        }
    }
}

/// The response to a request that a frontend does not pass to an [`Api`](super::Api), such as one whose head it
/// cannot read.
///
/// ```
/// use robot_core::http::{Failure, refusal};
///
/// assert_eq!(refusal(Failure::HeadTooLarge).status(), 431);
/// ```
#[must_use]
pub fn refusal(failure: Failure) -> Response {
    let context = ResponseContext::new(&HeaderMap::new(), Behaviour::default(), &[]);
    let mut response = context.response(Err(failure), || Arc::clone(Definition::built_in()));
    response.headers_mut().remove(RequestId::HEADER);
    response
}
