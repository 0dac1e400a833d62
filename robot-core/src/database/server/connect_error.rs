//! Errors of the URLs of database servers, and of connections to the servers.

use std::{error::Error, io, iter};

/// Reason why the URL of a database server cannot be used. It never quotes a value of the URL, since the
/// value may be a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum UrlError {
    /// The URL has another form, or characters in it must be percent-encoded.
    #[error("the URL cannot be read")]
    Unreadable,
    /// The parameter has no meaning here.
    #[error("the parameter `{0}` is not supported")]
    UnknownParameter(String),
    /// The parameter must have another value.
    #[error("{name} must be {expected}")]
    InvalidValue {
        /// Name of the parameter.
        name: String,
        /// Values that it may have.
        expected: String,
    },
}

impl UrlError {
    /// The error for a value other than the expected ones.
    pub(super) fn invalid(name: &str, expected: impl Into<String>) -> Self {
        Self::InvalidValue {
            name: name.to_owned(),
            expected: expected.into(),
        }
    }
}

/// Reason why a server did not accept a connection, with its own message and without any password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ConnectError {
    /// The server is unreachable, not ready, or full: a later attempt may succeed.
    #[error("{0}")]
    Unreachable(String),
    /// The server rejects the user or the database until its configuration or the URL changes.
    #[error("{0}")]
    Refused(String),
    /// TLS cannot be used as the URL requires it.
    #[error("{0}")]
    Tls(String),
}

impl ConnectError {
    /// The error with a message that names the host.
    pub(super) fn of_host(self, host: &str) -> Self {
        match self {
            Self::Unreachable(message) => Self::Unreachable(format!("{host}: {message}")),
            Self::Refused(message) => Self::Refused(format!("{host}: {message}")),
            Self::Tls(message) => Self::Tls(format!("{host}: {message}")),
        }
    }
}

/// An error and its causes, the deepest one last.
fn chain<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> + use<'a> {
    iter::successors(Some(error), |&error| {
        // `source` of an I/O error skips the error in it.
        match error.downcast_ref().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner as _),
            None => error.source(),
        }
    })
}

/// The error of a type among an error and its causes.
pub(super) fn find_cause<'a, E: Error + 'static>(
    error: &'a (dyn Error + 'static),
) -> Option<&'a E> {
    chain(error).find_map(|cause| cause.downcast_ref())
}

/// Message of the deepest cause, in one line.
pub(super) fn deepest_message(error: &(dyn Error + 'static)) -> String {
    let message = chain(error).last().unwrap_or(error).to_string();
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
