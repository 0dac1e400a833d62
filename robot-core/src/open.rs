//! From a URL to a catalogue: the one place that knows which stores there are.

use std::{sync::Arc, time::Duration};

use crate::{catalogue::Catalogue, error::OpenError, memory::MemoryCatalogue};

/// The catalogue that the programs use unless told otherwise: a file in the working directory.
///
/// ```
/// let url = std::env::var("DATABASE_URL").unwrap_or_else(|_| robot_core::DEFAULT_URL.to_owned());
/// # assert_eq!(robot_core::DEFAULT_URL, "sqlite://robots.db");
/// ```
pub const DEFAULT_URL: &str = "sqlite://robots.db";

/// What can work on a database, as far as it is compiled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    #[cfg(feature = "sqlite")]
    Sqlite,
    #[cfg(feature = "postgres")]
    Postgres,
    #[cfg(feature = "mysql")]
    Mysql,
}

/// A database that catalogues can be kept in.
struct Database {
    /// How its URLs begin.
    schemes: &'static [&'static str],
    /// The cargo feature that brings its backend.
    feature: &'static str,
    backend: Option<Backend>,
    /// A URL of it, as an example.
    example: &'static str,
}

/// Every database that there is.
const DATABASES: &[Database] = &[
    Database {
        schemes: &["sqlite"],
        feature: "sqlite",
        #[cfg(feature = "sqlite")]
        backend: Some(Backend::Sqlite),
        #[cfg(not(feature = "sqlite"))]
        backend: None,
        example: "sqlite://robots.db",
    },
    Database {
        schemes: &["postgres", "postgresql"],
        feature: "postgres",
        #[cfg(feature = "postgres")]
        backend: Some(Backend::Postgres),
        #[cfg(not(feature = "postgres"))]
        backend: None,
        example: "postgres://user:password@host/database",
    },
    Database {
        schemes: &["mysql"],
        feature: "mysql",
        #[cfg(feature = "mysql")]
        backend: Some(Backend::Mysql),
        #[cfg(not(feature = "mysql"))]
        backend: None,
        example: "mysql://user:password@host/database",
    },
];

/// Opens the catalogue that a URL names, and creates what is missing of it.
///
/// | URL | store |
/// |---|---|
/// | `memory:` | a new [`MemoryCatalogue`] |
/// | `sqlite://robots.db` | a file, relative to the working directory (feature `sqlite`) |
/// | `sqlite:///var/lib/robots.db` | a file, by its absolute path (feature `sqlite`) |
/// | `postgres://user:password@host:5432/database` | a PostgreSQL server (feature `postgres`); everything that libpq takes in a URL |
/// | `mysql://user:password@host:3306/database` | a MariaDB or MySQL server (feature `mysql`) |
///
/// # Errors
/// An [`OpenError`] whose message names the remedy: the URL is of no store, or of one that
/// this build leaves out; the database cannot be opened, or belongs to a newer version.
///
/// ```
/// use robot_core::{Catalogue, Draft};
///
/// let catalogue = robot_core::open("memory:")?;
/// catalogue.add(Draft::new("Marvin", "droid", 1978))?;
///
/// let error = robot_core::open("ftp://robots").err().map(|error| error.to_string());
/// assert!(error.is_some_and(|message| message.contains("it knows memory:")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open(url: &str) -> Result<Arc<dyn Catalogue>, OpenError> {
    OpenOptions::new().open(url)
}

/// How a catalogue is opened, for those who want more than [`open`].
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
    pub(crate) timeout: Duration,
    pool_size: Option<u32>,
    workers: Option<usize>,
    pub(crate) when_away: WhenAway,
    pub(crate) when_missing: WhenMissing,
}

/// What to do about a database server that cannot be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhenAway {
    Fail,
    Wait,
}

