//! Settings of a mounted catalogue.

use std::{
    fs,
    net::IpAddr,
    path::{Path, PathBuf},
};

use robot_core::{
    StoreFiles,
    http::{Access, AccessToken, ApiSettings, Behaviour, BodyLimits, Hosts, Permission},
};
use rocket::figment::Figment;

use super::{SettingsError, reader::Reader};

/// The settings of a mounted catalogue.
///
/// ```
/// use robot_core::http::{Access, AccessToken, Permission};
/// use robot_rocket::Settings;
///
/// // Without Rocket's configuration:
/// let mut settings = Settings::default();
/// let token = AccessToken::of("robots_of_my_own", Permission::Write);
/// settings.api.access = Access::new(vec![token], Some(Permission::Read));
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Settings {
    /// What the API needs to know.
    pub api: ApiSettings,
    /// A folder whose files take precedence over all routes (`static_dir`, none by default).
    pub static_dir: Option<PathBuf>,
}

impl Settings {
    /// Reads `behaviour`, `allowed_hosts`, `api_tokens`, `api_tokens_file`, `allow_anonymous`,
    /// `allowed_origins`, `import_timeout`, `import_minimum_rate` and `static_dir`.
    ///
    /// If the application listens on a loopback address, the defaults are loopback names as hosts, and that
    /// every client may write. Otherwise, every host is accepted, and the permissions must be set.
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
    /// assert_eq!(Settings::read(&figment)?.api.behaviour, Behaviour::B);
    /// # Ok::<(), robot_rocket::SettingsError>(())
    /// ```
    pub fn read(figment: &Figment) -> Result<Self, SettingsError> {
        Reader::read(figment, Self::read_from)
    }

    pub(super) fn read_from(reader: &mut Reader<'_>) -> Self {
        let api = ApiSettings {
            behaviour: reader.get_or("behaviour", BEHAVIOURS, Behaviour::default()),
            hosts: hosts(reader),
            access: access(reader),
            origins: (reader.list("allowed_origins", ORIGINS, "none")).unwrap_or_default(),
            body_limits: body_limits(reader),
            ..ApiSettings::default()
        };
        let static_dir = static_dir(reader);
        Self { api, static_dir }
    }

    /// Checks that the folder of static files has no file of the store, which need not exist yet.
    ///
    /// # Errors
    /// The folder has a file of the store.
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
            Some(folder) if files.first_below(folder).is_some() => Err(format!(
                "the database is in the folder static_dir '{}', where every client could read it; move \
                 one of them, and set ROCKET_STATIC_DIR or DATABASE_URL",
                folder.display()
            )
            .into()),
            _ => Ok(()),
        }
    }
}

const BEHAVIOURS: &str = "A (current) or B (older)";
const ORIGINS: &str = "origins, as in https://app.example";

fn hosts(reader: &mut Reader<'_>) -> Hosts {
    let (default, shown) = match network(reader) {
        Some(_) => (Hosts::Any, "any"),
        None => (Hosts::Only(Vec::new()), "loopback names"),
    };
    let expected = "names, as in robots.example,robots";
    let names = reader.list("allowed_hosts", expected, shown);
    names.map_or(default, Hosts::Only)
}

fn body_limits(reader: &mut Reader<'_>) -> BodyLimits {
    let mut limits = BodyLimits::default();
    limits.timeout = reader.seconds("import_timeout", limits.timeout);
    let expected = "a number of bytes per second; 0 means none";
    limits.minimum_rate = reader.get_or("import_minimum_rate", expected, limits.minimum_rate);
    limits
}

/// The folder of static files, if it can be read.
fn static_dir(reader: &mut Reader<'_>) -> Option<PathBuf> {
    let path = reader.path("static_dir", "the path of a folder")?;
    if let Err(cause) = fs::read_dir(&path) {
        reader.problem(format!(
            "cannot read the folder static_dir '{}': {cause} \
             (set it with ROCKET_STATIC_DIR or static_dir in Rocket.toml)",
            path.display()
        ));
    }
    Some(path)
}

/// The address that the application listens on, unless it is a loopback address. Rocket rejects an
/// invalid one.
pub(super) fn network(reader: &Reader<'_>) -> Option<IpAddr> {
    let address: IpAddr = reader.figment.extract_inner("address").ok()?;
    (!address.is_loopback()).then_some(address)
}

/// The permissions, by default none if there is a problem.
pub(super) fn access(reader: &mut Reader<'_>) -> Access {
    let before = reader.problems.len();
    let tokens = tokens(reader);
    let default = tokens.is_empty() && network(reader).is_none();
    let name = "allow_anonymous";
    let expected = "true, false or read";
    let anonymous = reader.get_if(name, expected, &default, |value| match value.to_bool() {
        Some(is_allowed) => Some(is_allowed.then_some(Permission::Define)),
        None => (value.as_str() == Some("read")).then_some(Some(Permission::Read)),
    });
    if reader.problems.len() > before {
        return Access::default();
    }
    let problem = match (anonymous, tokens.is_empty(), network(reader)) {
        (Some(Some(Permission::Define)), false, _) => {
            "with allow_anonymous = true the api_tokens have no effect; remove one of the settings, \
             or set allow_anonymous = \"read\" to require tokens only for writes"
                .to_owned()
        }
        (Some(None), true, _) => {
            "allow_anonymous = false without api_tokens rejects every request; create a token with \
             'robot-cli token new' and set ROCKET_API_TOKENS to the entry that it prints"
                .to_owned()
        }
        (None, true, Some(address)) => format!(
            "on {address} every client that reaches this machine could change the robots; create a \
             token with 'robot-cli token new' and set ROCKET_API_TOKENS to the entry that it \
             prints, or allow it with ROCKET_ALLOW_ANONYMOUS=true (or read, only for reads)"
        ),
        (None, true, None) => return Access::default(),
        (anonymous, ..) => return Access::new(tokens, anonymous.flatten()),
    };
    reader.problem(problem);
    Access::default()
}

/// The tokens of the setting and of the file.
fn tokens(reader: &mut Reader<'_>) -> Vec<AccessToken> {
    let before = reader.problems.len();
    let expected = "entries that 'robot-cli token new' prints";
    let listed = reader.list("api_tokens", expected, "none");
    let mut tokens = listed.unwrap_or_default();
    let file = reader.path("api_tokens_file", "the path of a file");
    if let Some(path) = &file {
        tokens.extend(read_file(reader, path));
    }
    let is_set = file.is_some() || reader.figment.contains("api_tokens");
    if is_set && tokens.is_empty() && reader.problems.len() == before {
        reader.problem(
            "api_tokens has no token, and neither has the file of api_tokens_file, which would turn \
             authentication off; add the entry that 'robot-cli token new' prints for the server, or \
             remove the setting",
        );
    }
    tokens
}

/// One token per line. Empty lines, and lines that begin with `#`, are ignored.
fn read_file(reader: &mut Reader<'_>, path: &Path) -> Vec<AccessToken> {
    let file = format!("the file '{}' of api_tokens_file", path.display());
    let text = fs::read_to_string(path).unwrap_or_else(|cause| {
        reader.problem(format!(
            "{file} cannot be read: {cause}; correct the path, or the permissions of the file"
        ));
        String::new()
    });
    let lines = text.lines().map(str::trim).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let tokens = lines.filter_map(|(index, line)| {
        let report = |cause| reader.problem(format!("line {} of {file}: {cause}", index + 1));
        line.parse().map_err(report).ok()
    });
    tokens.collect()
}
