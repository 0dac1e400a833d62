//! All settings of the server program, checked before it opens the store.

use std::{
    collections::HashSet,
    net::{IpAddr, SocketAddr},
    num::NonZero,
};

use robot_core::OpenOptions;
#[cfg(feature = "tls")]
use rocket::config::TlsConfig;
use rocket::{
    Config,
    config::{Ident, LogLevel, Shutdown},
    data::Limits,
    figment::{
        Figment,
        value::{Dict, magic::RelativePathBuf},
    },
    serde::Deserialize,
};

use super::{
    ConnectionLimits, LogFormat, SettingProblem, Settings, SettingsError, database_url, names,
    open_options, optional, value,
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
///      behavior is not a setting; did you mean behaviour?\n  \
///      workers must be a number, 1 or more, not 0"
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
    /// The format of the log.
    pub log_format: LogFormat,
    /// The address that metrics are served on (`metrics_address`, none by default).
    pub metrics_address: Option<SocketAddr>,
    /// One message for each name that is not a setting, for a certificate that expires soon, and for
    /// traces that are requested, but cannot be exported.
    pub warnings: Vec<String>,
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
        let (mut problems, mut warnings) = names::check(figment)?;
        check_rocket_values(figment, &mut problems);
        check_tls(figment, &mut problems, &mut warnings);
        let catalogue = value(Settings::read(figment), &mut problems);
        if let Err(error) = ConnectionLimits::read(figment) {
            problems.extend(error.into_problems());
        }
        let database_url = value(database_url(figment), &mut problems);
        let options = value(open_options(figment), &mut problems);
        let log_format = value(LogFormat::read(figment), &mut problems);
        let metrics_address = value(optional(figment, "metrics_address"), &mut problems);
        let config = match figment.extract::<Config>() {
            Ok(config) => config,
            Err(error) => {
                problems.push(error.into());
                Config::default()
            }
        };
        warnings.extend(super::traces::warning());
        // A setting may be read twice.
        let mut messages = HashSet::new();
        problems.retain(|problem| messages.insert(problem.to_string()));
        SettingsError::check(problems).map(|()| Self {
            config,
            catalogue,
            database_url,
            options,
            log_format,
            metrics_address,
            warnings,
        })
    }
}

/// Reads each of Rocket's settings on its own, because reading them together stops at the first
/// problem.
fn check_rocket_values(figment: &Figment, problems: &mut Vec<SettingProblem>) {
    check::<IpAddr>(figment, Config::ADDRESS, problems);
    check::<u16>(figment, Config::PORT, problems);
    check::<NonZero<usize>>(figment, Config::WORKERS, problems);
    check::<NonZero<usize>>(figment, Config::MAX_BLOCKING, problems);
    check::<Ident>(figment, Config::IDENT, problems);
    check::<Limits>(figment, Config::LIMITS, problems);
    check::<RelativePathBuf>(figment, Config::TEMP_DIR, problems);
    check::<Shutdown>(figment, Config::SHUTDOWN, problems);
    check::<LogLevel>(figment, Config::LOG_LEVEL, problems);
}

fn check<'a, T: Deserialize<'a>>(figment: &Figment, key: &str, problems: &mut Vec<SettingProblem>) {
    value(optional::<T>(figment, key).map(|_| ()), problems);
}

/// Checks the files of `tls`. Rocket would report them as a problem with the address, or ignore the
/// setting and serve without encryption.
fn check_tls(figment: &Figment, problems: &mut Vec<SettingProblem>, warnings: &mut Vec<String>) {
    #[cfg(feature = "tls")]
    if let Some(tls) = value(
        optional::<Option<TlsConfig>>(figment, Config::TLS),
        problems,
    )
    .flatten()
    {
        match super::tls::read(&tls) {
            Ok(identity) => warnings.extend(identity.validity_warning()),
            Err(problem) => problems.push(SettingProblem::Server(problem)),
        }
    }
    #[cfg(not(feature = "tls"))]
    let _ = warnings;
    #[cfg(not(feature = "tls"))]
    problems.extend(super::tls_without_feature(figment).err());
    if figment.contains("tls.mutual") {
        problems.push(SettingProblem::Server(
            "tls.mutual has no effect, because this server cannot check certificates of clients; \
             remove it, and use api_tokens"
                .to_owned(),
        ));
    }
}
