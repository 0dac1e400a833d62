//! Problems with settings, and their messages.

use std::{fmt, io, net::IpAddr};

use robot_core::http::{
    ParseBehaviourError, ParseHostNameError, ParseOriginError, ParseTokenError, TokenName,
};
use rocket::figment::{
    self, Metadata, Profile,
    error::{Actual, Kind},
};

use super::keys;

/// Settings that are wrong: all problems that were found.
///
/// The message names each setting. It has one line per problem, and a line before them if there are
/// several.
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
///
/// let figment = figment.merge(("allowed_hosts", "*"));
/// let error = Settings::read(&figment).unwrap_err();
/// assert_eq!(error.problems().len(), 2);
/// assert!(error.to_string().starts_with("2 wrong settings:\n  the behaviour is A"));
/// ```
#[derive(Debug)]
pub struct SettingsError(Vec<SettingProblem>);

impl SettingsError {
    /// The problems, at least one.
    #[must_use]
    pub fn problems(&self) -> &[SettingProblem] {
        &self.0
    }

    pub(super) fn into_problems(self) -> Vec<SettingProblem> {
        self.0
    }

    /// Returns the problems as an error, if there are any.
    pub(super) fn check(problems: Vec<SettingProblem>) -> Result<(), Self> {
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Self(problems))
        }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [problem] = self.problems() {
            return write!(formatter, "wrong setting: {problem}");
        }
        write!(formatter, "{} wrong settings:", self.0.len())?;
        self.0
            .iter()
            .try_for_each(|problem| write!(formatter, "\n  {problem}"))
    }
}

impl std::error::Error for SettingsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.first()?.source()
    }
}

impl From<SettingProblem> for SettingsError {
    fn from(problem: SettingProblem) -> Self {
        Self(vec![problem])
    }
}

impl From<figment::Error> for SettingsError {
    fn from(error: figment::Error) -> Self {
        SettingProblem::from(error).into()
    }
}

/// A problem with a setting. The message is one line with the name of the setting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingProblem {
    /// The configuration cannot be read, or a value is of the wrong type.
    #[error("{}", in_one_line(.0))]
    Unreadable(Box<figment::Error>),
    /// The behaviour is neither A nor B.
    #[error("{0} (set it with ROCKET_BEHAVIOUR or behaviour in Rocket.toml)")]
    Behaviour(#[from] ParseBehaviourError),
    /// A host name is invalid.
    #[error("allowed_hosts: {0} (set them with ROCKET_ALLOWED_HOSTS or in Rocket.toml)")]
    AllowedHosts(#[from] ParseHostNameError),
    /// A token is invalid.
    #[error("api_tokens: {0} (set them with ROCKET_API_TOKENS or in Rocket.toml)")]
    Tokens(#[from] ParseTokenError),
    /// A line of the file of tokens is invalid.
    #[error("line {line} of the file '{file}' of api_tokens_file: {cause}")]
    TokensFileLine {
        /// The file.
        file: String,
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        #[source]
        cause: ParseTokenError,
    },
    /// The file of tokens cannot be read.
    #[error(
        "the file '{file}' of api_tokens_file cannot be read: {cause}; correct the path, or the \
         permissions of the file"
    )]
    TokensFile {
        /// The file.
        file: String,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// The file of tokens has no token.
    #[error(
        "the file '{0}' of api_tokens_file has no token; add the entry that 'robot-cli token new' \
         prints as a line, or remove the setting"
    )]
    EmptyTokensFile(String),
    /// Tokens are in the settings and in a file.
    #[error("api_tokens and api_tokens_file are both set; move all tokens to one of them")]
    TokensTwice,
    /// A name or a named token occurs twice, so that a token cannot be revoked by its name.
    #[error(
        "api_tokens has the name or the token of '{0}' twice; remove one entry, or create a token \
         with another name by 'robot-cli token new write --name NAME'"
    )]
    RepeatedToken(TokenName),
    /// The list of tokens is empty.
    #[error(
        "api_tokens is empty, which would turn authentication off; set it to the entry that \
         'robot-cli token new' prints for the server, or remove it"
    )]
    NoTokens,
    /// `allow_anonymous` is invalid.
    #[error(
        "allow_anonymous must be true, false or read, not {0} (set it with \
         ROCKET_ALLOW_ANONYMOUS or in Rocket.toml)"
    )]
    AllowAnonymous(String),
    /// No client has any permission.
    #[error(
        "allow_anonymous = false without api_tokens rejects every request; create a token with \
         'robot-cli token new' and set ROCKET_API_TOKENS to the entry that it prints"
    )]
    NoPermissions,
    /// There are tokens, but no request needs one.
    #[error(
        "with allow_anonymous = true the api_tokens have no effect; remove one of the settings, \
         or set allow_anonymous = \"read\" to require tokens only for writes"
    )]
    UnusedTokens,
    /// The address is not a loopback address, and the permissions are not set.
    #[error(
        "on {0} every client that reaches this machine could change the robots; create a token \
         with 'robot-cli token new' and set ROCKET_API_TOKENS to the entry that it prints, or \
         allow it with ROCKET_ALLOW_ANONYMOUS=true (or read, only for reads)"
    )]
    PermissionsNotSet(IpAddr),
    /// An origin is invalid.
    #[error("allowed_origins: {0} (set them with ROCKET_ALLOWED_ORIGINS or in Rocket.toml)")]
    AllowedOrigins(#[from] ParseOriginError),
    /// The folder of static files cannot be read.
    #[error(
        "cannot read the folder static_dir '{folder}': {cause} \
         (set it with ROCKET_STATIC_DIR or static_dir in Rocket.toml)"
    )]
    StaticDir {
        /// The folder as given.
        folder: String,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// The database is in the folder of static files.
    #[error(
        "the database is in the folder static_dir '{0}', where every client could read it; move one \
         of them, and set ROCKET_STATIC_DIR or DATABASE_URL"
    )]
    StoreInStaticDir(String),
    /// A setting of the server program that is misspelt, has no effect here, or names a file that cannot be
    /// used.
    #[error("{0}")]
    Server(String),
}

