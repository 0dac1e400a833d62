//! Errors of the URLs of database servers, and of connections to the servers.

use std::{borrow::Cow, error::Error, io, iter};

/// Reason why the URL of a database server cannot be used. It never quotes a value of the URL, since the
/// value may be a password.
pub(super) type UrlError = Cow<'static, str>;

/// The URL has another form, or characters in it must be percent-encoded.
pub(super) const UNREADABLE: UrlError = Cow::Borrowed("the URL cannot be read");

/// The message about a server that did not answer in time.
pub(super) const NO_ANSWER: &str = "the database did not answer in time";

/// Reason why a server did not accept a connection, with its own message and without any password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{1}")]
pub(super) struct ConnectError(pub(super) ConnectFailure, pub(super) String);

/// What a failure to connect means, the most lasting one last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ConnectFailure {
    /// The server is unreachable, not ready, or full: a later attempt may succeed.
    Unreachable,
    /// The server rejects the user or the database until its configuration or the URL changes.
    Refused,
    /// TLS cannot be used as the URL requires it.
    Tls,
}

impl ConnectError {
    pub(super) fn no_answer() -> Self {
        Self(ConnectFailure::Unreachable, NO_ANSWER.to_owned())
    }

    /// The error for one of a driver, with the message of its deepest cause in one line.
    pub(super) fn new(failure: ConnectFailure, error: Cause<'_>) -> Self {
        let message = causes(error).last().unwrap_or(error).to_string();
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_tls = causes(error).any(<dyn Error>::is::<rustls::Error>);
        let failure = if is_tls { ConnectFailure::Tls } else { failure };
        Self(failure, message)
    }
}

/// An error, or a cause of one.
type Cause<'a> = &'a (dyn Error + 'static);

/// An error and its causes, the deepest one last.
pub(super) fn causes(error: Cause<'_>) -> impl Iterator<Item = Cause<'_>> {
    iter::successors(Some(error), |&error| {
        // `source` of an I/O error skips the error in it.
        let inner = error.downcast_ref().and_then(io::Error::get_ref);
        inner.map(|inner| inner as _).or_else(|| error.source())
    })
}
