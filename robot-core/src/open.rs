//! From a URL to a catalogue: the one place that knows which stores there are.

use std::sync::Arc;

use crate::{catalogue::Catalogue, error::OpenError, memory::MemoryCatalogue};

/// The catalogue that the programs use unless told otherwise: a file in the working directory.
pub const DEFAULT_URL: &str = "sqlite://robots.db";

/// A database that catalogues can be kept in.
struct Database {
    /// How its URLs begin, which is also the name of the cargo feature that brings it.
    scheme: &'static str,
    is_compiled_in: bool,
    /// A URL of it, as an example.
    example: &'static str,
}

/// Every database that there is.
const DATABASES: &[Database] = &[Database {
    scheme: "sqlite",
    is_compiled_in: cfg!(feature = "sqlite"),
    example: "sqlite://robots.db",
}];

/// Opens the catalogue that a URL names, and creates it where it does not exist yet.
///
/// | URL | store |
/// |---|---|
/// | `memory:` | a new [`MemoryCatalogue`] |
/// | `sqlite://robots.db` | a file, relative to the working directory (feature `sqlite`) |
/// | `sqlite:///var/lib/robots.db` | a file, by its absolute path (feature `sqlite`) |
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
    if url == "memory:" {
        return Ok(Arc::new(MemoryCatalogue::new()));
    }
    let scheme = url.split(':').next().unwrap_or_default();
    match DATABASES.iter().find(|database| database.scheme == scheme) {
        #[cfg(feature = "sqlite")]
        Some(database) if database.is_compiled_in => {
            Ok(Arc::new(crate::database::DatabaseCatalogue::open(url)?))
        }
        Some(database) => Err(OpenError::NotCompiledIn {
            scheme: database.scheme,
            known: known_forms(),
        }),
        None => Err(OpenError::UnknownScheme {
            scheme: scheme.to_owned(),
            known: known_forms(),
        }),
    }
}

/// The URLs that this build takes, by example.
fn known_forms() -> String {
    DATABASES
        .iter()
        .filter(|database| database.is_compiled_in)
        .fold("memory:".to_owned(), |known, database| {
            format!("{known}, {}", database.example)
        })
}

#[cfg(all(test, not(feature = "sqlite")))]
mod tests {
    use super::*;

    #[test]
    fn a_database_that_was_left_out_is_told_apart_from_one_that_is_unknown() {
        let message = |url| open(url).err().map(|error| error.to_string());
        assert_eq!(
            message("sqlite://robots.db").as_deref(),
            Some(
                "'sqlite' stores were left out when this program was built; it has memory: \
                 (build it with the cargo feature 'sqlite' to have them)"
            )
        );
        assert_eq!(
            message("ftp://x").as_deref(),
            Some("'ftp' is no store that this program knows; it knows memory:")
        );
    }
}
