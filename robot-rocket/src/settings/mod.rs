//! Settings, read from Rocket's configuration: `Rocket.toml` and `ROCKET_*`.

mod catalogue;
mod connections;
mod error;
#[cfg(feature = "server")]
mod names;
mod reader;
#[cfg(feature = "server")]
mod server;
mod store;
#[cfg(feature = "server")]
mod traces;
mod value;

use std::{num::NonZero, thread};

use rocket::{
    Config,
    figment::{
        Figment, Profile,
        providers::{Env, Format, Toml},
    },
};

pub use catalogue::Settings;
pub use connections::ConnectionLimits;
pub use error::SettingsError;
#[cfg(feature = "server")]
pub use server::ServerSettings;
pub use store::database_url;

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
    let profile = Profile::from_env_or("ROCKET_PROFILE", Config::DEFAULT_PROFILE);
    Figment::from(defaults)
        .merge(Toml::file(Env::var_or("ROCKET_CONFIG", "Rocket.toml")).nested())
        .merge(
            Env::prefixed("ROCKET_")
                .ignore(&["CONFIG", "PROFILE"])
                .global(),
        )
        .select(profile)
}
