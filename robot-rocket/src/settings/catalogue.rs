//! Settings of a mounted catalogue.

use std::{
    fs,
    path::{Path, PathBuf},
};

use robot_core::{
    StoreFiles,
    http::{ApiSettings, Behaviour, Hosts, Origin, StreamLimits},
};
use rocket::figment::Figment;

use super::{
    SettingsError,
    access::{access, network},
    reader::Reader,
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
            behaviour: behaviour(reader),
            hosts: hosts(reader),
            access: access(reader),
            origins: origins(reader),
            stream_limits: stream_limits(reader),
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
            Some(folder) if files.first_below(folder).is_some() => {
                Err(store_in_static_dir(folder).into())
            }
            _ => Ok(()),
        }
    }
}

/// The problem that the database is in the folder of static files.
pub(crate) fn store_in_static_dir(folder: &Path) -> String {
    format!(
        "the database is in the folder static_dir '{}', where every client could read it; move one \
         of them, and set ROCKET_STATIC_DIR or DATABASE_URL",
        folder.display()
    )
}

fn behaviour(reader: &mut Reader<'_>) -> Behaviour {
    reader.report_default("behaviour", &Behaviour::default());
    let behaviour = reader.parsed("behaviour", "A (current) or B (older)");
    behaviour.unwrap_or_default()
}

fn hosts(reader: &mut Reader<'_>) -> Hosts {
    let (default, shown) = match network(reader) {
        Some(_) => (Hosts::Any, "any"),
        None => (Hosts::Only(Vec::new()), "loopback names"),
    };
    reader.report_default("allowed_hosts", &shown);
    let names = reader.list("allowed_hosts", "names, as in robots.example,robots");
    names.map_or(default, Hosts::Only)
}

fn origins(reader: &mut Reader<'_>) -> Vec<Origin> {
    reader.report_default("allowed_origins", &"none");
    let origins = reader.list("allowed_origins", "origins, as in https://app.example");
    origins.unwrap_or_default()
}

fn stream_limits(reader: &mut Reader<'_>) -> StreamLimits {
    let mut limits = StreamLimits::default();
    limits.timeout = reader.seconds("import_timeout", limits.timeout);
    limits.minimum_rate = reader.get_or(
        "import_minimum_rate",
        "a number of bytes per second; 0 means none",
        limits.minimum_rate,
    );
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
