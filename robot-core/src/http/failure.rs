//! Failures: status, messages and headers of every error answer.

use std::borrow::Cow;

use ::http::{
    HeaderName, HeaderValue, StatusCode,
    header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE},
};

use super::{
    access::AccessError,
    behaviour::Behaviour,
    request_body::{BODY_LIMIT, BodyError},
    request_id::RequestId,
};
use crate::{
    catalogue::Error,
    metrics::count_error,
    model::{RobotId, Violations},
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
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The robot violates rules (`docs/contract.md`, "Validation").
    Rejected(Violations),
    /// The request is malformed: a message for each error.
    Malformed(Vec<Cow<'static, str>>),
    /// No robot has the id; `None` for an id that is never assigned.
    NoSuchRobot(Option<RobotId>),
    /// The robot does not have a revision of `If-Match`.
    Stale,
    /// The robot exists, and `If-None-Match` has its revision or `*`.
    Excluded,
    /// The `Content-Type` is not that of a patch.
    NotAPatch,
    /// The path is unknown. The text lists the known paths.
    NoSuchPath(String),
    /// The path does not allow the method. The text lists the allowed methods, as in `Allow`.
    MethodNotAllowed(String),
    /// The body could not be read.
    Body(BodyError),
    /// The body of an import has more bytes than this limit.
    ImportTooLarge(u64),
    /// An atomic import has too many records: the message.
    TooManyRecords(String),
    /// An import stored nothing: the first failure, which determines the status, and the messages
    /// of all failures.
    NothingImported(Box<Failure>, Vec<String>),
    /// A page of another origin sent a write.
    ForeignOrigin,
    /// The client does not have the permission.
    NotPermitted(AccessError),
    /// The service does not accept the `Host` of the request.
    ForeignHost,
    /// The service may read the store, but not write it.
    ReadOnly,
    /// The store is overloaded or unreachable at the moment.
    Unavailable,
    /// The store cannot store anything until the service is restarted.
    RestartRequired,
    /// The disk of the store is full.
    DiskFull,
    /// A bug, or a failure of the store. The cause is only logged.
    Internal,
    /// The store failed, and it is unknown whether the change was stored.
    OutcomeUnknown,
}

impl Failure {
    /// The status code.
    #[must_use]
    pub fn status(&self, behaviour: Behaviour) -> StatusCode {
        use StatusCode as Status;
        match self {
            Self::Rejected(_) => behaviour.rejected(),
            Self::Malformed(_) | Self::Body(BodyError::Incomplete) => Status::BAD_REQUEST,
            Self::NotPermitted(AccessError::NoToken | AccessError::UnknownToken) => {
                Status::UNAUTHORIZED
            }
            Self::ForeignOrigin
            | Self::ReadOnly
            | Self::NotPermitted(AccessError::ReadOnlyToken) => Status::FORBIDDEN,
            Self::NoSuchRobot(_) | Self::NoSuchPath(_) => Status::NOT_FOUND,
            Self::MethodNotAllowed(_) => Status::METHOD_NOT_ALLOWED,
            Self::Body(BodyError::TooSlow) => Status::REQUEST_TIMEOUT,
            Self::Stale | Self::Excluded => Status::PRECONDITION_FAILED,
            Self::Body(BodyError::TooLarge) | Self::ImportTooLarge(_) | Self::TooManyRecords(_) => {
                Status::PAYLOAD_TOO_LARGE
            }
            Self::NotAPatch => Status::UNSUPPORTED_MEDIA_TYPE,
            Self::ForeignHost => Status::MISDIRECTED_REQUEST,
            Self::NothingImported(first, _) => first.status(behaviour),
            Self::Internal | Self::OutcomeUnknown => Status::INTERNAL_SERVER_ERROR,
            Self::Unavailable | Self::RestartRequired | Self::DiskFull => {
                Status::SERVICE_UNAVAILABLE
            }
        }
    }

    /// The messages for people, at least one.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        let message = match self {
            Self::Rejected(violations) => return texts(violations.iter()),
            Self::Malformed(messages) => return texts(messages),
            Self::NothingImported(_, messages) => return messages.clone(),
            Self::NoSuchRobot(Some(id)) => return vec![Error::NotFound(*id).to_string()],
            Self::NoSuchRobot(None) => "No robot has this id",
            Self::Stale => {
                "The robot was changed since it was read; read it again, and send the change with \
                 its new ETag in If-Match"
            }
            Self::Excluded => {
                "The robot exists with a revision that If-None-Match excludes; read it again before \
                 you change it"
            }
            Self::NotAPatch => "The Content-Type of a PATCH must be application/merge-patch+json",
            Self::NoSuchPath(paths) => {
                return vec![format!(
                    "There is nothing at this path; the paths are {paths}"
                )];
            }
            Self::MethodNotAllowed(allow) => {
                return vec![format!(
                    "This path does not allow this method; allowed: {allow}"
                )];
            }
            Self::ImportTooLarge(limit) => {
                return vec![format!(
                    "The body has more than {limit} bytes; send the robots in several requests"
                )];
            }
            Self::TooManyRecords(message) => return vec![message.clone()],
            Self::Body(error) => return vec![body_message(*error)],
            Self::NotPermitted(error) => permission_message(*error),
            Self::ForeignOrigin => {
                "A page of another origin may not change robots; the operator of the service can \
                 add the origin to allowed_origins"
            }
            Self::ForeignHost => {
                "This service does not accept the name in Host; its operator can add the name to \
                 allowed_hosts"
            }
            Self::ReadOnly => {
                "The catalogue is read-only; its operator can make it writable, and the log of the \
                 service says how"
            }
            Self::Unavailable => {
                "The catalogue is busy or cannot be reached; try again in a moment"
            }
            Self::RestartRequired => {
                "The catalogue can be read, but not changed, until its operator restarts the \
                 service; the cause is in its log"
            }
            Self::DiskFull => {
                "The disk of the service is full; try again when its operator has freed space"
            }
            Self::OutcomeUnknown => {
                "The service failed, and whether this was stored is unknown; look before you send \
                 it again"
            }
            Self::Internal => {
                "The service failed, which is not your fault; the cause is in its log"
            }
        };
        vec![message.to_owned()]
    }

    /// The header that only this failure has.
    pub(super) fn header(&self) -> Option<(HeaderName, HeaderValue)> {
        let fixed = HeaderValue::from_static;
        match self {
            Self::MethodNotAllowed(allow) => HeaderValue::from_str(allow)
                .ok()
                .map(|allow| (ALLOW, allow)),
            Self::NotPermitted(error) => Some((WWW_AUTHENTICATE, fixed(challenge(*error)))),
            Self::NotAPatch => Some((ACCEPT_PATCH, fixed(PATCH_TYPE))),
            Self::Unavailable => Some((RETRY_AFTER, fixed("1"))),
            // An operator has to act.
            Self::RestartRequired | Self::DiskFull => Some((RETRY_AFTER, fixed("60"))),
            Self::NothingImported(first, _) => first.header(),
            _ => None,
        }
    }
}

