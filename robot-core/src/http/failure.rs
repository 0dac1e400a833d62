//! Every failure: its status, its messages, its headers.

use std::borrow::Cow;

use super::{
    access::AccessError,
    behaviour::Behaviour,
    request::{BODY_LIMIT, BodyError},
};
use crate::{
    catalogue::Error,
    model::{RobotId, Violations},
};

/// Why a request is not answered with what it asked for.
///
/// Frontends need [`Failure::Internal`] and little else: the other failures are found by
/// [`Api::handle`](super::Api::handle).
///
/// ```
/// use robot_core::http::{Behaviour, BodyError, Failure};
///
/// let failure = Failure::Body(BodyError::TooSlow);
/// assert_eq!(failure.status(Behaviour::A), 408);
/// assert_eq!(failure.messages(), ["The body was not there in time; send it again"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The robot breaks rules (contract, "Errors").
    Rejected(Violations),
    /// The request cannot be understood: a message for each thing that is wrong.
    Malformed(Vec<Cow<'static, str>>),
    /// No robot has the id; `None` where no robot ever could.
    NoSuchRobot(Option<RobotId>),
    /// The path is none of the catalogue's, which is under this base path.
    NoSuchPath(String),
    /// The path allows other methods: these.
    MethodNotAllowed(&'static str),
    /// The body could not be read.
    Body(BodyError),
    /// The body of an import has more bytes than this.
    ImportTooLarge(u64),
    /// Nothing of an import was stored, and something failed: the first failure, whose status
    /// counts, and what is said of all of them.
    NothingImported(Box<Failure>, Vec<String>),
    /// A page of another origin made a browser send a write.
    ForeignOrigin,
    /// Whoever sent the request may not do this.
    NotPermitted(AccessError),
    /// The request was sent to a name that is not this service's.
    ForeignHost,
    /// The store is too busy, or cannot be reached, for now.
    Unavailable,
    /// A bug, or a store that fails. The cause is in the log and nowhere else.
    Internal,
    /// A store that failed, and cannot tell whether it kept the change.
    OutcomeUnknown,
}

impl Failure {
    /// The status code.
    #[must_use]
    pub fn status(&self, behaviour: Behaviour) -> u16 {
        match self {
            Self::Rejected(_) => behaviour.rejected(),
            Self::Malformed(_) | Self::Body(BodyError::Incomplete) => 400,
            Self::NotPermitted(AccessError::NoToken | AccessError::UnknownToken) => 401,
            Self::ForeignOrigin | Self::NotPermitted(AccessError::MayOnlyRead) => 403,
            Self::NoSuchRobot(_) | Self::NoSuchPath(_) => 404,
            Self::MethodNotAllowed(_) => 405,
            Self::Body(BodyError::TooSlow) => 408,
            Self::Body(BodyError::TooLarge) | Self::ImportTooLarge(_) => 413,
            Self::ForeignHost => 421,
            Self::NothingImported(first, _) => first.status(behaviour),
            Self::Internal | Self::OutcomeUnknown => 500,
            Self::Unavailable => 503,
        }
    }

    /// The messages: one at least, each for a person who can act on it.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        let message = match self {
            Self::Rejected(violations) => {
                return violations
                    .iter()
                    .map(|violation| violation.to_string())
                    .collect();
            }
            Self::Malformed(messages) => {
                return messages
                    .iter()
                    .map(|message| message.clone().into_owned())
                    .collect();
            }
            Self::NothingImported(_, messages) => return messages.clone(),
            Self::NoSuchRobot(Some(id)) => return vec![Error::NotFound(*id).to_string()],
            Self::NoSuchRobot(None) => "No robot has this id",
            Self::NoSuchPath(base) => {
                return vec![format!(
                    "There is nothing at this path; the robots are at {base}/api/robots, \
                     {base}/api/robots/{{id}} and {base}/api/robots/search/{{name}}, many at once \
                     go to {base}/api/robots/import and come from {base}/api/robots/export"
                )];
            }
            Self::MethodNotAllowed(allow) => {
                return vec![format!(
                    "This path does not take this method; it takes {allow}"
                )];
            }
            Self::Body(BodyError::TooLarge) => {
                return vec![format!(
                    "The body has more than {BODY_LIMIT} bytes; send a shorter one"
                )];
            }
            Self::ImportTooLarge(limit) => {
                return vec![format!(
                    "The body has more than {limit} bytes; send the robots in several requests"
                )];
            }
            Self::Body(BodyError::TooSlow) => "The body was not there in time; send it again",
            Self::Body(BodyError::Incomplete) => "The body ended early; send it again",
            Self::ForeignOrigin => {
                "A page of another origin may not change robots; send this from a page of this \
                 one, or from a program; whoever runs the service can add the origin to \
                 allowed_origins"
            }
            Self::NotPermitted(AccessError::NoToken) => {
                "This takes a token; send one in the header Authorization: Bearer TOKEN"
            }
            Self::NotPermitted(AccessError::UnknownToken) => {
                "The token in Authorization is none of this service's; ask whoever runs it for \
                 one"
            }
            Self::NotPermitted(AccessError::MayOnlyRead) => {
                "This token permits reading alone; a change takes a token that permits writing"
            }
            Self::ForeignHost => {
                "This service does not answer to the name in Host; whoever runs it can add the \
                 name to allowed_hosts"
            }
            Self::Unavailable => {
                "The catalogue is busy or cannot be reached; try again in a moment"
            }
            Self::OutcomeUnknown => {
                "The service failed, which is not your fault; whether this was stored is \
                 unknown, so look before you send it again"
            }
            Self::Internal => {
                "The service failed, which is not your fault; whoever runs it finds the cause \
                 in its log"
            }
        };
        vec![message.to_owned()]
    }

    /// The header that belongs to this failure alone.
    pub(super) fn header(&self) -> Option<(&'static str, Cow<'static, str>)> {
        match self {
            Self::MethodNotAllowed(allow) => Some(("allow", Cow::Borrowed(allow))),
            Self::NotPermitted(error) => {
                Some(("www-authenticate", Cow::Borrowed(challenge(*error))))
            }
            Self::Unavailable => Some(("retry-after", Cow::Borrowed("1"))),
            Self::NothingImported(first, _) => first.header(),
            _ => None,
        }
    }
}

/// What a client needs to be let in, as RFC 6750 tells it.
fn challenge(error: AccessError) -> &'static str {
    match error {
        AccessError::NoToken => r#"Bearer realm="robots""#,
        AccessError::UnknownToken => r#"Bearer realm="robots", error="invalid_token""#,
        AccessError::MayOnlyRead => {
            r#"Bearer realm="robots", error="insufficient_scope", scope="write""#
        }
    }
}

/// What a client is told of an error. The causes go into the log and nowhere else.
pub(super) fn logged(error: Error) -> Failure {
    match error {
        Error::Rejected(violations) => Failure::Rejected(violations),
        Error::NotRestored { violation, .. } => Failure::Rejected(violation.into()),
        Error::NotFound(id) => Failure::NoSuchRobot(Some(id)),
        Error::Unavailable(cause) => {
            log::warn!("the store is unavailable: {cause}");
            Failure::Unavailable
        }
        Error::Unknown(cause) => {
            log::error!("the outcome of a write is unknown: {cause}");
            Failure::OutcomeUnknown
        }
        Error::Store(cause) => {
            log::error!("the store failed: {cause}");
            Failure::Internal
        }
    }
}
