//! Settings of the store: its URL, and how it is opened.

use std::{num::NonZero, time::Duration};

use robot_core::{DEFAULT_URL, OpenOptions, Retention};
use rocket::{
    Config,
    figment::{Figment, providers::Env},
};

use super::{
    SettingsError,
    reader::{NUMBER, Reader},
};

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
    Reader::read(&database_sources(figment), url)
}

pub(super) fn url(reader: &mut Reader<'_>) -> String {
    let expected = "a URL, as in sqlite://robots.db";
    reader.get_or("database_url", expected, DEFAULT_URL.to_owned())
}

/// A figment with all sources of `database_url`.
pub(super) fn database_sources(figment: &Figment) -> Figment {
    figment
        .clone()
        .merge(Env::raw().only(&["DATABASE_URL"]).global())
        .merge(Env::prefixed("ROCKET_").only(&["database_url"]).global())
}

/// Reads which past versions of robots are kept: `history` (days, 90 by default; 0 for none).
pub(super) fn retention(reader: &mut Reader<'_>) -> Retention {
    const DAY: u64 = 24 * 60 * 60;
    let default = Retention::default();
    let days = u32::try_from(default.age.as_secs() / DAY).unwrap_or(u32::MAX);
    Retention::of_days(reader.get_or("history", "a whole number of days", days))
}

/// Reads how the store is opened: `database_timeout`, `database_connections`, `slow_statement` and Rocket's own `workers`.
/// If a database server is unreachable, opening waits for it.
pub(super) fn options(reader: &mut Reader<'_>) -> OpenOptions {
    let default = OpenOptions::default();
    let timeout = reader.seconds("database_timeout", default.timeout);
    let slow = u32::try_from(default.slow_statement.as_millis()).unwrap_or(u32::MAX);
    let slow = reader.get_or("slow_statement", "a whole number of milliseconds", slow);
    let connections = reader.number("database_connections", default.connections);
    let workers: Option<NonZero<usize>> = reader.get(Config::WORKERS, NUMBER, &"none");
    OpenOptions {
        timeout,
        slow_statement: Duration::from_millis(slow.into()),
        connections,
        workers: workers.map_or(default.workers, NonZero::get),
        wait_for_server: true,
        ..default
    }
}
