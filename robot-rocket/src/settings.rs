//! What can be set, through Rocket's own configuration: `Rocket.toml` and `ROCKET_*`.

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
        Access, AccessToken, Behaviour, Hosts, Origin, ParseOriginError, ParseTokenError,
        Permission,
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

/// What an application may decide about a mounted catalogue.
///
/// ```
/// use robot_core::http::{Access, AccessToken, Permission};
/// use robot_rocket::Settings;
///
/// // For a program that does not read them from Rocket's configuration.
/// let mut settings = Settings::default();
/// let token = AccessToken::of("robots_of_my_own", Permission::Write);
/// settings.access = Access::new(vec![token], Some(Permission::Read));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// Which status codes are answered (`behaviour`, `A` by default).
    pub behaviour: Behaviour,
    /// The names that the catalogue answers to (`allowed_hosts`). By default any; where the
    /// application listens on a loopback address alone, only those of this machine to itself.
    pub hosts: Hosts,
    /// Who may read and who may write (`api_tokens`, `allow_anonymous`). Everybody where the
    /// application listens on a loopback address alone; elsewhere that has to be said.
    pub access: Access,
    /// The origins of pages that may use the catalogue, too (`allowed_origins`, none by default).
    pub origins: Vec<Origin>,
    /// A folder whose files are served before anything else (`static_dir`, none by default).
    pub static_dir: Option<PathBuf>,
}

/// A setting that cannot be. The message is one line that names it.
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
    /// A name that the server is to answer to is none.
    #[error(
        "wrong setting: '{0}' in allowed_hosts is no name; write names alone, without scheme \
         and port, as in ROCKET_ALLOWED_HOSTS=robots.example,robots"
    )]
    AllowedHosts(String),
    /// A token cannot be read.
    #[error("wrong setting: api_tokens: {0} (set them with ROCKET_API_TOKENS or in Rocket.toml)")]
    Tokens(#[from] ParseTokenError),
    /// There is a list of tokens, and nothing is in it.
    #[error(
        "wrong setting: api_tokens is empty, and who meant to ask for tokens would let everybody \
         in; write what 'robot-cli token new' says, or leave it out"
    )]
    NoTokens,
    /// `allow_anonymous` is none of the things that it can be.
    #[error(
        "wrong setting: allow_anonymous is true, false or read, not '{0}' (set it with \
         ROCKET_ALLOW_ANONYMOUS or in Rocket.toml)"
    )]
    AllowAnonymous(String),
    /// Nobody may do anything.
    #[error(
        "wrong setting: allow_anonymous = false without api_tokens lets nobody in; make a token \
         with 'robot-cli token new' and put what it says into ROCKET_API_TOKENS"
    )]
    ClosedToAll,
    /// There are tokens, and nobody needs one.
    #[error(
        "wrong setting: with allow_anonymous = true nobody needs the api_tokens; leave one of \
         them out, or write allow_anonymous = \"read\" to let everybody read"
    )]
    NeedlessTokens,
    /// The network is let in without a word.
    #[error(
        "wrong setting: on {0} whoever reaches this machine could change the robots; make a token \
         with 'robot-cli token new' and put what it says into ROCKET_API_TOKENS, or, if you mean \
         it, set ROCKET_ALLOW_ANONYMOUS=true (or read, for reads alone)"
    )]
    OpenToTheNetwork(IpAddr),
    /// An origin of pages is none.
    #[error(
        "wrong setting: allowed_origins: {0} (set them with ROCKET_ALLOWED_ORIGINS or in \
         Rocket.toml)"
    )]
    AllowedOrigins(#[from] ParseOriginError),
    /// The folder of static files is none.
    #[error(
        "wrong setting: static_dir '{folder}' is no folder that can be read: {cause} \
         (set it with ROCKET_STATIC_DIR or static_dir in Rocket.toml)"
    )]
    StaticDir {
        /// The folder as given.
        folder: String,
        /// What the system says of it.
        #[source]
        cause: io::Error,
    },
}

impl From<figment::Error> for SettingsError {
    fn from(error: figment::Error) -> Self {
        Self::Unreadable(Box::new(error))
    }
}

impl Settings {
    /// Reads `behaviour`, `allowed_hosts`, `api_tokens`, `allow_anonymous`, `allowed_origins` and
    /// `static_dir`.
    ///
    /// # Errors
    /// A value cannot be, the folder cannot be read, or the application listens on a network and
    /// nothing says who may write.
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
            static_dir,
        })
    }
}

/// Rocket's configuration, from the same places as [`Config::figment`], with as many workers as there
/// are cores unless told otherwise, but two at least: all but one may read from the disk. A server that
/// is configured by it is run by [`execute`](crate::execute), for Rocket itself goes by its own default.
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
/// `ROCKET_DATABASE_URL`, `DATABASE_URL`, which other programs share, and `database_url` in
/// `Rocket.toml`.
///
/// # Errors
/// The value is no text.
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
/// [`OpenOptions::workers`]). A database server that cannot be
/// reached yet is waited for.
///
/// # Errors
/// A value is no number above 0.
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

/// A list, as `Rocket.toml` writes it, or texts with commas between them, which is easier to
/// write into an environment variable.
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
    // One colon stands before a port, and several stand in an IPv6 address.
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

/// What may be done without a token.
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

/// The address that the application listens on, where more than this machine reaches it. One that
/// cannot be read is Rocket's to refuse.
fn network(figment: &Figment) -> Option<IpAddr> {
    figment
        .extract_inner("address")
        .ok()
        .filter(|address: &IpAddr| !address.is_loopback())
}

/// What is wrong with the configuration, without what may be secret.
fn in_one_line(error: &figment::Error) -> String {
    let text = error.to_string();
    let mut lines: Vec<_> = text.lines().map(str::trim).collect();
    // A key of Rocket.toml that stands above all tables is taken for a table itself.
    let remedy = if text.contains("expected a map") {
        "; in Rocket.toml, settings stand below a line [default]"
    } else {
        ""
    };
    if let [place, .., file] = lines[..]
        && place.starts_with("TOML parse error")
    {
        // Between these the parser shows a line of the file, which may have a password.
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
