//! The response context: everything that a reply depends on besides its content.

use std::borrow::Cow;

use super::{
    accept::content_type,
    behaviour::Behaviour,
    origin::{self, Origin},
    render::{Envelope, json},
    reply::Reply,
    request::Request,
    request_id::RequestId,
    route::HandlerResult,
};

#[derive(Debug, Clone)]
pub(super) struct ResponseContext {
    behaviour: Behaviour,
    request_id: RequestId,
    content_type: &'static str,
    vary: &'static str,
    /// Whether the request has `Prefer: handling=strict`.
    is_strict: bool,
    /// The origin of the page that sent the request, if it is another origin and allowed.
    origin: Option<String>,
}

impl ResponseContext {
    pub(super) fn request_id(&self) -> &RequestId {
        &self.request_id
    }

    /// The context of a request, if pages of these origins may use the service.
    pub(super) fn new(request: &Request, behaviour: Behaviour, origins: &[Origin]) -> Self {
        let headers = &request.headers;
        Self {
            behaviour,
            request_id: request.id.clone().unwrap_or_else(RequestId::random),
            content_type: content_type(headers.accept.as_deref()),
            vary: if origins.is_empty() {
                "Accept"
            } else {
                "Accept, Origin"
            },
            is_strict: request.is_strict(),
            origin: origin::find(headers, origins).map(str::to_owned),
        }
    }

    /// The reply for a result, with the headers that every reply has. Logs errors of the store.
    pub(super) fn reply(&self, result: HandlerResult) -> Reply {
        let mut reply = result.unwrap_or_else(|error| {
            let failure = error.into_failure(&self.request_id);
            Reply {
                headers: failure.header().into_iter().collect(),
                ..Reply::whole(
                    failure.status(self.behaviour),
                    json(&Envelope::error(failure.messages())),
                )
            }
        });
        // A reply that is a file has its own content type.
        for (name, value) in self.headers() {
            if reply.header(name).is_none() {
                reply.headers.push((name, value));
            }
        }
        reply
    }

    fn headers(&self) -> impl Iterator<Item = (&'static str, Cow<'static, str>)> {
        let always = [
            ("content-type", self.content_type),
            ("vary", self.vary),
            ("x-content-type-options", "nosniff"),
            (
                "content-security-policy",
                "default-src 'none'; frame-ancestors 'none'; sandbox",
            ),
        ];
        let always = always.map(|(name, value)| (name, Cow::Borrowed(value)));
        let request_id = self.request_id.as_str().to_owned();
        let request_id = (RequestId::HEADER, Cow::Owned(request_id));
        let cross_origin = self.origin.clone().map(|origin| {
            [
                ("access-control-allow-origin", Cow::Owned(origin)),
                (
                    "access-control-expose-headers",
                    Cow::Borrowed(
                        "Accept-Patch, Allow, Content-Disposition, ETag, Link, Preference-Applied, \
                         Retry-After, WWW-Authenticate, X-Request-Id, X-Total-Count",
                    ),
                ),
            ]
        });
        let preference = ("preference-applied", Cow::Borrowed("handling=strict"));
        let preference = self.is_strict.then_some(preference);
        let always = always.into_iter().chain([request_id]).chain(preference);
        always.chain(cross_origin.into_iter().flatten())
    }
}
