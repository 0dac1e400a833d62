//! Settings that are wrong, and the messages about them.

use std::{error::Error, fmt};

use rocket::figment;

/// Settings that are wrong: a message for each problem, of one line, with the name of the setting and what
/// to do.
///
/// ```
/// use robot_rocket::Settings;
///
/// let figment = rocket::Config::figment().merge(("behaviour", "C"));
/// let error = Settings::read(&figment).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "wrong setting: behaviour must be A (current) or B (older), not 'C'"
/// );
///
/// let figment = figment.merge(("allowed_hosts", "*"));
/// let error = Settings::read(&figment).unwrap_err();
/// assert!(error.to_string().starts_with("2 wrong settings:\n  behaviour must be A"));
/// ```
#[derive(Debug)]
pub struct SettingsError(pub(super) Vec<String>);

impl fmt::Display for SettingsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [problem] = &*self.0 {
            return write!(formatter, "wrong setting: {problem}");
        }
        write!(formatter, "{} wrong settings:", self.0.len())?;
        let mut problems = self.0.iter();
        problems.try_for_each(|problem| write!(formatter, "\n  {problem}"))
    }
}

impl Error for SettingsError {}

impl From<String> for SettingsError {
    fn from(problem: String) -> Self {
        Self(vec![problem])
    }
}

impl From<figment::Error> for SettingsError {
    fn from(error: figment::Error) -> Self {
        unreadable(&error).into()
    }
}

/// The message about a configuration that cannot be read. It has only the first line of the cause, because
/// the parser shows a line of the file next, which may have a password.
pub(super) fn unreadable(error: &figment::Error) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    // Rocket takes a key above all tables of Rocket.toml for a table.
    if !first.starts_with("TOML parse error") && !text.contains("expected a map") {
        return first.to_owned();
    }
    format!(
        "{first}; in Rocket.toml, settings stand below a line [default], as NAME = VALUE, each name \
         once, and texts in quotation marks, as in behaviour = \"A\""
    )
}
