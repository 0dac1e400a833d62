//! Failures: status, messages and headers of every error answer.

use std::io;

use ::http::{
    HeaderName, HeaderValue, StatusCode,
    header::{ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, RETRY_AFTER, WWW_AUTHENTICATE},
};
use serde_json::value::RawValue;

use super::{
    access::AccessError, behaviour::Behaviour, request_body::BodyError, request_id::RequestId,
};
use crate::{
    catalogue::{DefinitionConflict, Error},
    metrics::count_error,
    model::{Message, Rule, Violation, Violations},
};

/// The content type of a `PATCH` (RFC 7396).
pub(super) const PATCH_TYPE: &str = "application/merge-patch+json";

/// The header with the content types of a `PATCH` (RFC 5789).
pub(super) const ACCEPT_PATCH: HeaderName = HeaderName::from_static("accept-patch");

/// Why a request is answered with an error.
///
/// Most failures are found by [`Exchange::answer`](super::Exchange::answer). A frontend reports its
/// own, such as [`Failure::Internal`], by [`Exchange::reject`](super::Exchange::reject).
///
/// ```
/// use robot_core::http::{Behaviour, BodyError, Failure};
///
/// let failure = Failure::Body(BodyError::TooSlow);
/// assert_eq!(failure.status(Behaviour::A), 408);
/// assert_eq!(failure.messages(), ["The request body did not arrive in time; send it again"]);
/// ```
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The store rejected a change, for example because the robot violates rules (`docs/contract.md`,
    /// "Validation"), or failed. Its cause is only logged.
    #[error("{}", store_message(.0))]
    Store(#[from] Error),
    /// The request is malformed: a message for each error.
    #[error("{}", Message::joined(.0, "\n"))]
    Malformed(Vec<Message>),
    /// No robot has the id in the path.
    #[error("No robot has the id {0}")]
    NoSuchRobot(String),
    /// The robot or the definition does not have a revision of `If-Match`.
    #[error(
        "Another client has made a change since the ETag in If-Match was read; read again, and send the \
         request with the new ETag"
    )]
    Stale,
    /// The robot or the definition exists, and `If-None-Match` has its revision or `*`.
    #[error(
        "If-None-Match has the present ETag; to change this state, send the request without that ETag"
    )]
    Excluded,
    /// The `Content-Type` is not that of a patch.
    #[error("The Content-Type of a PATCH must be application/merge-patch+json")]
    NotAPatch,
    /// The body has a `Content-Encoding`.
    #[error("The body must not be compressed; send it without Content-Encoding")]
    Encoded,
    /// The path is unknown. The text lists the known paths.
    #[error("There is nothing at this path; the paths are {0}")]
    NoSuchPath(String),
    /// The path does not allow the method. The text lists the allowed methods, as in `Allow`.
    #[error("This path does not allow this method; allowed: {0}")]
    MethodNotAllowed(String),
    /// The body could not be read.
    #[error(transparent)]
    Body(BodyError),
    /// The body of an import has more bytes than this limit.
    #[error("The body has more than {0} bytes; send the robots in several requests")]
    ImportTooLarge(u64),
    /// An atomic import has too many records, too many robots are to be changed together, or the body for another
    /// application is too large: the message.
    #[error("{0}")]
    TooMany(String),
    /// A change of several robots violates rules. The text names the robots.
    #[error("{0}{1}")]
    OfRobots(Violations, String),
    /// An import failed.
    #[error("{}", Message::joined(messages, "\n"))]
    Import {
        /// The failure that determines the status.
        cause: Box<Failure>,
        /// The messages of all failures.
        messages: Vec<Message>,
        /// What was done, in JSON, unless nothing was.
        data: Option<Box<RawValue>>,
    },
    /// A page of another origin sent a write.
    #[error(
        "A page of another origin may not change robots; the operator of the service can add the \
         origin to allowed_origins"
    )]
    ForeignOrigin,
    /// The client does not have the permission.
    #[error(transparent)]
    NotPermitted(AccessError),
    /// The service does not accept the `Host` of the request.
    #[error(
        "This service does not accept the name in Host; its operator can add the name to allowed_hosts"
    )]
    ForeignHost,
    /// The request line and the headers are larger than the frontend permits.
    #[error("The request line and the headers are too long; send a shorter request")]
    HeadTooLarge,
    /// The frontend does not know the `Transfer-Encoding`.
    #[error(
        "The Transfer-Encoding is not supported; send the body with chunked, or with its length"
    )]
    UnknownCoding,
    /// The frontend has as many connections as it permits.
    #[error("The service has too many connections; try again in a moment")]
    TooManyConnections,
    /// The service is overloaded at the moment.
    #[error("{UNAVAILABLE}")]
    Unavailable,
    /// A bug. The cause is only logged.
    #[error("{INTERNAL}")]
    Internal,
}

