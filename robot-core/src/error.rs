//! What can go wrong, and what it means to a caller.

use std::sync::Arc;

use crate::{
    robot::RobotId,
    rules::{Violation, Violations},
};

/// The cause that a store reports, kept for logs and never shown to clients. One cause may
/// fail many calls at once.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{Cause, Error};
///
/// let cause: Cause = Arc::from(Box::from("the tape is torn"));
/// let failures = [Error::Store(cause.clone()), Error::Unknown(cause)];
/// assert_eq!(failures[0].to_string(), "The store failed");
/// ```
pub type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// The result of an operation on a catalogue.
///
/// ```
/// use robot_core::{Catalogue, Robot};
///
/// /// The first robot by name.
/// fn first(catalogue: &dyn Catalogue) -> robot_core::Result<Option<Robot>> {
///     Ok(catalogue.list()?.into_iter().next())
/// }
///
/// assert_eq!(first(&robot_core::MemoryCatalogue::new())?, None);
/// # Ok::<(), robot_core::Error>(())
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation on a catalogue failed. Nothing was stored, but for [`Error::Unknown`].
///
/// ```
/// use robot_core::{Catalogue, Draft, Error, MemoryCatalogue};
///
/// let catalogue = MemoryCatalogue::new();
/// let message = match catalogue.add(Draft::new("R2-D2", "toaster", 1977)) {
///     Ok(robot) => format!("added as {}", robot.id()),
///     Err(Error::Rejected(violations)) => format!("mend this:\n{violations}"),
///     Err(Error::Unavailable(_)) => "try again in a moment".to_owned(),
///     Err(error) => error.to_string(),
/// };
/// assert!(message.starts_with("mend this:\nValue of field 'type'"));
/// ```
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The draft broke rules. Mend it and send it again.
    #[error(transparent)]
    Rejected(#[from] Violations),
    /// This robot could not be restored, and neither was any that came with it.
    #[error("The robot {id} cannot be restored: {violation}")]
    NotRestored {
        /// The id with which the robot was to be restored.
        id: RobotId,
        /// The rule that it would have broken.
        violation: Violation,
    },
    /// No robot has this id: it was never given, or its robot was deleted.
    #[error("No robot has the id {0}")]
    NotFound(RobotId),
    /// The store is too busy, or cannot be reached, for now. The same call may succeed later.
    #[error("The catalogue is busy or cannot be reached; try again in a moment")]
    Unavailable(#[source] Cause),
    /// The store failed in a way that trying again will not mend.
    #[error("The store failed")]
    Store(#[source] Cause),
    /// The store failed, or was lost, while it made the change durable, and could not take it
    /// back. Look whether it is there before you try again.
    #[error(
        "The store failed, and whether the change was stored is unknown; look before you try again"
    )]
    Unknown(#[source] Cause),
}

impl Error {
    /// [`Error::Unavailable`], for this cause.
    ///
    /// ```
    /// assert!(matches!(robot_core::Error::unavailable("all lines are busy"), robot_core::Error::Unavailable(_)));
    /// ```
    pub fn unavailable(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unavailable(Arc::from(cause.into()))
    }

    /// [`Error::Unknown`], for this cause.
    ///
    /// ```
    /// assert!(matches!(robot_core::Error::unknown("the line went dead"), robot_core::Error::Unknown(_)));
    /// ```
    pub fn unknown(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unknown(Arc::from(cause.into()))
    }

    /// [`Error::Store`], for this cause.
    ///
    /// ```
    /// assert!(matches!(robot_core::Error::store("the tape is torn"), robot_core::Error::Store(_)));
    /// ```
    pub fn store(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Store(Arc::from(cause.into()))
    }
}

impl From<Violation> for Error {
    fn from(violation: Violation) -> Self {
        Self::Rejected(violation.into())
    }
}

/// Why a catalogue could not be opened. Each message names the remedy.
///
/// ```
/// use robot_core::OpenError;
///
/// match robot_core::open("ftp://robots") {
///     Err(OpenError::UnknownScheme { scheme, .. }) => assert_eq!(scheme, "ftp"),
///     Err(error) => panic!("{error}"),
///     Ok(_) => panic!("it was opened"),
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The URL names no store that there is.
    #[error("'{scheme}' is no store that this program knows; it knows {known}")]
    UnknownScheme {
        /// What the URL begins with. The rest may hold a password and is not repeated.
        scheme: String,
        /// The URLs that this build takes, by example.
        known: String,
    },
    /// The store exists, but this program was built without it.
    #[error(
        "'{scheme}' stores were left out when this program was built; it has {known} \
         (build it with the cargo feature '{scheme}' to have them)"
    )]
    NotCompiledIn {
        /// What the URL begins with, which is also the cargo feature of robot-core that
        /// brings such stores.
        scheme: &'static str,
        /// The URLs that this build takes, by example.
        known: String,
    },
    /// The URL has a known scheme, and then something that is no place for a store.
    #[error(
        "'{url}' names no database file; write it as sqlite://robots.db or \
         sqlite:///var/lib/robots.db, or memory: to keep robots in memory"
    )]
    NoPath {
        /// The URL as given.
        url: String,
    },
    /// The URL of a database server cannot be read. Its words are not repeated, for one of them
    /// may be a password.
    #[error(
        "the URL of the database {database} cannot be read; write it as {example}, with every \
         character of user and password that is not a letter or digit percent-encoded"
    )]
    InvalidUrl {
        /// The database, as far as it can be told, without credentials.
        database: String,
        /// A URL that can be read.
        example: &'static str,
    },
    /// The database server cannot be reached for now. It may be starting, or be down, or the
    /// URL names the wrong place.
    #[error(
        "cannot reach the database {database}: {cause}; check that it runs and lets you in, and \
         that the URL is right"
    )]
    Unreachable {
        /// The database, without credentials.
        database: String,
        /// What the system or the server said.
        #[source]
        cause: Cause,
    },
    /// A later version of this program has changed the database.
    #[error(
        "the database {database} was last used by a newer version of this program \
         (it has the migration {migration}, which this one does not know); use that version or a later one"
    )]
    TooNew {
        /// The database, without credentials.
        database: String,
        /// The first migration that this program does not know.
        migration: String,
    },
    /// The database is used by another program for something else. It was left as it is.
    #[error("the database {database} belongs to another program; name another one")]
    Foreign {
        /// The database, without credentials.
        database: String,
    },
    /// There is no such file, and none was to be created.
    #[error("there is no database {database}; check its path")]
    Missing {
        /// The database.
        database: String,
    },
    /// Another program keeps the database locked.
    #[error("the database {database} is locked by another program; try again when that is done")]
    Busy {
        /// The database, without credentials.
        database: String,
    },
    /// The database cannot be opened, read or prepared.
    #[error("cannot open the database {database}: {cause}; {remedy}")]
    Unusable {
        /// The database, without credentials.
        database: String,
        /// What the person who runs the program can do.
        remedy: &'static str,
        /// The store's own words.
        #[source]
        cause: Cause,
    },
}

impl OpenError {
    /// Whether opening may succeed later, although nobody changes anything: the database is
    /// away or busy.
    ///
    /// ```
    /// let error = robot_core::open("ftp://robots").err().ok_or("it was opened")?;
    /// assert!(!error.is_passing());
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Busy { .. } | Self::Unreachable { .. })
    }
}
