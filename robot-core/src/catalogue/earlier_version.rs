//! Earlier versions of the program, to whose tables a database can be reverted.

use std::str::FromStr;

/// The versions before this one, each with its last migration.
const EARLIER: &[(&str, &str)] = &[];

/// A version of this program before the current one.
///
/// ```
/// let error = "0.0.1".parse::<robot_core::EarlierVersion>().unwrap_err();
/// assert!(error.to_string().contains("no earlier version 0.0.1"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EarlierVersion {
    /// The version of its last migration.
    pub(crate) last_migration: &'static str,
}

/// A text is not an [`EarlierVersion`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "version {this} knows no earlier version {0}; it can go back to: {known}",
    this = env!("CARGO_PKG_VERSION"),
    known = known()
)]
pub struct ParseVersionError(String);

fn known() -> String {
    let names: Vec<_> = EARLIER.iter().map(|(name, _)| *name).collect();
    if names.is_empty() {
        "none, because it is the first one".to_owned()
    } else {
        names.join(", ")
    }
}

impl FromStr for EarlierVersion {
    type Err = ParseVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = EARLIER.iter().find(|(name, _)| *name == text);
        let (_, last_migration) = found.ok_or_else(|| ParseVersionError(text.to_owned()))?;
        Ok(Self { last_migration })
    }
}
