//! Registry of stores by the scheme of their URLs.

use std::sync::Arc;

use crate::{
    catalogue::{
        Catalogue, OpenError, OpenOptions, Scheme,
        url::{redact, scheme_of},
    },
    files::StoreFiles,
    memory::MemoryCatalogue,
};

/// The catalogue that the programs use by default: a file in the working directory.
///
/// ```
/// let url = std::env::var("DATABASE_URL").unwrap_or_else(|_| robot_core::DEFAULT_URL.to_owned());
/// # assert_eq!(robot_core::DEFAULT_URL, "sqlite://robots.db");
/// ```
pub const DEFAULT_URL: &str = "sqlite://robots.db";

/// Every store that this build contains.
const BUILTIN: &[Scheme] = &[
    MEMORY,
    #[cfg(feature = "sqlite")]
    crate::database::sqlite::SCHEME,
    #[cfg(feature = "postgres")]
    crate::database::server::POSTGRES,
    #[cfg(feature = "mysql")]
    crate::database::server::MYSQL,
];

const MEMORY: Scheme = Scheme {
    names: &["memory"],
    example: "memory:",
    open: |url, _| match url {
        "memory:" => Ok(Arc::new(MemoryCatalogue::new())),
        // It may be the URL of another store, with a password.
        _ if url.contains('@') => Err(Schemes::default().unknown(&redact(url))),
        _ => Err(Schemes::default().unknown(url)),
    },
};

/// The end of the message about an unknown scheme, in a build without some of the stores.
const MORE: &str = if cfg!(all(
    feature = "sqlite",
    feature = "postgres",
    feature = "mysql"
)) {
    ""
} else {
    " (built with --features sqlite,postgres,mysql, it opens more)"
};

/// The schemes that a program opens: those of this build, and those of other crates.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{CatalogueExt, MemoryCatalogue, OpenOptions, Scheme, Schemes};
///
/// // A store of another crate registers its URLs.
/// let mine = Scheme {
///     names: &["mine"],
///     example: "mine://somewhere",
///     open: |_url, _options| Ok(Arc::new(MemoryCatalogue::new())),
/// };
/// let schemes = Schemes::default().with(mine);
/// let catalogue = schemes.open("mine://here", &OpenOptions::default())?;
/// assert!(catalogue.list()?.is_empty());
///
/// let error = schemes.open("ftp://here", &OpenOptions::default()).err().ok_or("opened")?;
/// assert!(error.to_string().contains("mine://somewhere"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Schemes(Vec<Scheme>);

impl Default for Schemes {
    /// The schemes of this build.
    fn default() -> Self {
        Self(BUILTIN.to_vec())
    }
}

impl Schemes {
    /// With one more scheme, which takes precedence over an earlier one of the same name.
    #[must_use]
    pub fn with(mut self, scheme: Scheme) -> Self {
        self.0.insert(0, scheme);
        self
    }

    /// Opens the catalogue of a URL.
    ///
    /// # Errors
    /// An [`OpenError`] whose message says what to do.
    pub fn open(&self, url: &str, options: &OpenOptions) -> Result<Arc<dyn Catalogue>, OpenError> {
        (self.of_url(url)?.open)(url, options)
    }

    /// The scheme of a URL. Opens nothing, and does not check the rest of the URL.
    ///
    /// # Errors
    /// As [`open`](Self::open), if none of these schemes fits.
    ///
    /// ```
    /// use robot_core::Schemes;
    ///
    /// assert_eq!(Schemes::default().of_url("memory:")?.example, "memory:");
    /// assert!(Schemes::default().of_url("/var/lib/robots.db").is_err());
    /// # Ok::<(), robot_core::OpenError>(())
    /// ```
    pub fn of_url(&self, url: &str) -> Result<&Scheme, OpenError> {
        let scheme = scheme_of(url);
        let found = self.0.iter().find(|known| known.names.contains(&scheme));
        found.ok_or_else(|| self.unknown(scheme))
    }

    pub(crate) fn unknown(&self, scheme: &str) -> OpenError {
        let examples: Vec<_> = self.0.iter().map(|scheme| scheme.example).collect();
        OpenError::UnknownScheme {
            scheme: scheme.to_owned(),
            known: examples.join(", ") + MORE,
        }
    }
}

/// Opens the catalogue of a URL, and creates what is missing of it.
///
/// | URL | store |
/// |---|---|
/// | `memory:` | a new [`MemoryCatalogue`] |
/// | `sqlite://robots.db` | a file, relative to the working directory (feature `sqlite`) |
/// | `sqlite:///var/lib/robots.db` | a file, by its absolute path (feature `sqlite`) |
/// | `postgres://user:password@host:5432/database` | a PostgreSQL server (feature `postgres`) |
/// | `mysql://user:password@host:3306/database` | a MariaDB or MySQL server (feature `mysql`) |
///
/// # Errors
/// An [`OpenError`] whose message says what to do: no store has this scheme, or this build does not
/// contain it; the database cannot be opened, or belongs to a newer version.
///
/// ```
/// use robot_core::{CatalogueExt, Draft};
///
/// let catalogue = robot_core::open("memory:")?;
/// catalogue.add(Draft::new("Marvin", "droid", 1978))?;
///
/// let error = robot_core::open("ftp://robots").err().map(|error| error.to_string());
/// assert!(error.is_some_and(|message| message.contains("this program opens memory:")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open(url: &str) -> Result<Arc<dyn Catalogue>, OpenError> {
    OpenOptions::default().open(url)
}

impl OpenOptions {
    /// Opens a catalogue with these options.
    ///
    /// # Errors
    /// As [`open`].
    pub fn open(&self, url: &str) -> Result<Arc<dyn Catalogue>, OpenError> {
        Schemes::default().open(url, self)
    }
}

impl StoreFiles {
    /// The files of the catalogue of a URL. None for a URL that names no file.
    #[must_use]
    pub fn of_url(url: &str) -> Self {
        #[cfg(feature = "sqlite")]
        if scheme_of(url) == "sqlite" {
            return crate::database::sqlite::files(url);
        }
        let _ = url;
        Self::default()
    }
}

#[cfg(test)]
#[cfg(not(feature = "sqlite"))]
mod tests {
    use super::*;

    #[test]
    fn unknown_scheme_is_reported_without_the_url() {
        let message = |url| {
            let message = open(url).err().map(|error| error.to_string());
            message.unwrap_or_default()
        };
        let absent = message("sqlite://robots.db");
        assert!(absent.starts_with("no store has URLs that begin with 'sqlite'"));
        assert!(absent.ends_with("(built with --features sqlite,postgres,mysql, it opens more)"));
        let unknown = message("ftp://x");
        assert!(unknown.starts_with("no store has URLs that begin with 'ftp'"));
        let no_url = message("host=db user=robots password=secret");
        assert!(no_url.starts_with("no store has URLs that begin with 'host'"));
        assert!(!no_url.contains("secret"));
    }
}
