//! Settings, read from Rocket's configuration: `Rocket.toml` and `ROCKET_*`.

use std::{
    fs, io,
    net::IpAddr,
    num::{NonZero, NonZeroU32},
    path::PathBuf,
    thread,
    time::Duration,
};

use robot_core::{
    DEFAULT_URL, OpenOptions,
    http::{
        Access, AccessToken, BODY_DEADLINE, Behaviour, Hosts, Origin, ParseOriginError,
        ParseTokenError, Permission,
    },
};
use rocket::{
    Config,
    figment::{
        self, Figment, Profile,
        providers::{Env, Format, Toml},
        value::magic::RelativePathBuf,
    },
};

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
    /// The permissions of clients (`api_tokens`, `allow_anonymous`). By default every client may
    /// write if the application listens on a loopback address; otherwise they must be set.
    pub access: Access,
    /// Other origins whose pages may use the catalogue (`allowed_origins`, none by default).
    pub origins: Vec<Origin>,
    /// How long a client may take to send a body, or the next piece of an import (10 s, whatever the
    /// configuration has).
    pub body_deadline: Duration,
    /// A folder whose files take precedence over all routes (`static_dir`, none by default).
    pub static_dir: Option<PathBuf>,
}

/// An invalid setting. The message is one line with its name.
///
/// ```
/// use robot_rocket::Settings;
///
/// let figment = rocket::Config::figment().merge(("behaviour", "C"));
/// let error = Settings::read(&figment).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "wrong setting: the behaviour is A (current) or B (older), not 'C' \
///      (set it with ROCKET_BEHAVIOUR or behaviour in Rocket.toml)"
/// );
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The configuration cannot be read, or a value is of the wrong type.
    #[error("wrong setting: {}", in_one_line(.0))]
    Unreadable(Box<figment::Error>),
    /// The behaviour is neither A nor B.
    #[error("wrong setting: {0} (set it with ROCKET_BEHAVIOUR or behaviour in Rocket.toml)")]
    Behaviour(#[from] robot_core::http::ParseBehaviourError),
    /// A host name is invalid.
    #[error(
        "wrong setting: '{0}' in allowed_hosts is not a name; write names without scheme and \
         port, as in ROCKET_ALLOWED_HOSTS=robots.example,robots"
    )]
    AllowedHosts(String),
    /// A token is invalid.
    #[error("wrong setting: api_tokens: {0} (set them with ROCKET_API_TOKENS or in Rocket.toml)")]
    Tokens(#[from] ParseTokenError),
    /// The list of tokens is empty.
    #[error(
        "wrong setting: api_tokens is empty, which would turn authentication off; set it to the \
         entry that 'robot-cli token new' prints for the server, or remove it"
    )]
    NoTokens,
    /// `allow_anonymous` is invalid.
    #[error(
        "wrong setting: allow_anonymous must be true, false or read, not '{0}' (set it with \
         ROCKET_ALLOW_ANONYMOUS or in Rocket.toml)"
    )]
    AllowAnonymous(String),
    /// No client has any permission.
    #[error(
        "wrong setting: allow_anonymous = false without api_tokens rejects every request; create a \
         token with 'robot-cli token new' and set ROCKET_API_TOKENS to the entry that it prints"
    )]
    ClosedToAll,
    /// There are tokens, but no request needs one.
    #[error(
        "wrong setting: with allow_anonymous = true the api_tokens have no effect; remove one \
         of the settings, or set allow_anonymous = \"read\" to require tokens only for writes"
    )]
    NeedlessTokens,
    /// The address is reachable from a network, and the permissions are not set.
    #[error(
        "wrong setting: on {0} every client that reaches this machine could change the robots; \
         create a token with 'robot-cli token new' and set ROCKET_API_TOKENS to the entry that it \
         prints, or allow it with ROCKET_ALLOW_ANONYMOUS=true (or read, only for reads)"
    )]
    OpenToTheNetwork(IpAddr),
    /// An origin is invalid.
    #[error(
        "wrong setting: allowed_origins: {0} (set them with ROCKET_ALLOWED_ORIGINS or in \
         Rocket.toml)"
    )]
    AllowedOrigins(#[from] ParseOriginError),
    /// The folder of static files cannot be read.
    #[error(
        "wrong setting: cannot read the folder static_dir '{folder}': {cause} \
         (set it with ROCKET_STATIC_DIR or static_dir in Rocket.toml)"
    )]
    StaticDir {
        /// The folder as given.
        folder: String,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
}

