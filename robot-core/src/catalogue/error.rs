//! Errors of catalogues, and of opening them.

use std::sync::Arc;

use crate::model::{Field, INDEXED_LENGTH, Revision, RobotId, Violation, Violations, excerpt};

/// The maximum number of robots whose changes are undone together.
pub const REVERT_LIMIT: usize = 10_000;

/// The cause that a store reports: for logs, never for clients. Calls that fail together share it.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{Cause, Error};
///
/// let cause: Cause = Arc::from(Box::from("disk failure"));
/// let failures = [Error::Store(cause.clone()), Error::Unknown(cause)];
/// assert_eq!(failures[0].to_string(), "The store failed");
/// ```
pub type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// The result of an operation on a catalogue.
///
/// ```
/// use robot_core::{Catalogue, CatalogueExt, Robot};
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

/// Why an operation on a catalogue failed. Nothing was stored, except possibly for
/// [`Error::Unknown`].
///
/// ```
/// use robot_core::{CatalogueExt, Draft, Error, MemoryCatalogue};
///
/// let catalogue = MemoryCatalogue::new();
/// let message = match catalogue.add(Draft::new("R2-D2", "toaster", 1977)) {
///     Ok(robot) => format!("added as {}", robot.id()),
///     Err(Error::Rejected(violations)) => format!("correct this:\n{violations}"),
///     Err(Error::Unavailable(_)) => "try again in a moment".to_owned(),
///     Err(error) => error.to_string(),
/// };
/// assert!(message.starts_with("correct this:\nValue of field 'type'"));
/// ```
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The draft violates rules. Correct it and submit it again.
    #[error(transparent)]
    Rejected(#[from] Violations),
    /// A robot could not be restored. No robot of the same restoration was stored.
    #[error("The robot {id} cannot be restored: {violation}")]
    NotRestored {
        /// The id of the robot.
        id: RobotId,
        /// The rule that it would violate.
        violation: Violation,
    },
    /// No robot has this id: it was never assigned, or its robot was deleted.
    #[error("No robot has the id {0}")]
    NotFound(RobotId),
    /// The robot with this id does not have the expected revision: it was changed since it was read.
    #[error("The robot {0} was changed since it was read; read it again before you change it")]
    Stale(RobotId),
    /// A position belongs to another catalogue, or the catalogue does not keep all changes after it any more. A caller lists
    /// the robots, and follows the changes from the [`position`](crate::Catalogue::position) before that.
    #[error(
        "The position is not one of this catalogue, or the changes after it are not kept any more; list the robots again, and \
         follow the changes from there"
    )]
    PositionGone,
    /// No version of the robot has this revision, or it is not kept any more.
    #[error("The robot {id} has no version {revision}; its history names those that it has")]
    NoSuchVersion {
        /// The robot.
        id: RobotId,
        /// The revision.
        revision: Revision,
    },
    /// Robots cannot have their earlier values again, by the present rules. Nothing was undone.
    #[error("{}", not_reverted(.0))]
    NotReverted(Vec<(RobotId, Violations)>),
    /// More robots were changed than can be changed back together. Nothing was undone.
    #[error(
        "More than {} robots were changed; undo fewer changes at once",
        REVERT_LIMIT
    )]
    TooManyChanges,
    /// The store keeps no history.
    #[error("This catalogue keeps no history")]
    NoHistory,
    /// The definition does not have the expected revision: it was changed since it was read.
    #[error("The definition was changed since it was read; read it again before you change it")]
    DefinitionStale,
    /// Robots exclude a new definition. The message does not say how to drop values: with
    /// [`Redefinition::drops_values`](crate::Redefinition::drops_values), for which each interface has a name.
    #[error("{}", conflict_message(.field, *.conflict, *.robots, .ids, .values))]
    DefinitionConflict {
        /// The name of the field.
        field: String,
        /// How they exclude it.
        conflict: DefinitionConflict,
        /// The number of these robots.
        robots: u64,
        /// The lowest of their ids, five at most.
        ids: Vec<RobotId>,
        /// The values of these that are none of the new kind.
        values: Vec<String>,
    },
    /// The store is overloaded or unreachable at the moment. The same call may succeed later.
    #[error("The catalogue is busy or cannot be reached; try again in a moment")]
    Unavailable(#[source] Cause),
    /// The store cannot store anything until the program is restarted, because its disk failed.
    /// Reads succeed.
    #[error("The catalogue cannot be changed until it is restarted, because its disk failed")]
    RestartRequired(#[source] Cause),
    /// The program may read the store, but not write it.
    #[error("The catalogue is read-only")]
    ReadOnly(#[source] Cause),
    /// The disk of the store is full. The same call may succeed when space has been freed.
    #[error("The disk of the catalogue is full; free space on it and try again")]
    DiskFull(#[source] Cause),
    /// The store failed, and a retry will not help.
    #[error("The store failed")]
    Store(#[source] Cause),
    /// The store or the connection to it failed while the change was committed, and the change
    /// could not be undone. Check whether it was stored before a retry.
    #[error(
        "The store failed, and whether the change was stored is unknown; look before you try again"
    )]
    Unknown(#[source] Cause),
}

/// Why robots exclude a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionConflict {
    /// They have values of a field that is to be removed.
    HaveValues,
    /// They have values of a field that are none of its new kind.
    HaveOtherKinds,
    /// They have the same values of a field that is to be unique.
    HaveDuplicates,
    /// They have longer texts of a field than an index permits.
    HaveLongTexts,
}

impl Error {
    /// The message with that of the cause: for logs and local users. Servers send only the message to
    /// clients.
    ///
    /// ```
    /// let error = robot_core::Error::store("disk failure");
    /// assert_eq!(error.with_cause(), "The store failed: disk failure");
    /// ```
    #[must_use]
    pub fn with_cause(&self) -> String {
        match std::error::Error::source(self) {
            Some(cause) => format!("{self}: {cause}"),
            None => self.to_string(),
        }
    }

    /// [`Error::Unavailable`], for this cause.
    ///
    /// ```
    /// assert!(matches!(robot_core::Error::unavailable("too many connections"), robot_core::Error::Unavailable(_)));
    /// ```
    pub fn unavailable(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unavailable(Arc::from(cause.into()))
    }

    /// [`Error::ReadOnly`], for this cause.
    ///
    /// ```
    /// assert!(matches!(robot_core::Error::read_only("no permission"), robot_core::Error::ReadOnly(_)));
    /// ```
    pub fn read_only(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::ReadOnly(Arc::from(cause.into()))
    }

    /// [`Error::DiskFull`], for this cause.
    ///
    /// ```
    /// assert!(matches!(robot_core::Error::disk_full("quota exceeded"), robot_core::Error::DiskFull(_)));
    /// ```
    pub fn disk_full(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::DiskFull(Arc::from(cause.into()))
    }

    /// [`Error::Unknown`], for this cause.
    ///
    /// ```
    /// assert!(matches!(robot_core::Error::unknown("connection reset"), robot_core::Error::Unknown(_)));
    /// ```
    pub fn unknown(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unknown(Arc::from(cause.into()))
    }

    /// [`Error::Store`], for this cause.
    ///
    /// ```
    /// assert!(matches!(robot_core::Error::store("disk failure"), robot_core::Error::Store(_)));
    /// ```
    pub fn store(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Store(Arc::from(cause.into()))
    }

    /// The number of robots that [`Error::DefinitionConflict`] names.
    pub(crate) const EXCLUDING: usize = 5;

    /// [`Self::DefinitionConflict`] by these robots, in the order of their ids, and their values.
    pub(crate) fn excluded(
        field: &Field,
        conflict: DefinitionConflict,
        robots: u64,
        some: impl IntoIterator<Item = (RobotId, String)>,
    ) -> Self {
        let (ids, mut values): (Vec<_>, Vec<_>) = some.into_iter().take(Self::EXCLUDING).unzip();
        if conflict != DefinitionConflict::HaveOtherKinds {
            values.clear();
        }
        Self::DefinitionConflict {
            field: field.name().to_owned(),
            conflict,
            robots,
            ids,
            values,
        }
    }
}

fn not_reverted(problems: &[(RobotId, Violations)]) -> String {
    let problems = problems
        .iter()
        .map(|(id, violations)| format!("robot {id}: {violations}"));
    let problems: Vec<_> = problems.take(Error::EXCLUDING).collect();
    format!("The changes cannot be undone: {}", problems.join("; "))
}

fn conflict_message(
    field: &str,
    conflict: DefinitionConflict,
    robots: u64,
    ids: &[RobotId],
    values: &[String],
) -> String {
    let ids: Vec<_> = ids.iter().map(ToString::to_string).collect();
    let ids = ids.join(", ");
    let which = match robots {
        1 => format!("1 robot (id {ids})"),
        2..=5 => format!("{robots} robots (ids {ids})"),
        _ => format!("{robots} robots (ids {ids} and others)"),
    };
    match conflict {
        DefinitionConflict::HaveValues => {
            format!("{field} cannot be removed, because {which} would lose the value")
        }
        DefinitionConflict::HaveOtherKinds => {
            let values: Vec<_> = values
                .iter()
                .map(|value| format!("'{}'", excerpt(value)))
                .collect();
            let values = values.join(", ");
            format!(
                "{field} cannot get another type, because {which} would lose the value: {values}"
            )
        }
        DefinitionConflict::HaveDuplicates => format!(
            "{field} cannot be unique, because {which} have a value that others have; change these first"
        ),
        DefinitionConflict::HaveLongTexts => format!(
            "{field} cannot have an index, because the texts of {which} have more than {INDEXED_LENGTH} \
             characters; change these first"
        ),
    }
}

impl From<Violation> for Error {
    fn from(violation: Violation) -> Self {
        Self::Rejected(violation.into())
    }
}

/// Why a catalogue could not be opened. Each message says what to do. A text without a name is the database,
/// without credentials.
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
    /// No store of this build has URLs with this scheme.
    #[error("no store has URLs that begin with '{scheme}'; this program opens {known}")]
    UnknownScheme {
        /// The scheme. The rest of the URL may contain a password and is not repeated.
        scheme: String,
        /// Examples of the URLs that this program opens.
        known: String,
    },
    /// The URL of a database file has no usable path.
    #[error(
        "'{0}' names no database file; write it as sqlite://robots.db or \
         sqlite:///var/lib/robots.db, or memory: to keep robots in memory"
    )]
    NoPath(String),
    /// The URL of a database server cannot be used. It is not repeated, because a part of it may
    /// be a password.
    #[error(
        "the URL of the database {database} cannot be used: {reason}; write it as {example}, with every \
         character of user and password that is not a letter or digit percent-encoded"
    )]
    InvalidUrl {
        /// The database, as far as it was recognised, without credentials.
        database: String,
        /// What is wrong, without values of the URL.
        reason: String,
        /// A valid URL.
        example: &'static str,
    },
    /// The database server cannot be reached at the moment: it is starting or down, or the URL has
    /// the wrong address.
    #[error(
        "cannot reach the database {database}: {cause}; check that it runs and accepts \
         connections, and the address, the user, the password and the database in the URL"
    )]
    Unreachable {
        /// The database, without credentials.
        database: String,
        /// The error of the system or the server.
        #[source]
        cause: Cause,
    },
    /// A later version of this program has changed the database.
    #[error(
        "the database {database} was last used by a newer version of this program \
         (its migration {migration} is unknown to this one); use that version or a later one"
    )]
    TooNew {
        /// The database, without credentials.
        database: String,
        /// The first migration that this program does not know.
        migration: String,
    },
    /// The database belongs to another program. It was not changed.
    #[error("the database {0} belongs to another program; use another one")]
    Foreign(String),
    /// A program before version 0.1.0 created the database. It was not changed.
    #[error(
        "a version before 0.1.0 created the database {0}; export the robots with the program of that version \
         ('robot-cli export'), and import them into a new catalogue"
    )]
    Prerelease(String),
    /// A copy into the database is not complete: see [`Preparation::BeginCopy`](crate::Preparation::BeginCopy).
    #[error(
        "the database {0} is the target of a copy that is running or was stopped; if it was \
         stopped, delete the file, or drop the tables robots, robots_catalogue, robots_versions, robots_definition, \
         robots_rewrite and __diesel_schema_migrations, and \
         copy again"
    )]
    IncompleteCopy(String),
    /// The file does not exist, and the options say not to create it.
    #[error("there is no database {0}; check its path")]
    Missing(String),
    /// The disk has no room to create or prepare the database.
    #[error("the disk of the database {0} is full; free space on it and try again")]
    DiskFull(String),
    /// Another program has locked the database.
    #[error("the database {0} is locked by another program; try again when that has finished")]
    Busy(String),
    /// The database cannot be opened, read or prepared.
    #[error("cannot open the database {database}: {cause}; {remedy}")]
    Unusable {
        /// The database, without credentials.
        database: String,
        /// What the operator can do.
        remedy: &'static str,
        /// The error of the store.
        #[source]
        cause: Cause,
    },
}

impl OpenError {
    /// Whether opening may succeed later without any other change: the database is unreachable or
    /// locked.
    ///
    /// ```
    /// let error = robot_core::open("ftp://robots").err().ok_or("it was opened")?;
    /// assert!(!error.is_transient());
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Busy(_) | Self::Unreachable { .. })
    }
}
