//! From a URL to a catalogue: the one place that knows which stores there are.

use std::sync::Arc;

use crate::{catalogue::Catalogue, error::OpenError, memory::MemoryCatalogue};

/// The catalogue that the programs use unless told otherwise: a file in the working directory.
pub const DEFAULT_URL: &str = "sqlite://robots.db";

/// Every store that there is: how its URL begins, the cargo feature that brings it, whether
/// this build has it, and its form for a person.
const STORES: &[(&str, &str, bool, &str)] = &[
    ("memory", "", true, "memory:"),
    (
        "sqlite",
        "sqlite",
        cfg!(feature = "sqlite"),
        "sqlite://robots.db",
    ),
];

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
    let scheme = url.split(':').next().unwrap_or_default();
    let Some((_, feature, compiled_in, _)) = STORES
        .iter()
        .find(|(known, ..)| *known == scheme && url.len() > scheme.len())
    else {
        return Err(OpenError::UnknownScheme {
            scheme: scheme.to_owned(),
            known: known_forms(),
        });
    };
    match scheme {
        "memory" if url == "memory:" => Ok(Arc::new(MemoryCatalogue::new())),
        #[cfg(feature = "sqlite")]
        "sqlite" => Ok(Arc::new(crate::database::DatabaseCatalogue::open(url)?)),
        _ if !compiled_in => Err(OpenError::NotCompiledIn {
            scheme: scheme.to_owned(),
            feature,
            known: known_forms(),
        }),
        _ => Err(OpenError::UnknownScheme {
            scheme: url.to_owned(),
            known: known_forms(),
        }),
    }
}

fn known_forms() -> String {
    let forms: Vec<_> = STORES
        .iter()
        .filter(|(_, _, compiled_in, _)| *compiled_in)
        .map(|(.., form)| *form)
        .collect();
    forms.join(" and ")
}