/// Each item as text.
fn texts(items: impl IntoIterator<Item = impl ToString>) -> Vec<String> {
    let texts = items.into_iter().map(|item| item.to_string());
    texts.collect()
}

fn body_message(error: BodyError) -> String {
    match error {
        BodyError::TooLarge => {
            format!("The body has more than {BODY_LIMIT} bytes; send a shorter one")
        }
        BodyError::TooSlow => "The request body did not arrive in time; send it again".to_owned(),
        BodyError::Incomplete => "The body ended early; send it again".to_owned(),
    }
}

fn permission_message(error: AccessError) -> &'static str {
    match error {
        AccessError::NoToken => {
            "A token is required; send one in the header Authorization: Bearer TOKEN"
        }
        AccessError::UnknownToken => {
            "The token in Authorization is unknown to this service; ask its operator for one"
        }
        AccessError::ReadOnlyToken => {
            "This token permits only reading; a change needs a token that permits writing"
        }
    }
}

/// The challenge of RFC 6750 in the header `WWW-Authenticate`.
fn challenge(error: AccessError) -> &'static str {
    match error {
        AccessError::NoToken => r#"Bearer realm="robots""#,
        AccessError::UnknownToken => r#"Bearer realm="robots", error="invalid_token""#,
        AccessError::ReadOnlyToken => {
            r#"Bearer realm="robots", error="insufficient_scope", scope="write""#
        }
    }
}

/// Why a handler has no reply. The error of a store is logged when the reply is made.
#[derive(Debug)]
pub(super) enum HandlerError {
    Failure(Failure),
    Store(Error),
}

impl From<Failure> for HandlerError {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Error> for HandlerError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl HandlerError {
    /// The failure for the client.
    pub(super) fn into_failure(self, request_id: &RequestId) -> Failure {
        match self {
            Self::Failure(failure) => failure,
            Self::Store(error) => logged(error, request_id),
        }
    }
}

/// The failure for the client. Logs the cause, which the client does not get.
pub(super) fn logged(error: Error, request_id: &RequestId) -> Failure {
    count_error(&error);
    match error {
        Error::Rejected(violations) => Failure::Rejected(violations),
        Error::NotRestored { violation, .. } => Failure::Rejected(violation.into()),
        Error::NotFound(id) => Failure::NoSuchRobot(Some(id)),
        Error::Stale(_) => Failure::Stale,
        Error::ReadOnly(cause) => {
            tracing::warn!(%request_id, "a change was rejected: {cause}");
            Failure::ReadOnly
        }
        Error::Unavailable(cause) => {
            tracing::warn!(%request_id, "the store is unavailable: {cause}");
            Failure::Unavailable
        }
        Error::RestartRequired(cause) => {
            tracing::warn!(%request_id, "a change was rejected, because a restart is required: {cause}");
            Failure::RestartRequired
        }
        Error::DiskFull(cause) => {
            tracing::error!(%request_id, "the disk of the store is full; free space on it: {cause}");
            Failure::DiskFull
        }
        Error::Unknown(cause) => {
            tracing::error!(%request_id, "the outcome of a write is unknown: {cause}");
            Failure::OutcomeUnknown
        }
        Error::Store(cause) => {
            tracing::error!(%request_id, "the store failed: {cause}");
            Failure::Internal
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_a_minute_if_an_operator_has_to_act() {
        // The web page distinguishes outages from other failures by this header.
        for (failure, seconds) in [
            (Failure::Unavailable, "1"),
            (Failure::DiskFull, "60"),
            (Failure::RestartRequired, "60"),
        ] {
            let expected = Some((RETRY_AFTER, HeaderValue::from_static(seconds)));
            assert_eq!(failure.header(), expected, "{failure:?}");
        }
    }
}
