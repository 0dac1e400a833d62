//! Settings, read from Rocket's configuration: `Rocket.toml` and `ROCKET_*`.

mod connections;
mod error;
mod keys;
#[cfg(feature = "server")]
mod log_format;
#[cfg(feature = "server")]
mod names;
#[cfg(feature = "server")]
mod report;
#[cfg(feature = "server")]
mod server;
mod store;
#[cfg(feature = "tls")]
pub(crate) mod tls;
mod tokens;
#[cfg(any(feature = "otlp", feature = "server"))]
pub(crate) mod traces;

use std::{
    fs,
    net::IpAddr,
    num::{NonZero, NonZeroU32},
    path::PathBuf,
    str::FromStr,
    thread,
    time::Duration,
};

use robot_core::{
    StoreFiles,
    http::{Access, BODY_DEADLINE, Behaviour, Hosts, Origin, Permission, StreamLimits},
};
use rocket::{
    Config,
    figment::{
        Figment, Profile,
        providers::{Env, Format, Toml},
        value::magic::RelativePathBuf,
    },
};

pub use connections::ConnectionLimits;
pub use error::{SettingProblem, SettingsError};
#[cfg(feature = "server")]
pub use log_format::LogFormat;
#[cfg(feature = "server")]
pub use report::SettingsTable;
#[cfg(feature = "server")]
pub use server::ServerSettings;
pub use store::{database_url, open_options};

/// The settings of a mounted catalogue.
///
/// ```
/// use robot_core::http::{Access, AccessToken, Permission};
/// use robot_rocket::Settings;
///
/// // Without Rocket's configuration:
/// let mut settings = Settings::default();
/// let token = AccessToken::of("robots_of_my_own", Permission::Write);
/// settings.access = Access::new(vec![token], Some(Permission::Read));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// The status codes (`behaviour`, `A` by default).
    pub behaviour: Behaviour,
    /// The host names that the catalogue accepts (`allowed_hosts`). By default any, or only loopback
    /// names if the application listens on a loopback address.
    pub hosts: Hosts,
    /// The permissions of clients (`api_tokens` or `api_tokens_file`, `allow_anonymous`). By default every
    /// client may write if the application listens on a loopback address; otherwise they must be set.
    pub access: Access,
    /// Other origins whose pages may use the catalogue (`allowed_origins`, none by default).
    pub origins: Vec<Origin>,
    /// How long a client may take to send a body, or the next piece of an import (10 s, whatever the
    /// configuration has).
    pub body_deadline: Duration,
    /// The time limits of imports (`import_timeout`, `import_minimum_rate`).
    pub stream_limits: StreamLimits,
    /// A folder whose files take precedence over all routes (`static_dir`, none by default).
    pub static_dir: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            behaviour: Behaviour::default(),
            hosts: Hosts::default(),
            access: Access::default(),
            origins: Vec::new(),
            body_deadline: BODY_DEADLINE,
            stream_limits: StreamLimits::default(),
            static_dir: None,
        }
    }
}

impl Settings {
    /// Reads `behaviour`, `allowed_hosts`, `api_tokens`, `api_tokens_file`, `allow_anonymous`,
    /// `allowed_origins`, `import_timeout`, `import_minimum_rate` and `static_dir`.
    ///
    /// # Errors
    /// A value is invalid, the folder cannot be read, or the application is reachable from a network
    /// and the permissions are not set. The error has all of these problems.
    ///
    /// ```
    /// use robot_core::http::Behaviour;
    /// use robot_rocket::Settings;
    ///
    /// let figment = rocket::Config::figment().merge(("behaviour", "B"));
    /// assert_eq!(Settings::read(&figment)?.behaviour, Behaviour::B);
    /// # Ok::<(), robot_rocket::SettingsError>(())
    /// ```
    pub fn read(figment: &Figment) -> Result<Self, SettingsError> {
        let mut problems = Vec::new();
        let settings = Self {
            behaviour: value(behaviour(figment), &mut problems),
            hosts: value(hosts(figment), &mut problems),
            access: value(access(figment), &mut problems),
            origins: value(parsed_list(figment, "allowed_origins"), &mut problems)
                .unwrap_or_default(),
            body_deadline: BODY_DEADLINE,
            stream_limits: value(stream_limits(figment), &mut problems),
            static_dir: value(static_dir(figment), &mut problems),
        };
        SettingsError::check(problems).map(|()| settings)
    }