/// What to do about a database file that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhenMissing {
    Fail,
    Create,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl OpenOptions {
    /// What [`open`] does.
    pub fn new() -> Self {
        Self {
            timeout: Duration::from_secs(2),
            pool_size: None,
            workers: None,
            when_away: WhenAway::Fail,
            when_missing: WhenMissing::Create,
        }
    }

    /// How long a call may wait for a connection, a lock or an answer before it fails with
    /// [`Error::Unavailable`](crate::Error::Unavailable): 2 seconds by default, and 10 ms at
    /// least. MariaDB and MySQL wait for locks in whole seconds. A search on a database server
    /// may take ten times as long.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout.clamp(Duration::from_millis(10), Duration::from_secs(3600));
        self
    }

    /// How many connections there may be at a time (for SQLite, how many that read): by
    /// default 4 for each core, but 4 at least and 32 at most. 0 counts as 1, and more than
    /// 1000 as 1000.
    ///
    /// ```
    /// # use robot_core::OpenOptions;
    /// // For a program that has a thread for each of eight clients.
    /// let catalogue = OpenOptions::new().connections(8).open("memory:")?;
    /// # Ok::<(), robot_core::OpenError>(())
    /// ```
    pub fn connections(mut self, connections: u32) -> Self {
        self.pool_size = Some(connections.clamp(1, 1000));
        self
    }

    /// How many threads the caller has that must not block and call
    /// [`Catalogue::begin_get`]: by default as many as there are cores. A store in a file reads on
    /// all of them but one, so that one at least never waits for a disk.
    ///
    /// ```
    /// # use robot_core::OpenOptions;
    /// // For an async runtime of two threads.
    /// let catalogue = OpenOptions::new().workers(2).open("memory:")?;
    /// # Ok::<(), robot_core::OpenError>(())
    /// ```
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Opens also where the database server cannot be reached for now. Calls fail with
    /// [`Error::Unavailable`](crate::Error::Unavailable) until it can.
    pub fn wait_for_server(mut self) -> Self {
        self.when_away = WhenAway::Wait;
        self
    }

    /// Creates no file: where there is none, opening fails with [`OpenError::Missing`].
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// use robot_core::{OpenError, OpenOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let url = format!("sqlite://{}/robots.db", folder.path().display());
    /// let error = OpenOptions::new().existing().open(&url).err();
    /// assert!(matches!(error, Some(OpenError::Missing { .. })));
    /// # }
    /// # std::io::Result::Ok(())
    /// ```
    pub fn existing(mut self) -> Self {
        self.when_missing = WhenMissing::Fail;
        self
    }

    /// Opens a catalogue.
    ///
    /// # Errors
    /// As [`open`].
    pub fn open(&self, url: &str) -> Result<Arc<dyn Catalogue>, OpenError> {
        if url == "memory:" {
            return Ok(Arc::new(MemoryCatalogue::new()));
        }
        #[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
        return Ok(Arc::new(crate::database::DatabaseCatalogue::open_with(
            url, self,
        )?));
        #[cfg(not(any(feature = "sqlite", feature = "postgres", feature = "mysql")))]
        match backend_of(url)? {}
    }

    /// How many connections there may be at a time.
    #[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
    pub(crate) fn pool_size(&self) -> u32 {
        // More of them than cores keep the cores busy while some wait for a disk or a server.
        let default = u32::try_from(4 * cores()).unwrap_or(u32::MAX).clamp(4, 32);
        self.pool_size.unwrap_or(default)
    }

    /// How many reads there may be at a time on threads that must not block.
    #[cfg(feature = "sqlite")]
    pub(crate) fn reads_in_place(&self) -> usize {
        self.workers.unwrap_or_else(cores).saturating_sub(1)
    }
}

#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// A URL without what may be secret in it, to show to people.
///
/// ```
/// use robot_core::redact;
///
/// assert_eq!(redact("postgres://robots:secret@db.example/robots"), "postgres://db.example/robots");
/// assert_eq!(redact("postgres://db/robots?password=secret"), "postgres://db/robots");
/// assert_eq!(redact("sqlite:///var/lib/robots.db"), "sqlite:///var/lib/robots.db");
/// ```
#[must_use]
pub fn redact(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return format!("{}:", scheme_of(url));
    };
    if scheme == "sqlite" {
        return url.to_owned();
    }
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    match address.split('@').collect::<Vec<_>>()[..] {
        // More of them, or one behind a question mark, may be a part of a password.
        [address] | [_, address] if !query.contains('@') => format!("{scheme}://{address}"),
        _ => format!("{scheme}://..."),
    }
}

/// What a URL begins with. Of what is no URL it is no more than a word, for there may be a
/// password among the others.
fn scheme_of(url: &str) -> &str {
    let is_of_a_scheme =
        |character: char| character.is_ascii_alphanumeric() || "+-.".contains(character);
    let end = url.find(|character| !is_of_a_scheme(character));
    end.map_or(url, |end| &url[..end])
}

/// The database that a URL is of.
fn database_of(url: &str) -> Option<&'static Database> {
    let scheme = url.split(':').next().unwrap_or_default();
    DATABASES
        .iter()
        .find(|database| database.schemes.contains(&scheme))
}

/// The backend for the database that a URL is of.
pub(crate) fn backend_of(url: &str) -> Result<Backend, OpenError> {
    let database = database_of(url).ok_or_else(|| OpenError::UnknownScheme {
        scheme: scheme_of(url).to_owned(),
        known: known_forms(),
    })?;
    database.backend.ok_or_else(|| OpenError::NotCompiledIn {
        scheme: database.feature,
        known: known_forms(),
    })
}

/// How the URLs of a database are written.
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(crate) fn example(url: &str) -> &'static str {
    database_of(url).map_or(DEFAULT_URL, |database| database.example)
}

/// The URLs that this build takes, by example.
fn known_forms() -> String {
    DATABASES
        .iter()
        .filter(|database| database.backend.is_some())
        .fold("memory:".to_owned(), |known, database| {
            format!("{known}, {}", database.example)
        })
}

#[cfg(all(test, not(feature = "sqlite")))]
mod tests {
    use super::*;

    #[test]
    fn a_database_that_was_left_out_is_told_apart_from_one_that_is_unknown() {
        let message = |url| {
            let message = open(url).err().map(|error| error.to_string());
            message.unwrap_or_default()
        };
        let left_out = message("sqlite://robots.db");
        assert!(left_out.starts_with("'sqlite' stores were left out when this program was built"));
        assert!(left_out.ends_with("(build it with the cargo feature 'sqlite' to have them)"));
        let unknown = message("ftp://x");
        assert!(unknown.starts_with("'ftp' is no store that this program knows; it knows memory:"));
        let no_url = message("host=db user=robots password=secret");
        assert!(no_url.starts_with("'host' is no store that this program knows"));
        assert!(!no_url.contains("secret"));
    }
}