const UNAVAILABLE: &str = "The catalogue is busy or cannot be reached; try again in a moment";
const INTERNAL: &str = "The service failed, which is not your fault; the cause is in its log";

/// The message about an error of the store, without its cause.
fn store_message(error: &Error) -> String {
    let message = match error {
        Error::DefinitionConflict {
            conflict: DefinitionConflict::HaveValues | DefinitionConflict::HaveOtherKinds,
            ..
        } => return format!("{error}; to drop the values, send the definition with drop_values"),
        Error::NotRestored { violation, .. } => return violation.to_string(),
        Error::ReadOnly(_) => {
            "The catalogue is read-only; its operator can make it writable, and the log of the service \
             says how"
        }
        Error::DiskFull(_) => {
            "The disk of the service is full; try again when its operator has freed space"
        }
        Error::Store(_) => INTERNAL,
        _ => return error.to_string(),
    };
    message.to_owned()
}

impl Failure {
    /// [`Failure::Malformed`], with this message.
    pub(super) fn malformed(message: impl Into<Message>) -> Self {
        Self::Malformed(vec![message.into()])
    }

    /// The status code.
    #[must_use]
    pub fn status(&self, behaviour: Behaviour) -> StatusCode {
        self.signals(behaviour).status
    }

    /// What programs read of the failure: a row for each kind.
    #[expect(clippy::match_same_arms, reason = "short rows of a table")]
    fn signals(&self, behaviour: Behaviour) -> Signals {
        let header = |name, text: &str| Some((name, text.to_owned()));
        let retry = |seconds| header(RETRY_AFTER, seconds);
        let rejected = |are_taken| behaviour.rejected(are_taken).as_u16();
        let (status, code, header) = match self {
            Self::Import { cause, .. } => return cause.signals(behaviour),
            Self::Store(Error::Rejected(violations)) | Self::OfRobots(violations, _) => {
                let are_taken = violations.iter().all(|one| one.rule() == Rule::Taken);
                (rejected(are_taken), "conflict", None)
            }
            Self::Store(
                Error::NotRestored { .. }
                | Error::DefinitionConflict { .. }
                | Error::NotReverted(_),
            ) => (rejected(true), "conflict", None),
            Self::Store(Error::TooManyChanges) => (413, "too_large", None),
            Self::Store(Error::NoSuchVersion { .. }) => (404, "no_such_version", None),
            Self::Malformed(_) | Self::Body(BodyError::Incomplete) => (400, "malformed", None),
            Self::NotPermitted(error) => {
                let (status, code) = match error {
                    AccessError::Insufficient(_) => (403, "not_permitted"),
                    AccessError::NoToken | AccessError::UnknownToken => (401, "no_token"),
                };
                (status, code, header(WWW_AUTHENTICATE, &challenge(*error)))
            }
            Self::ForeignOrigin => (403, "not_permitted", None),
            Self::Store(Error::ReadOnly(_)) => (403, "read_only", None),
            Self::Store(Error::NotFound(_)) | Self::NoSuchRobot(_) => (404, "no_such_robot", None),
            Self::NoSuchPath(_) => (404, "no_such_path", None),
            Self::MethodNotAllowed(allow) => (405, "method_not_allowed", header(ALLOW, allow)),
            Self::Body(BodyError::TooSlow) => (408, "timeout", None),
            Self::Store(Error::PositionGone) => {
                (410, "position_gone", header(CACHE_CONTROL, "no-store"))
            }
            Self::Store(Error::Stale(_) | Error::DefinitionStale) => (412, "stale", None),
            Self::Stale | Self::Excluded => (412, "stale", None),
            Self::Body(BodyError::TooLarge) => (413, "too_large", None),
            Self::ImportTooLarge(_) | Self::TooMany(_) => (413, "too_large", None),
            Self::NotAPatch => (415, "wrong_content_type", header(ACCEPT_PATCH, PATCH_TYPE)),
            Self::Encoded => (
                415,
                "wrong_content_type",
                header(ACCEPT_ENCODING, "identity"),
            ),
            Self::ForeignHost => (421, "foreign_host", None),
            Self::HeadTooLarge => (431, "too_large", None),
            Self::UnknownCoding => (501, "wrong_encoding", None),
            Self::Store(Error::NoHistory) => (501, "no_history", None),
            Self::Store(Error::Store(_)) | Self::Internal => (500, "internal", None),
            Self::Store(Error::Unknown(_)) => (500, "unknown_outcome", None),
            Self::Store(Error::Unavailable(_)) => (503, "unavailable", retry("1")),
            Self::TooManyConnections | Self::Unavailable => (503, "unavailable", retry("1")),
            // An operator has to act.
            Self::Store(Error::RestartRequired(_)) => (503, "restart_required", retry("60")),
            Self::Store(Error::DiskFull(_)) => (503, "disk_full", retry("60")),
        };
        Signals {
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            code,
            header,
        }
    }