    /// Checks that the folder of static files has no file of the store, which need not exist yet.
    ///
    /// # Errors
    /// [`SettingProblem::StoreInStaticDir`].
    ///
    /// ```
    /// use robot_core::StoreFiles;
    /// use robot_rocket::Settings;
    ///
    /// let mut settings = Settings::default();
    /// settings.static_dir = Some(".".into());
    /// assert!(settings.check_store(&StoreFiles::of_url("memory:")).is_ok());
    /// assert!(settings.check_store(&StoreFiles::new(["robots.db".into()])).is_err());
    /// ```
    pub fn check_store(&self, files: &StoreFiles) -> Result<(), SettingsError> {
        match &self.static_dir {
            Some(folder) if files.first_below(folder).is_some() => {
                Err(SettingProblem::StoreInStaticDir(folder.display().to_string()).into())
            }
            _ => Ok(()),
        }
    }
}

/// The value, or its default after adding the problems to others.
fn value<T: Default>(read: Result<T, SettingsError>, problems: &mut Vec<SettingProblem>) -> T {
    read.unwrap_or_else(|error| {
        problems.extend(error.into_problems());
        T::default()
    })
}

/// Rocket's configuration, from the same sources as [`Config::figment`], but with other defaults: for
/// `keep_alive` 75 seconds, longer than proxies keep their connections; for `workers` one more than
/// there are cores, because one of them may wait for the disk. Run the server by
/// [`execute`](crate::execute), because Rocket's own functions ignore the default of `workers`.
///
/// ```
/// let rocket = rocket::custom(robot_rocket::figment());
/// let settings = robot_rocket::Settings::read(rocket.figment());
/// # drop(settings);
/// ```
#[must_use]
pub fn figment() -> Figment {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let defaults = Config {
        workers: cores + 1,
        keep_alive: 75,
        ..Config::default()
    };
    Figment::from(defaults)
        .merge(Toml::file(Env::var_or("ROCKET_CONFIG", "Rocket.toml")).nested())
        .merge(Env::prefixed("ROCKET_").ignore(&["PROFILE"]).global())
        .select(Profile::from_env_or(
            "ROCKET_PROFILE",
            Config::DEFAULT_PROFILE,
        ))
}

fn optional<'a, T: rocket::serde::Deserialize<'a>>(
    figment: &Figment,
    key: &str,
) -> Result<Option<T>, SettingsError> {
    debug_assert!(keys::find(key).is_some(), "{key} is missing in keys.rs");
    if figment.contains(key) {
        Ok(Some(figment.extract_inner(key)?))
    } else {
        Ok(None)
    }
}

/// Rejects the setting `tls`, which would be ignored.
#[cfg(not(feature = "tls"))]
pub(crate) fn tls_without_feature(figment: &Figment) -> Result<(), SettingProblem> {
    if !figment.contains(Config::TLS) {
        return Ok(());
    }
    Err(SettingProblem::Server(
        "tls has no effect, because this server was built without HTTPS; remove the setting, or \
         build the server with the feature tls"
            .to_owned(),
    ))
}

/// A list in the format of `Rocket.toml`, or a text with commas, which is simpler in an environment
/// variable.
fn list(figment: &Figment, key: &str) -> Result<Option<Vec<String>>, SettingsError> {
    let texts: Vec<String> = match figment.extract_inner::<String>(key) {
        Ok(text) => text.split(',').map(|part| part.trim().to_owned()).collect(),
        Err(_) => match optional(figment, key)? {
            Some(texts) => texts,
            None => return Ok(None),
        },
    };
    Ok(Some(
        texts.into_iter().filter(|text| !text.is_empty()).collect(),
    ))
}

