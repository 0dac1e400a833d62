//! Connections: where a database is, and how one is reached and set up. What a backend needs
//! beyond that is in a module of its name.

use std::{error::Error, fmt, time::Duration};

#[cfg(feature = "postgres")]
use diesel::connection::SimpleConnection;
#[cfg(any(feature = "postgres", feature = "mysql"))]
use diesel::{ConnectionError, QueryResult};

use super::failure::is_passing;
#[cfg(feature = "sqlite")]
use super::file::{Files, Original};
#[cfg(feature = "mysql")]
use super::mysql;
#[cfg(feature = "postgres")]
use super::postgres;
#[cfg(feature = "sqlite")]
use super::sqlite;
#[cfg(any(feature = "postgres", feature = "mysql"))]
use crate::open::{example, redact};
use crate::{
    error::{Cause, OpenError},
    open::{Backend, OpenOptions, backend_of},
};

/// A connection to any of the backends compiled in.
#[derive(diesel::MultiConnection)]
pub(super) enum AnyConnection {
    #[cfg(feature = "sqlite")]
    Sqlite(diesel::SqliteConnection),
    #[cfg(feature = "postgres")]
    Postgres(diesel::PgConnection),
    #[cfg(feature = "mysql")]
    Mysql(diesel::MysqlConnection),
}

#[cfg(any(feature = "postgres", feature = "mysql"))]
impl AnyConnection {
    /// Sets how long a statement may take, where that is not long enough for every statement.
    /// In PostgreSQL it is no more than a lock is waited for, since waits for several locks add
    /// up; a commit is not cut short by it.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(
            unused_variables,
            clippy::unnecessary_wraps,
            reason = "the others need no other limit"
        )
    )]
    pub(super) fn limit_statements(&mut self, limit: Duration) -> QueryResult<()> {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(connection) => {
                let limit = format!("SET statement_timeout = {}", limit.as_millis());
                connection.batch_execute(&limit)
            }
            #[cfg(feature = "mysql")]
            Self::Mysql(_) => Ok(()),
            #[cfg(feature = "sqlite")]
            Self::Sqlite(_) => Ok(()),
        }
    }
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To find out whether the database can be used, and to create what is missing.
    Opening,
    /// To read only. In SQLite any number may read, in a snapshot each, beside one that writes.
    #[cfg(feature = "sqlite")]
    Reading,
    /// To read only, on a thread that must not block: without patience for locks.
    #[cfg(feature = "sqlite")]
    ReadingInPlace,
    /// To read and to write.
    Writing,
}

/// A database that a URL names, and how long to wait for it.
#[derive(Clone)]
pub(super) struct Location {
    backend: Backend,
    /// The path of the file, or the URL of the server.
    address: String,
    /// The file that every connection must be to, once one is in use.
    #[cfg(feature = "sqlite")]
    original: Original,
    pub(super) timeout: Duration,
}

/// Where a database is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Residence {
    /// Within this process, in a file.
    #[cfg(feature = "sqlite")]
    Embedded,
    /// By a server, which may be away.
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    Server,
}

impl Location {
    /// Reads a URL.
    pub(super) fn parse(url: &str, options: &OpenOptions) -> Result<Self, OpenError> {
        let backend = backend_of(url)?;
        let address = match backend {
            #[cfg(feature = "sqlite")]
            Backend::Sqlite => sqlite::path_of_url(url).ok_or_else(|| OpenError::NoPath {
                url: url.to_owned(),
            })?,
            // Of two, one would be in the password, and its end would be taken for a host.
            #[cfg(any(feature = "postgres", feature = "mysql"))]
            _ if !url.contains("://") || url.matches('@').count() > 1 => {
                return Err(OpenError::InvalidUrl {
                    database: redact(url),
                    example: example(url),
                });
            }
            #[cfg(feature = "postgres")]
            Backend::Postgres => postgres::with_defaults(url, options),
            #[cfg(feature = "mysql")]
            Backend::Mysql => url.to_owned(),
        };
        Ok(Self {
            backend,
            address,
            #[cfg(feature = "sqlite")]
            original: Original::default(),
            timeout: options.timeout,
        })
    }

