//! Address of a database on a server.

use std::{error::Error, fmt, marker::PhantomData, time::Duration};

use diesel::ConnectionError;

use super::{
    backend::{Backend, ConnectFailure, Purpose},
    errors::is_transient,
};
use crate::{
    catalogue::{Cause, OpenError, OpenOptions, redact},
    database::slow_statements,
};

/// The URL of a database on a server, and the timeout for its statements.
pub(super) struct Address<B> {
    url: String,
    timeout: Duration,
    slow_statement: Duration,
    backend: PhantomData<fn() -> B>,
}

impl<B: Backend> Address<B> {
    /// Parses a URL.
    pub(super) fn from_url(url: &str, options: &OpenOptions) -> Result<Self, OpenError> {
        // Of two @, one would be part of the password, and its end would be taken for a host.
        if !url.contains("://") || url.matches('@').count() > 1 {
            return Err(OpenError::InvalidUrl {
                database: redact(url),
                example: B::EXAMPLE,
            });
        }
        Ok(Self {
            url: B::complete_url(url, options),
            timeout: options.get_timeout(),
            slow_statement: options.get_slow_statement(),
            backend: PhantomData,
        })
    }

    /// A connection with all settings that the catalogue relies on.
    pub(super) fn connect(&self, purpose: Purpose) -> Result<B, OpenError> {
        let connected = B::connect(&self.url, purpose, self.timeout);
        let mut connection = connected.map_err(|error| self.rejected(&error))?;
        slow_statements::log_from(&mut connection, self.slow_statement);
        Ok(connection)
    }

    /// How long a statement may take, unless it is known to take longer.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The database as messages name it, without credentials.
    pub(super) fn name(&self) -> String {
        redact(&self.url)
    }

    /// The error for a database that cannot be used.
    pub(super) fn cannot_open(&self, cause: Box<dyn Error + Send + Sync>) -> OpenError {
        self.unusable(cause, B::REMEDY)
    }

    fn unusable(&self, cause: Box<dyn Error + Send + Sync>, remedy: &'static str) -> OpenError {
        let database = self.name();
        if is_transient(cause.as_ref()) {
            return OpenError::Busy { database };
        }
        OpenError::Unusable {
            database,
            remedy,
            cause: Cause::from(cause),
        }
    }

    /// The error for a server that does not answer.
    pub(super) fn unreachable(&self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> OpenError {
        OpenError::Unreachable {
            database: self.name(),
            cause: Cause::from(cause.into()),
        }
    }

    fn rejected(&self, error: &ConnectionError) -> OpenError {
        // Some messages have several lines.
        let message = error.to_string();
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        match B::connect_failure(error) {
            ConnectFailure::Unreachable => self.unreachable(message),
            ConnectFailure::Rejected(remedy) => self.unusable(message.into(), remedy),
            // The message may quote a part of the URL, and with it the password.
            ConnectFailure::InvalidUrl => OpenError::InvalidUrl {
                database: self.name(),
                example: B::EXAMPLE,
            },
        }
    }
}

impl<B> Clone for Address<B> {
    fn clone(&self) -> Self {
        Self {
            url: self.url.clone(),
            timeout: self.timeout,
            slow_statement: self.slow_statement,
            backend: PhantomData,
        }
    }
}

impl<B> fmt::Debug for Address<B> {
    /// Without credentials.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&redact(&self.url))
    }
}
