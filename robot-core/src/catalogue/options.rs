//! Options for opening a catalogue.

use std::time::Duration;

use super::earlier_version::EarlierVersion;

/// How a catalogue is opened. [`open`](crate::open) uses the defaults.
///
/// ```
/// use std::time::Duration;
/// use robot_core::OpenOptions;
///
/// let options = OpenOptions {
///     timeout: Duration::from_secs(5),
///     wait_for_server: true,
///     ..OpenOptions::default()
/// };
/// let catalogue = options.open("memory:")?;
/// # Ok::<(), robot_core::OpenError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct OpenOptions {
    /// How long a call waits for a connection, a lock or an answer before it fails with
    /// [`Error::Unavailable`](crate::Error::Unavailable): 2 seconds by default, 10 ms to one hour.
    /// MariaDB and MySQL count lock waits in whole seconds. A search on a database server may take
    /// ten times as long.
    pub timeout: Duration,
    /// Statements of a database that take this long or longer are logged as warnings, without their
    /// values: 500 ms by default. With zero, every statement is logged.
    pub slow_statement: Duration,
    /// The maximum number of connections (for SQLite, of reading connections), 1 to 1000: by default 4 per
    /// core, from 4 to 32. A database server has at least five: one for look-ups, two for changes, and two
    /// for lists and restorations.
    pub connections: u32,
    /// The number of non-blocking threads that call
    /// [`Catalogue::start_get`](crate::Catalogue::start_get): by default one per core. SQLite
    /// keeps a connection for each of them, which it uses while look-ups are fast.
    pub workers: usize,
    /// Whether a store on a database server runs its tasks on the Tokio runtime of the thread that opens it, if
    /// there is one. By default, such a store has a runtime of its own, with one thread.
    ///
    /// The threads of that runtime must never wait for a result of the catalogue: they
    /// [`resolve`](crate::Pending::resolve) it, and call blocking methods in `tokio::task::spawn_blocking`.
    /// Otherwise calls may never return.
    pub use_current_runtime: bool,
    /// Whether the catalogue is opened also if the database server cannot be reached. Calls fail with
    /// [`Error::Unavailable`](crate::Error::Unavailable) until it can.
    pub wait_for_server: bool,
    /// Whether no file is created: if it does not exist, opening fails with
    /// [`OpenError::Missing`](crate::OpenError::Missing).
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// use robot_core::{OpenError, OpenOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let url = format!("sqlite://{}/robots.db", folder.path().display());
    /// let options = OpenOptions { must_exist: true, ..OpenOptions::default() };
    /// assert!(matches!(options.open(&url), Err(OpenError::Missing(_))));
    /// # }
    /// # std::io::Result::Ok(())
    /// ```
    pub must_exist: bool,
    /// What happens to the tables of a database: by default, they are migrated.
    pub preparation: Preparation,
}

/// What happens to the tables of a database when it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preparation {
    /// Tables of an older version are migrated.
    Migrate,
    /// An SQLite file is read as it is, also one of an older version: it must exist, nothing of it is
    /// written, and changes fail with [`Error::ReadOnly`](crate::Error::ReadOnly). As `Migrate` on a
    /// database server.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// use robot_core::{CatalogueExt, Draft, Error, OpenOptions, Preparation};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let url = format!("sqlite://{}/robots.db", folder.path().display());
    /// robot_core::open(&url)?.add(Draft::new("Marvin", "droid", 1978))?;
    ///
    /// let options = OpenOptions { preparation: Preparation::Keep, ..OpenOptions::default() };
    /// let backup = options.open(&url)?;
    /// assert_eq!(backup.list()?.len(), 1);
    /// let change = backup.add(Draft::new("R2-D2", "droid", 1977));
    /// assert!(matches!(change, Err(Error::ReadOnly(_))));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    Keep,
    /// As `Migrate`. A catalogue without robots is then marked as the incomplete target of a copy, durably: until
    /// `EndCopy`, opening it fails with [`OpenError::IncompleteCopy`](crate::OpenError::IncompleteCopy).
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// use robot_core::{CatalogueExt, Draft, OpenError, OpenOptions, Preparation, open};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let url = format!("sqlite://{}/robots.db", folder.path().display());
    /// let options = |preparation| OpenOptions { preparation, ..OpenOptions::default() };
    /// let target = options(Preparation::BeginCopy).open(&url)?;
    /// target.add(Draft::new("Marvin", "droid", 1978))?;
    /// assert!(matches!(open(&url), Err(OpenError::IncompleteCopy(_))));
    ///
    /// options(Preparation::EndCopy).open(&url)?;
    /// assert_eq!(open(&url)?.list()?.len(), 1);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    BeginCopy,
    /// The mark is removed.
    EndCopy,
    /// The migrations that this earlier version does not have are reverted, so that it can open the database
    /// then. Other programs must not use it meanwhile. The catalogue that is opened is of no use: drop it.
    Revert(EarlierVersion),
}

impl Default for OpenOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            timeout: Duration::from_secs(2),
            slow_statement: Duration::from_millis(500),
            // More than cores, so that the cores stay busy while some connections wait.
            connections: u32::try_from(4 * cores).unwrap_or(u32::MAX).clamp(4, 32),
            workers: cores,
            use_current_runtime: false,
            wait_for_server: false,
            must_exist: false,
            preparation: Preparation::Migrate,
        }
    }
}

impl OpenOptions {
    /// The `timeout`, within its limits.
    #[must_use]
    pub fn get_timeout(&self) -> Duration {
        let timeout = self.timeout;
        timeout.clamp(Duration::from_millis(10), Duration::from_secs(3600))
    }

    /// The number of `connections`, within its limits.
    #[must_use]
    pub fn get_connections(&self) -> u32 {
        self.connections.clamp(1, 1000)
    }
}
