//! All settings of the server program, checked before it opens the store.

use std::{
    env, mem,
    net::{IpAddr, SocketAddr},
    num::NonZero,
};

use robot_core::{OpenOptions, Retention};
use rocket::{
    Config,
    config::{Ident, LogLevel, Shutdown, TlsConfig},
    data::Limits,
    figment::{
        Figment,
        value::{Dict, Value, magic::RelativePathBuf},
    },
};

use super::{
    ConnectionLimits, Settings, SettingsError, names,
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
///      workers must be a number, 1 or more, not '0'\n  \
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
    /// Which past versions of robots are kept.
    pub retention: Retention,
    /// The address that metrics are served on (`metrics_address`, none by default).
    pub metrics_address: Option<SocketAddr>,
    /// One message for each name that is not a setting, for a certificate that expires soon, and for
    /// traces that are requested, but cannot be exported.
    pub warnings: Vec<String>,
    /// The lines of a table: the effective values of all settings without secrets, and their origin.
    pub table: Vec<String>,
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
            reader.report("setting", &"value", "origin");
            read_rocket(reader);
            check_tls(reader);
            let catalogue = Settings::read_from(reader);
            ConnectionLimits::read_from(reader);
            let database_url = store::url(reader);
            let options = store::options(reader);
            let retention = store::retention(reader);
            // The program reads it before all settings.
            let is_format =
                |value: &Value| ["text", "json"].contains(&value.as_str()?).then_some(());
            reader.get_if("log_format", "text or json", &"text", is_format);
            let expected = "an address with a port, as in 127.0.0.1:9100";
            let metrics_address = reader.get("metrics_address", expected, &"none");
            match env::var("RUST_LOG") {
                Ok(filter) => reader.report("RUST_LOG", &filter.escape_debug(), "RUST_LOG"),
                Err(_) => reader.report("RUST_LOG", &"warn, and info for reloads", "default"),
            }
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
                retention,
                metrics_address,
                warnings: mem::take(&mut reader.warnings),
                table: mem::take(&mut reader.rows),
            }
        })
    }
}

/// Reads each of Rocket's settings on its own, because reading them together stops at the first
/// problem.
fn read_rocket(reader: &mut Reader<'_>) {
    let default = &"none";
    let address = "an IP address, such as 127.0.0.1 or 0.0.0.0";
    reader.get::<IpAddr>(Config::ADDRESS, address, default);
    reader.get::<u16>(Config::PORT, "a number from 0 to 65535", default);
    reader.get::<NonZero<usize>>(Config::MAX_BLOCKING, NUMBER, default);
    reader.get::<Value>(Config::CLI_COLORS, "true or false", default);
    let ident = "a text for the header Server, or false";
    reader.get::<Ident>(Config::IDENT, ident, default);
    reader.get::<Value>("ip_header", "the name of a header, or false", default);
    reader.get::<Limits>(Config::LIMITS, "sizes, as in {form=\"64 KiB\"}", default);
    let levels = "off, critical, normal or debug";
    reader.get::<LogLevel>(Config::LOG_LEVEL, levels, default);
    reader.get::<Value>("secret_key", "a key of 256 bits in base64", default);
    let shutdown = "as in {grace=2,mercy=3,signals=[\"term\"]}";
    reader.get::<Shutdown>(Config::SHUTDOWN, shutdown, default);
    reader.get::<RelativePathBuf>(Config::TEMP_DIR, "the path of a folder", default);
}

/// Checks the files of `tls`. Rocket would report them as a problem with the address, or ignore the
/// setting and serve without encryption.
fn check_tls(reader: &mut Reader<'_>) {
    let expected = "as in {certs=\"chain.pem\",key=\"key.pem\"}";
    let tls: Option<Option<TlsConfig>> = reader.get("tls", expected, &"none");
    if let Some(tls) = tls.flatten() {
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
