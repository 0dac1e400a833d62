//! Who asks, and the headers that every reply to them has.

use std::borrow::Cow;

use super::{
    accept::content_type,
    origin::{self, Origin},
    request::Headers,
};

/// What of a request its reply depends on, whatever the reply is.
#[derive(Debug)]
pub(super) struct Asker {
    content_type: &'static str,
    /// The request headers that this depends on.
    depends_on: &'static str,
    /// The origin of the page that asks, where it is one of another origin that may.
    origin: Option<String>,
}

impl Asker {
    /// Who sent these headers, where pages of these origins may use the service.
    pub(super) fn of(headers: &Headers, origins: &[Origin]) -> Self {
        Self {
            content_type: content_type(headers.accept.as_deref()),
            depends_on: if origins.is_empty() {
                "Accept"
            } else {
                "Accept, Origin"
            },
            origin: origin::find(headers, origins).map(str::to_owned),
        }
    }

    /// The headers of every reply.
    pub(super) fn headers(&self) -> impl Iterator<Item = (&'static str, Cow<'static, str>)> {
        let always = [
            ("content-type", self.content_type),
            ("vary", self.depends_on),
            ("x-content-type-options", "nosniff"),
            (
                "content-security-policy",
                "default-src 'none'; frame-ancestors 'none'; sandbox",
            ),
        ];
        let always = always.map(|(name, value)| (name, Cow::Borrowed(value)));
        let to_a_page = self.origin.clone().map(|origin| {
            [
                ("access-control-allow-origin", Cow::Owned(origin)),
                (
                    "access-control-expose-headers",
                    Cow::Borrowed("Allow, Link, Retry-After, WWW-Authenticate"),
                ),
            ]
        });
        always.into_iter().chain(to_a_page.into_iter().flatten())
    }
}