impl From<figment::Error> for SettingsError {
    fn from(error: figment::Error) -> Self {
        Self::Unreadable(Box::new(error))
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            behaviour: Behaviour::default(),
            hosts: Hosts::default(),
            access: Access::default(),
            origins: Vec::new(),
            body_deadline: BODY_DEADLINE,
            static_dir: None,
        }
    }
}

impl Settings {
    /// Reads `behaviour`, `allowed_hosts`, `api_tokens`, `allow_anonymous`, `allowed_origins` and
    /// `static_dir`.
    ///
    /// # Errors
    /// A value is invalid, the folder cannot be read, or the application is reachable from a network
    /// and the permissions are not set.
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
        let behaviour = match optional::<String>(figment, "behaviour")? {
            Some(text) => text.parse()?,
            None => Behaviour::default(),
        };
        let hosts = match allowed_hosts(figment)? {
            Some(names) => Hosts::Only(names),
            None if network(figment).is_none() => Hosts::Only(Vec::new()),
            None => Hosts::Any,
        };
        let origins = list(figment, "allowed_origins")?.unwrap_or_default();
        let origins = origins.iter().map(|origin| origin.parse());
        let static_dir = optional::<RelativePathBuf>(figment, "static_dir")?
            .map(|path| folder(path.relative()))
            .transpose()?;
        Ok(Self {
            behaviour,
            hosts,
            access: access(figment)?,
            origins: origins.collect::<Result<_, _>>()?,
            body_deadline: BODY_DEADLINE,
            static_dir,
        })
    }
}

/// Rocket's configuration, from the same sources as [`Config::figment`]. The default number of workers
/// is the number of cores, but at least two, because all except one may read from the disk. Run the
/// server by [`execute`](crate::execute), because Rocket's own functions ignore this default.
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
        workers: cores.max(2),
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

/// Reads the URL of the store, from the first of these that is set: the environment variable
/// `ROCKET_DATABASE_URL`, the environment variable `DATABASE_URL`, and `database_url` in
/// `Rocket.toml`.
///
/// # Errors
/// The value is not a text.
///
/// ```
/// let figment = rocket::Config::figment().merge(("database_url", "sqlite:///var/lib/robots.db"));
/// // Unless DATABASE_URL is set:
/// let url = robot_rocket::database_url(&figment)?;
/// # if std::env::var_os("DATABASE_URL").or(std::env::var_os("ROCKET_DATABASE_URL")).is_none() {
/// assert_eq!(url, "sqlite:///var/lib/robots.db");
/// # }
/// # Ok::<(), robot_rocket::SettingsError>(())
/// ```
pub fn database_url(figment: &Figment) -> Result<String, SettingsError> {
    let figment = figment
        .clone()
        .merge(Env::raw().only(&["DATABASE_URL"]).global())
        .merge(Env::prefixed("ROCKET_").only(&["database_url"]).global());
    Ok(optional(&figment, "database_url")?.unwrap_or_else(|| DEFAULT_URL.to_owned()))
}