    /// Where the database is worked on.
    pub(super) fn residence(&self) -> Residence {
        match self.backend {
            #[cfg(feature = "sqlite")]
            Backend::Sqlite => Residence::Embedded,
            #[cfg(any(feature = "postgres", feature = "mysql"))]
            _ => Residence::Server,
        }
    }

    /// A connection with all the settings that the catalogue relies on.
    pub(super) fn connect(&self, purpose: Purpose) -> Result<AnyConnection, OpenError> {
        let Self {
            address, timeout, ..
        } = self;
        match self.backend {
            #[cfg(feature = "sqlite")]
            Backend::Sqlite => sqlite::connect(address, &self.original, purpose, *timeout)
                .map(AnyConnection::Sqlite)
                .map_err(|error| self.refusal(error.into())),
            #[cfg(feature = "postgres")]
            Backend::Postgres => postgres::connect(address, purpose, *timeout)
                .map(AnyConnection::Postgres)
                .map_err(|error| self.turned_away(&error, postgres::reason(&error))),
            #[cfg(feature = "mysql")]
            Backend::Mysql => mysql::connect(address, purpose, *timeout)
                .map(AnyConnection::Mysql)
                .map_err(|error| self.turned_away(&error, mysql::reason(&error))),
        }
    }

    /// Makes sure that there is a file to open.
    #[cfg(feature = "sqlite")]
    pub(super) fn must_exist(&self) -> Result<(), OpenError> {
        match std::fs::exists(&self.address) {
            Ok(false) => Err(OpenError::Missing {
                database: self.name(),
            }),
            // What else is wrong is found out in the course of opening.
            Ok(true) | Err(_) => Ok(()),
        }
    }

    /// The path of a database file.
    #[cfg(feature = "sqlite")]
    pub(super) fn path(&self) -> &std::path::Path {
        std::path::Path::new(&self.address)
    }

    /// The files of a database that has just been opened.
    #[cfg(feature = "sqlite")]
    pub(super) fn files(&self) -> std::io::Result<Files> {
        Files::of(self, &self.address, &self.original)
    }

    /// The database as it is named in messages, without credentials.
    pub(super) fn name(&self) -> String {
        match self.backend {
            #[cfg(feature = "sqlite")]
            Backend::Sqlite => format!("'{}'", self.address.trim_start_matches("./")),
            #[cfg(any(feature = "postgres", feature = "mysql"))]
            _ => redact(&self.address),
        }
    }

    /// The error for a database that cannot be opened.
    pub(super) fn refusal(&self, cause: Box<dyn Error + Send + Sync>) -> OpenError {
        let database = self.name();
        if is_passing(cause.as_ref()) {
            return OpenError::Busy { database };
        }
        OpenError::Unusable {
            database,
            remedy: match self.backend {
                #[cfg(feature = "sqlite")]
                Backend::Sqlite => sqlite::remedy(&self.address),
                #[cfg(feature = "postgres")]
                Backend::Postgres => postgres::REMEDY,
                #[cfg(feature = "mysql")]
                Backend::Mysql => mysql::REMEDY,
            },
            cause: Cause::from(cause),
        }
    }

    /// The error for a server that does not answer.
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    pub(super) fn unreachable(&self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> OpenError {
        OpenError::Unreachable {
            database: self.name(),
            cause: Cause::from(cause.into()),
        }
    }

    /// The error for a server that did not let us in.
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    fn turned_away(&self, error: &ConnectionError, reason: Reason) -> OpenError {
        // The words come in several lines.
        let words = error.to_string();
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        match reason {
            Reason::Away => self.unreachable(words),
            Reason::Refused => self.refusal(words.into()),
            // The words may repeat a part of the URL, and with it the password.
            Reason::WrongUrl => OpenError::InvalidUrl {
                database: self.name(),
                example: example(&self.address),
            },
        }
    }
}

/// Why a server did not let us in.
#[cfg(any(feature = "postgres", feature = "mysql"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// It is not there, or not yet.
    Away,
    /// It will not let us in until somebody changes something.
    Refused,
    /// The URL does not tell where to go.
    WrongUrl,
}

impl fmt::Debug for Location {
    /// Without what may be secret.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name())
    }
}