    /// The messages for people, at least one.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        self.errors().iter().map(ToString::to_string).collect()
    }

    /// The messages, with their codes and the fields that they are about.
    pub(super) fn errors(&self) -> Vec<Message> {
        let about = |violations: &Violations, end: &str| {
            let message = |one: &Violation| {
                let message = Message::about(one.field().to_owned(), format!("{one}{end}"));
                message.with_code(code_of(one.rule()))
            };
            violations.iter().map(message).collect()
        };
        let messages: Vec<_> = match self {
            Self::Store(Error::Rejected(violations)) => about(violations, ""),
            Self::OfRobots(violations, robots) => about(violations, robots),
            Self::Malformed(messages) | Self::Import { messages, .. } => messages.clone(),
            failure => vec![failure.to_string().into()],
        };
        let code = self.signals(Behaviour::C).code;
        let with_code = |message: Message| message.with_code(code);
        messages.into_iter().map(with_code).collect()
    }

    /// The header that only this failure has.
    pub(super) fn header(&self) -> Option<(HeaderName, HeaderValue)> {
        let (name, text) = self.signals(Behaviour::C).header?;
        Some((name, HeaderValue::try_from(text).ok()?))
    }
}

/// What programs read of a failure.
struct Signals {
    status: StatusCode,
    /// What happened: the code of errors that have no other one.
    code: &'static str,
    /// The header that only this failure has.
    header: Option<(HeaderName, String)>,
}

/// The code of an error about a violated rule.
fn code_of(rule: Rule) -> &'static str {
    match rule {
        Rule::Missing => "required",
        Rule::Taken => "taken",
        Rule::WrongKind => "wrong_kind",
        Rule::Other => "invalid",
    }
}

/// The challenge of RFC 6750 in the header `WWW-Authenticate`.
fn challenge(error: AccessError) -> String {
    let reason = match error {
        AccessError::NoToken => String::new(),
        AccessError::UnknownToken => r#", error="invalid_token""#.to_owned(),
        AccessError::Insufficient(needed) => {
            format!(r#", error="insufficient_scope", scope="{needed}""#)
        }
    };
    format!(r#"Bearer realm="robots"{reason}"#)
}

/// The error of a temporary file.
pub(super) fn of_disk(cause: io::Error) -> Error {
    match cause.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::disk_full(cause),
        _ => Error::store(cause),
    }
}

/// Logs and counts a failure of the store, unless the client has caused it.
pub(super) fn log(error: &Error, request_id: &RequestId) {
    count_error(error);
    let warn = |text, cause| tracing::warn!(%request_id, "{text}: {cause}");
    let fail = |text, cause| tracing::error!(%request_id, "{text}: {cause}");
    match error {
        Error::ReadOnly(cause) => warn("a change was rejected", cause),
        Error::Unavailable(cause) => warn("the store is unavailable", cause),
        Error::RestartRequired(cause) => {
            warn(
                "a change was rejected, because a restart is required",
                cause,
            );
        }
        Error::DiskFull(cause) => fail("the disk of the store is full; free space on it", cause),
        Error::Unknown(cause) => fail("the outcome of a write is unknown", cause),
        Error::Store(cause) => fail("the store failed", cause),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn retry_after_is_a_minute_if_an_operator_has_to_act() {
        // The web page distinguishes outages from other failures by this header.
        for (failure, seconds) in [
            (Failure::Unavailable, "1"),
            (Failure::Store(Error::disk_full("no space")), "60"),
            (
                Failure::Store(Error::RestartRequired(Arc::from(Box::from("a cause")))),
                "60",
            ),
        ] {
            let expected = Some((RETRY_AFTER, HeaderValue::from_static(seconds)));
            assert_eq!(failure.header(), expected, "{failure:?}");
        }
    }
}