/// As [`list`], with each text parsed. The error has all texts that cannot be parsed.
fn parsed_list<T: FromStr>(figment: &Figment, key: &str) -> Result<Option<Vec<T>>, SettingsError>
where
    SettingProblem: From<T::Err>,
{
    let Some(texts) = list(figment, key)? else {
        return Ok(None);
    };
    let mut problems = Vec::new();
    let values = texts.iter().filter_map(|text| match text.parse() {
        Ok(value) => Some(value),
        Err(error) => {
            problems.push(SettingProblem::from(error));
            None
        }
    });
    let values = values.collect();
    SettingsError::check(problems).map(|()| Some(values))
}

fn stream_limits(figment: &Figment) -> Result<StreamLimits, SettingsError> {
    let mut limits = StreamLimits::default();
    if let Some(seconds) = optional::<NonZeroU32>(figment, "import_timeout")? {
        limits.timeout = Duration::from_secs(seconds.get().into());
    }
    if let Some(rate) = optional(figment, "import_minimum_rate")? {
        limits.minimum_rate = rate;
    }
    Ok(limits)
}

fn behaviour(figment: &Figment) -> Result<Behaviour, SettingsError> {
    match optional::<String>(figment, "behaviour")? {
        Some(text) => Ok(text.parse().map_err(SettingProblem::from)?),
        None => Ok(Behaviour::default()),
    }
}

fn hosts(figment: &Figment) -> Result<Hosts, SettingsError> {
    Ok(match parsed_list(figment, "allowed_hosts")? {
        Some(names) => Hosts::Only(names),
        None if network(figment).is_none() => Hosts::Only(Vec::new()),
        None => Hosts::Any,
    })
}

fn access(figment: &Figment) -> Result<Access, SettingsError> {
    let tokens = tokens::read(figment)?.unwrap_or_default();
    match (anonymous(figment)?, tokens.is_empty()) {
        (Some(Anonymous::Everything), true) => Ok(Access::default()),
        (Some(Anonymous::Everything), false) => Err(SettingProblem::UnusedTokens.into()),
        (Some(Anonymous::Reads), _) => Ok(Access::new(tokens, Some(Permission::Read))),
        (Some(Anonymous::Nothing), true) => Err(SettingProblem::NoPermissions.into()),
        (Some(Anonymous::Nothing) | None, false) => Ok(Access::new(tokens, None)),
        (None, true) => match network(figment) {
            None => Ok(Access::default()),
            Some(address) => Err(SettingProblem::PermissionsNotSet(address).into()),
        },
    }
}

/// The permission without a token.
enum Anonymous {
    Everything,
    Reads,
    Nothing,
}

fn anonymous(figment: &Figment) -> Result<Option<Anonymous>, SettingsError> {
    const KEY: &str = "allow_anonymous";
    if !figment.contains(KEY) {
        return Ok(None);
    }
    let value = figment.find_value(KEY)?;
    match (value.to_bool(), value.as_str()) {
        (Some(true), _) => Ok(Some(Anonymous::Everything)),
        (Some(false), _) => Ok(Some(Anonymous::Nothing)),
        (None, Some("read")) => Ok(Some(Anonymous::Reads)),
        (None, _) => Err(SettingProblem::AllowAnonymous(error::shown(&value.to_actual())).into()),
    }
}

/// The address that the application listens on, unless it is a loopback address. Rocket rejects an
/// invalid one.
fn network(figment: &Figment) -> Option<IpAddr> {
    figment
        .extract_inner("address")
        .ok()
        .filter(|address: &IpAddr| !address.is_loopback())
}

/// The folder of static files, if it can be read.
fn static_dir(figment: &Figment) -> Result<Option<PathBuf>, SettingsError> {
    let Some(path) = optional::<RelativePathBuf>(figment, "static_dir")? else {
        return Ok(None);
    };
    let path = path.relative();
    match fs::read_dir(&path) {
        Ok(_) => Ok(Some(path)),
        Err(cause) => Err(SettingProblem::StaticDir {
            folder: path.display().to_string(),
            cause,
        }
        .into()),
    }
}