/// Reads how the store is opened: `database_timeout` (whole seconds, 2 by default) and
/// `database_connections` (see [`OpenOptions::connections`]), and Rocket's own `workers` (see
/// [`OpenOptions::workers`]). If a database server is unreachable, opening waits for it.
///
/// # Errors
/// A value is not a number greater than 0.
///
/// ```
/// let figment = rocket::Config::figment().merge(("database_timeout", 5));
/// let catalogue = robot_rocket::open_options(&figment)?.open("memory:")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open_options(figment: &Figment) -> Result<OpenOptions, SettingsError> {
    let mut options = OpenOptions::new().wait_for_server();
    if let Some(seconds) = optional::<NonZeroU32>(figment, "database_timeout")? {
        options = options.timeout(Duration::from_secs(seconds.get().into()));
    }
    if let Some(workers) = optional(figment, "workers")? {
        options = options.workers(workers);
    }
    if let Some(connections) = optional::<NonZeroU32>(figment, "database_connections")? {
        options = options.connections(connections.get());
    }
    Ok(options)
}

fn optional<'a, T: rocket::serde::Deserialize<'a>>(
    figment: &Figment,
    key: &str,
) -> Result<Option<T>, SettingsError> {
    if figment.contains(key) {
        Ok(Some(figment.extract_inner(key)?))
    } else {
        Ok(None)
    }
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

fn allowed_hosts(figment: &Figment) -> Result<Option<Vec<String>>, SettingsError> {
    let names = list(figment, "allowed_hosts")?;
    // A port has one colon, an IPv6 address has several.
    let is_name = |name: &String| !name.contains(['/', ' ']) && name.matches(':').count() != 1;
    match names.iter().flatten().find(|name| !is_name(name)) {
        Some(name) => Err(SettingsError::AllowedHosts(name.clone())),
        None => Ok(names),
    }
}

fn access(figment: &Figment) -> Result<Access, SettingsError> {
    let tokens = list(figment, "api_tokens")?;
    if tokens.as_ref().is_some_and(Vec::is_empty) {
        return Err(SettingsError::NoTokens);
    }
    let tokens: Vec<AccessToken> = tokens
        .unwrap_or_default()
        .iter()
        .map(|token| token.parse())
        .collect::<Result<_, _>>()?;
    match (anonymous(figment)?, tokens.is_empty()) {
        (Some(Anonymous::Everything), true) => Ok(Access::default()),
        (Some(Anonymous::Everything), false) => Err(SettingsError::NeedlessTokens),
        (Some(Anonymous::Reads), _) => Ok(Access::new(tokens, Some(Permission::Read))),
        (Some(Anonymous::Nothing), true) => Err(SettingsError::ClosedToAll),
        (Some(Anonymous::Nothing) | None, false) => Ok(Access::new(tokens, None)),
        (None, true) => match network(figment) {
            None => Ok(Access::default()),
            Some(address) => Err(SettingsError::OpenToTheNetwork(address)),
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
        (None, Some(text)) => Err(SettingsError::AllowAnonymous(text.to_owned())),
        (None, None) => Err(SettingsError::AllowAnonymous(format!("{value:?}"))),
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

/// The error in the configuration, without lines of the file, which may have secrets.
fn in_one_line(error: &figment::Error) -> String {
    let text = error.to_string();
    let mut lines: Vec<_> = text.lines().map(str::trim).collect();
    // Rocket takes a key above all tables of Rocket.toml for a table.
    let remedy = if text.contains("expected a map") {
        "; in Rocket.toml, settings stand below a line [default]"
    } else {
        ""
    };
    if let [place, .., file] = lines[..]
        && place.starts_with("TOML parse error")
    {
        // The parser shows a line of the file in between, which may have a password.
        lines = vec![place, file];
    }
    format!("{}{remedy}", lines.join(" "))
}

/// The folder, if it can be read.
fn folder(path: PathBuf) -> Result<PathBuf, SettingsError> {
    match fs::read_dir(&path) {
        Ok(_) => Ok(path),
        Err(cause) => Err(SettingsError::StaticDir {
            folder: path.display().to_string(),
            cause,
        }),
    }
}
