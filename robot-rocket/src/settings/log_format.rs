//! The format of the server's log.

use std::fmt;

use rocket::{figment::Figment, serde::Deserialize};

use super::{SettingsError, reader::Reader};

/// The format of the log (`log_format`).
///
/// ```
/// use robot_rocket::LogFormat;
///
/// let figment = rocket::Config::figment().merge(("log_format", "json"));
/// assert_eq!(LogFormat::read(&figment)?, LogFormat::Json);
/// # Ok::<(), robot_rocket::SettingsError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(crate = "rocket::serde", rename_all = "lowercase")]
pub enum LogFormat {
    /// Lines for people, in colours on a terminal.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

impl LogFormat {
    /// Reads the setting.
    ///
    /// # Errors
    /// The value is neither `text` nor `json`.
    pub fn read(figment: &Figment) -> Result<Self, SettingsError> {
        let mut reader = Reader::new(figment);
        let format = reader.get("log_format").unwrap_or_default();
        reader.finish(format)
    }
}

impl fmt::Display for LogFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Text => "text",
            Self::Json => "json",
        })
    }
}
