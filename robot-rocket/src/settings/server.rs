//! All settings of the server program, checked before it opens the store.

use std::{
    env, mem,
    net::{IpAddr, SocketAddr},
    num::NonZero,
};

use robot_core::OpenOptions;
use rocket::config::TlsConfig;
use rocket::{
    Config,
    config::{Ident, LogLevel, Shutdown},
    data::Limits,
    figment::{
        Figment,
        value::{Dict, Value, magic::RelativePathBuf},
    },
    serde::Deserialize,
};

use super::{
    ConnectionLimits, Settings, SettingsError, SettingsTable, names,
    reader::{NUMBER, Reader},
    store,
};

/// The settings of the server program: those of the catalogue, of its store, and of Rocket.
///
/// A program with settings of its own uses [`Settings::read`], which ignores other names.
///
/// ```
/// use robot_rocket::ServerSettings;
///
/// let figment = rocket::Config::figment().merge(("behavior", "B")).merge(("workers", 0));
/// let error = ServerSettings::read(&figment).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "2 wrong settings:\n  \
///      workers must be a number, 1 or more, not 0\n  \
///      behavior is not a setting; did you mean behaviour?"
/// );
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct ServerSettings {
    /// Rocket's settings.
    pub config: Config,
    /// The settings of the catalogue.
    pub catalogue: Settings,
    /// The URL of the store.
    pub database_url: String,
    /// How the store is opened.
    pub options: OpenOptions,
    /// The address that metrics are served on (`metrics_address`, none by default).
    pub metrics_address: Option<SocketAddr>,
    /// One message for each name that is not a setting, for a certificate that expires soon, and for
    /// traces that are requested, but cannot be exported.
    pub warnings: Vec<String>,
    /// The values of all settings.
    pub table: SettingsTable,
}

impl ServerSettings {
    /// Reads and checks everything that can be wrong before the store is opened: names, values, and
    /// the files of `tls`.
    ///
    /// # Errors
    /// A value is invalid, or a name is similar to that of a setting. The error has all problems.
    pub fn read(figment: &Figment) -> Result<Self, SettingsError> {
        // If a file cannot be parsed, nothing else can be read.
        figment.extract::<Dict>()?;
        Reader::read(&store::database_sources(figment), |reader| {
            read_rocket(reader);
            check_tls(reader);
            let catalogue = Settings::read_from(reader);
            ConnectionLimits::read_from(reader);
            let database_url = store::url(reader);
            let options = store::options(reader);
            reader.report_default("log_format", &"text");
            reader.get::<LogFormat>("log_format", "text or json");
            reader.report_default("metrics_address", &"none");
            let expected = "an address with a port, as in 127.0.0.1:9100";
            let metrics_address = reader.get("metrics_address", expected);
            report_log_level(reader);
            super::traces::report(reader);
            names::check(reader);
            let config = figment.extract::<Config>().unwrap_or_else(|error| {
                if reader.problems.is_empty() {
                    reader.problem(super::error::unreadable(&error));
                }
                Config::default()
            });
            Self {
                config,
                catalogue,
                database_url,
                options,
                metrics_address,
                warnings: mem::take(&mut reader.warnings),
                table: SettingsTable(mem::take(&mut reader.rows)),
            }
        })
    }
}

/// The format of the log (`log_format`).
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
    /// Reads the setting. A wrong value, which [`ServerSettings::read`] reports, counts as none.
    ///
    /// ```
    /// use robot_rocket::LogFormat;
    ///
    /// let figment = rocket::Config::figment().merge(("log_format", "json"));
    /// assert_eq!(LogFormat::read(&figment), LogFormat::Json);
    /// ```
    #[must_use]
    pub fn read(figment: &Figment) -> Self {
        figment.extract_inner("log_format").unwrap_or_default()
    }
}

/// Reads each of Rocket's settings on its own, because reading them together stops at the first
/// problem.
fn read_rocket(reader: &mut Reader<'_>) {
    let address = "an IP address, such as 127.0.0.1 or 0.0.0.0";
    reader.get::<IpAddr>(Config::ADDRESS, address);
    reader.get::<u16>(Config::PORT, "a number from 0 to 65535");
    reader.get::<NonZero<usize>>(Config::MAX_BLOCKING, NUMBER);
    reader.get::<Value>(Config::CLI_COLORS, "true or false");
    reader.get::<Ident>(Config::IDENT, "a text for the header Server, or false");
    reader.get::<Value>("ip_header", "the name of a header, or false");
    reader.get::<Limits>(Config::LIMITS, "sizes, as in {form=\"64 KiB\"}");
    reader.get::<LogLevel>(Config::LOG_LEVEL, "off, critical, normal or debug");
    reader.get::<Value>("secret_key", "a key of 256 bits in base64");
    let shutdown = "as in {grace=2,mercy=3,signals=[\"term\"]}";
    reader.get::<Shutdown>(Config::SHUTDOWN, shutdown);
    reader.get::<RelativePathBuf>(Config::TEMP_DIR, "the path of a folder");
}

/// The row of `RUST_LOG`, which the program reads itself.
fn report_log_level(reader: &mut Reader<'_>) {
    let (value, origin) = match env::var("RUST_LOG") {
        Ok(value) => (value.escape_debug().to_string(), "RUST_LOG"),
        Err(_) => ("warn, and info for reloads".to_owned(), "default"),
    };
    let row = ["RUST_LOG", &value, origin];
    reader.rows.push(row.map(str::to_owned));
}

/// Checks the files of `tls`. Rocket would report them as a problem with the address, or ignore the
/// setting and serve without encryption.
fn check_tls(reader: &mut Reader<'_>) {
    reader.report_default("tls", &"none");
    let expected = "as in {certs=\"chain.pem\",key=\"key.pem\"}";
    if let Some(tls) = reader.get::<Option<TlsConfig>>("tls", expected).flatten() {
        match crate::tls::read(&tls) {
            Ok(identity) => reader.warnings.extend(identity.validity_warning()),
            Err(problem) => reader.problem(problem),
        }
    }
    if reader.figment.contains("tls.mutual") {
        reader.problem(
            "tls.mutual has no effect, because this server cannot check certificates of clients; \
             remove it, and use api_tokens",
        );
    }
}