impl From<figment::Error> for SettingProblem {
    fn from(error: figment::Error) -> Self {
        Self::Unreadable(Box::new(error))
    }
}

/// The error in the configuration, without lines of the file, which may have secrets.
fn in_one_line(error: &figment::Error) -> String {
    if let Some(key) = error.path.first().and_then(|key| keys::find(key)) {
        return wrong_value(error, key);
    }
    let text = error.to_string();
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    // Rocket takes a key above all tables of Rocket.toml for a table.
    let remedy = if text.contains("expected a map") {
        "; in Rocket.toml, settings stand below a line [default]"
    } else {
        ""
    };
    // The parser shows a line of the file, which may have a password.
    if let Some(place) = lines
        .first()
        .filter(|line| line.starts_with("TOML parse error"))
    {
        let source = error
            .metadata
            .as_ref()
            .and_then(|metadata| metadata.source.as_ref());
        let file = source.map_or_else(String::new, |file| format!(" in {file}"));
        let remedy = if remedy.is_empty() {
            "; write NAME = VALUE, each name once, and texts in quotation marks, as in behaviour = \"A\""
        } else {
            remedy
        };
        return format!("{place}{file}{remedy}");
    }
    lines.join(" ") + remedy
}

/// The message about a value that does not have the form of its setting.
fn wrong_value(error: &figment::Error, key: &keys::Key) -> String {
    let profile = error.profile.clone().unwrap_or_default();
    let place = place(error.metadata.as_ref(), &profile, &error.path);
    let found = match &error.kind {
        _ if key.is_secret => None,
        Kind::InvalidType(value, _) | Kind::InvalidValue(value, _) => Some(shown(value)),
        Kind::UnknownVariant(value, _) => Some(format!("'{value}'")),
        Kind::ISizeOutOfRange(value) => Some(value.to_string()),
        Kind::USizeOutOfRange(value) => Some(value.to_string()),
        _ => None,
    };
    let found = found.map_or_else(String::new, |found| format!(", not {found}"));
    format!("{place} must be {}{found}", key.expected)
}

pub(super) fn shown(value: &Actual) -> String {
    match value {
        Actual::Str(text) => format!("'{}'", text.escape_debug()),
        Actual::Bool(value) => value.to_string(),
        Actual::Unsigned(value) => value.to_string(),
        Actual::Signed(value) => value.to_string(),
        Actual::Float(value) => value.to_string(),
        Actual::Seq => "a list".to_owned(),
        Actual::Map => "a table".to_owned(),
        other => other.to_string(),
    }
}

/// The place of a setting as its author wrote it: the name of a variable, or a key and its file.
pub(super) fn place(metadata: Option<&Metadata>, profile: &Profile, path: &[String]) -> String {
    let key = path.join(".");
    let Some(metadata) = metadata else {
        return key;
    };
    match &metadata.source {
        Some(source) if source.file_path().is_some() => format!("{key} in {source}"),
        None if metadata.name.contains("environment") => {
            let prefix = metadata.name.split('`').nth(1).unwrap_or_default();
            prefix.to_owned() + &metadata.interpolate(profile, path)
        }
        _ => key,
    }
}
