//! Options for opening a catalogue.

use std::time::Duration;

use super::earlier_version::EarlierVersion;

/// How a catalogue is opened. [`open`](crate::open) uses the defaults.
///
/// ```
/// use std::time::Duration;
/// use robot_core::OpenOptions;
///
/// let catalogue = OpenOptions::new()
///     .timeout(Duration::from_secs(5))
///     .wait_for_server()
///     .open("memory:")?;
/// # Ok::<(), robot_core::OpenError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct OpenOptions {
    timeout: Duration,
    slow_statement: Duration,
    connections: Option<u32>,
    workers: Option<usize>,
    uses_current_runtime: bool,
    waits_for_server: bool,
    must_exist: bool,
    preparation: Preparation,
}

/// What happens to the tables of a database when it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preparation {
    /// Tables of an older version are migrated.
    Migrate,
    /// They are read as they are, and nothing is written.
    Keep,
    /// As `Migrate`. A catalogue without robots is then marked as the incomplete target of a copy.
    BeginCopy,
    /// The mark is removed.
    EndCopy,
    /// The migrations that this version does not have are reverted.
    Revert(EarlierVersion),
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl OpenOptions {
    /// The default options.
    pub fn new() -> Self {
        Self {
            timeout: Duration::from_secs(2),
            slow_statement: Duration::from_millis(500),
            connections: None,
            workers: None,
            uses_current_runtime: false,
            waits_for_server: false,
            must_exist: false,
            preparation: Preparation::Migrate,
        }
    }

    /// How long a call waits for a connection, a lock or an answer before it fails with
    /// [`Error::Unavailable`](crate::Error::Unavailable): 2 seconds by default, 10 ms to one hour.
    /// MariaDB and MySQL count lock waits in whole seconds. A search on a database server may take
    /// ten times as long.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout.clamp(Duration::from_millis(10), Duration::from_secs(3600));
        self
    }

    /// Statements of a database that take this long or longer are logged as warnings, without their
    /// values: 500 ms by default. With zero, every statement is logged.
    ///
    /// ```
    /// use std::time::Duration;
    /// use robot_core::OpenOptions;
    ///
    /// let options = OpenOptions::new().slow_statement(Duration::from_millis(50));
    /// let catalogue = options.open("memory:")?;
    /// # Ok::<(), robot_core::OpenError>(())
    /// ```
    pub fn slow_statement(mut self, limit: Duration) -> Self {
        self.slow_statement = limit;
        self
    }

    /// The maximum number of connections (for SQLite, of reading connections): by default 4 per
    /// core, from 4 to 32. Values are limited to 1 to 1000. A database server has at least five:
    /// one for look-ups, two for changes, and two for lists and restorations.
    ///
    /// ```
    /// # use robot_core::OpenOptions;
    /// // For a program with a thread for each of eight clients.
    /// let catalogue = OpenOptions::new().connections(8).open("memory:")?;
    /// # Ok::<(), robot_core::OpenError>(())
    /// ```
    pub fn connections(mut self, connections: u32) -> Self {
        self.connections = Some(connections.clamp(1, 1000));
        self
    }

    /// The number of non-blocking threads that call
    /// [`Catalogue::start_get`](crate::Catalogue::start_get): by default one per core. SQLite
    /// keeps a connection for each of them, which it uses while look-ups are fast.
    ///
    /// ```
    /// # use robot_core::OpenOptions;
    /// // For an async runtime with two threads.
    /// let catalogue = OpenOptions::new().workers(2).open("memory:")?;
    /// # Ok::<(), robot_core::OpenError>(())
    /// ```
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Lets a store on a database server run its tasks on the Tokio runtime of the thread that opens it, if there
    /// is one. By default, such a store has a runtime of its own, with one thread.
    ///
    /// The threads of that runtime must never wait for a result of the catalogue: they
    /// [`resolve`](crate::Pending::resolve) it, and call blocking methods in `tokio::task::spawn_blocking`.
    /// Otherwise calls may never return.
    pub fn use_current_runtime(mut self) -> Self {
        self.uses_current_runtime = true;
        self
    }

    /// Opens the catalogue also if the database server cannot be reached. Calls fail with
    /// [`Error::Unavailable`](crate::Error::Unavailable) until it can.
    pub fn wait_for_server(mut self) -> Self {
        self.waits_for_server = true;
        self
    }

    /// Creates no file: if it does not exist, opening fails with
    /// [`OpenError::Missing`](crate::OpenError::Missing).
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// use robot_core::{OpenError, OpenOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let url = format!("sqlite://{}/robots.db", folder.path().display());
    /// let error = OpenOptions::new().must_exist().open(&url).err();
    /// assert!(matches!(error, Some(OpenError::Missing { .. })));
    /// # }
    /// # std::io::Result::Ok(())
    /// ```
    pub fn must_exist(mut self) -> Self {
        self.must_exist = true;
        self
    }

    /// Reads an SQLite file as it is, also one of an older version: it must exist, nothing of it is
    /// written, and changes fail with [`Error::ReadOnly`](crate::Error::ReadOnly). Has no effect on a
    /// database server, whose tables are brought up to date.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// use robot_core::{CatalogueExt, Draft, Error, OpenOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let url = format!("sqlite://{}/robots.db", folder.path().display());
    /// robot_core::open(&url)?.add(Draft::new("Marvin", "droid", 1978))?;
    ///
    /// let backup = OpenOptions::new().unchanged().open(&url)?;
    /// assert_eq!(backup.list()?.len(), 1);
    /// let change = backup.add(Draft::new("R2-D2", "droid", 1977));
    /// assert!(matches!(change, Err(Error::ReadOnly(_))));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn unchanged(mut self) -> Self {
        self.preparation = Preparation::Keep;
        self.must_exist()
    }

    /// Marks a catalogue without robots as the incomplete target of a copy, durably: until
    /// [`end_copy`](Self::end_copy), opening it fails with
    /// [`OpenError::IncompleteCopy`](crate::OpenError::IncompleteCopy).
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// use robot_core::{CatalogueExt, Draft, OpenError, OpenOptions, open};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let url = format!("sqlite://{}/robots.db", folder.path().display());
    /// let target = OpenOptions::new().begin_copy().open(&url)?;
    /// target.add(Draft::new("Marvin", "droid", 1978))?;
    /// assert!(matches!(open(&url), Err(OpenError::IncompleteCopy { .. })));
    ///
    /// OpenOptions::new().end_copy().open(&url)?;
    /// assert_eq!(open(&url)?.list()?.len(), 1);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn begin_copy(mut self) -> Self {
        self.preparation = Preparation::BeginCopy;
        self
    }

    /// Removes the mark of [`begin_copy`](Self::begin_copy).
    pub fn end_copy(mut self) -> Self {
        self.preparation = Preparation::EndCopy;
        self
    }

    /// Reverts the tables to those of an earlier version of this program, which can open the database
    /// then. Other programs must not use it meanwhile. The catalogue that is opened is of no use: drop it.
    pub fn revert_to(mut self, version: EarlierVersion) -> Self {
        self.preparation = Preparation::Revert(version);
        self
    }

    // Getters for store authors.

    /// The [`timeout`](Self::timeout).
    #[must_use]
    pub fn get_timeout(&self) -> Duration {
        self.timeout
    }

    /// The duration of a [`slow_statement`](Self::slow_statement).
    #[must_use]
    pub fn get_slow_statement(&self) -> Duration {
        self.slow_statement
    }

    /// The maximum number of [`connections`](Self::connections).
    #[must_use]
    pub fn get_connections(&self) -> u32 {
        // More than cores, so that the cores stay busy while some connections wait.
        let default = u32::try_from(4 * cores()).unwrap_or(u32::MAX).clamp(4, 32);
        self.connections.unwrap_or(default)
    }

    /// The number of [`workers`](Self::workers).
    #[must_use]
    pub fn get_workers(&self) -> usize {
        self.workers.unwrap_or_else(cores)
    }

    /// Whether [`use_current_runtime`](Self::use_current_runtime) was called.
    #[must_use]
    pub fn uses_current_runtime(&self) -> bool {
        self.uses_current_runtime
    }

    /// Whether [`wait_for_server`](Self::wait_for_server) was called.
    #[must_use]
    pub fn waits_for_server(&self) -> bool {
        self.waits_for_server
    }

    /// Whether [`must_exist`](Self::must_exist) was called.
    #[must_use]
    pub fn expects_file(&self) -> bool {
        self.must_exist
    }

    /// What happens to the tables of a database.
    #[must_use]
    pub fn get_preparation(&self) -> Preparation {
        self.preparation
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
