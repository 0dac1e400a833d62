//! Table of the effective settings, with their origin, and without secrets.

use std::{env, fmt, time::Duration};

use robot_core::{
    http::{AccessToken, Hosts},
    redact,
};
use rocket::figment::{Figment, Profile, value::Value};

use super::{
    ServerSettings,
    error::{place, scalar},
    keys,
    reader::Texts,
    store::database_sources,
    traces::shown_collector,
};

/// The settings that a start of the server program uses, as a table.
///
/// ```
/// use robot_rocket::{ServerSettings, SettingsTable};
///
/// let figment = robot_rocket::figment().merge(("behaviour", "B"));
/// let settings = ServerSettings::read(&figment)?;
/// let table = SettingsTable::of(&settings, &figment).to_string();
/// assert!(table.lines().any(|line| line.starts_with("behaviour") && line.contains(" B ")));
/// # Ok::<(), robot_rocket::SettingsError>(())
/// ```
#[derive(Debug)]
pub struct SettingsTable(Vec<[String; 3]>);

impl SettingsTable {
    /// The names of settings whose value differs from that in another table. Of secrets, only the
    /// parts that the table shows are compared.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<&str> {
        let differing = self.0.iter().filter(|row| {
            let mut others = other.0.iter();
            !others.any(|other| other[..2] == row[..2])
        });
        differing.map(|row| row[0].as_str()).collect()
    }

    /// The settings that were read from a figment.
    #[must_use]
    pub fn of(settings: &ServerSettings, figment: &Figment) -> Self {
        let figment = database_sources(figment);
        let rows = keys::ALL.iter().filter_map(|&(name, _)| {
            let (value, origin) = match figment.find_value(name) {
                Ok(value) => (shown(name, &value), origin(name, &value, &figment)),
                Err(_) => (default(name, settings)?, "default".to_owned()),
            };
            Some([name.to_owned(), value, origin])
        });
        let log_level = env::var("RUST_LOG").ok();
        let log_level = log_level.map(|it| (it.escape_debug().to_string(), "RUST_LOG".to_owned()));
        let others = [
            ("RUST_LOG", log_level, "warn, and info for reloads"),
            ("traces", shown_collector(), "none"),
        ];
        let others = others.map(|(name, shown, default)| {
            let (value, origin) = shown.unwrap_or((default.to_owned(), "default".to_owned()));
            [name.to_owned(), value, origin]
        });
        Self(rows.chain(others).collect())
    }
}

impl fmt::Display for SettingsTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = ["setting", "value", "origin"].map(str::to_owned);
        let rows = || std::iter::once(&header).chain(&self.0);
        let width = |column: usize| {
            let lengths = rows().map(|row| row[column].chars().count());
            // A long value moves only its own origin.
            lengths.filter(|length| *length <= 40).max().unwrap_or(0)
        };
        let (names, values) = (width(0), width(1));
        rows().try_for_each(|[name, value, origin]| {
            writeln!(formatter, "{name:names$}  {value:values$}  {origin}")
        })
    }
}

/// The effective value of a setting that no source has; `None` if Rocket has no value either.
fn default(name: &str, settings: &ServerSettings) -> Option<String> {
    let (catalogue, limits) = (&settings.catalogue.api, &settings.connections);
    let options = &settings.options;
    let seconds = |duration: Duration| duration.as_secs().to_string();
    Some(match name {
        "allow_anonymous" => format!("not set: {}", catalogue.access),
        "allowed_hosts" if catalogue.hosts == Hosts::Any => "any".to_owned(),
        "allowed_hosts" => "loopback names".to_owned(),
        "behaviour" => catalogue.behaviour.to_string(),
        "database_connections" => options.get_connections().to_string(),
        "database_timeout" => seconds(options.get_timeout()),
        "database_url" => redact(&settings.database_url),
        "header_timeout" => seconds(limits.header_timeout),
        "slow_statement" => options.get_slow_statement().as_millis().to_string(),
        "write_timeout" => seconds(limits.write_timeout),
        "import_minimum_rate" => catalogue.stream_limits.minimum_rate.to_string(),
        "import_timeout" => seconds(catalogue.stream_limits.timeout),
        "log_format" => format!("{:?}", settings.log_format).to_lowercase(),
        "max_connections" => limits.connections.to_string(),
        "max_connections_per_address" => limits.connections_per_address.to_string(),
        "allowed_origins" | "api_tokens" | "api_tokens_file" | "metrics_address" | "static_dir"
        | "tls" => "none".to_owned(),
        _ => return None,
    })
}

/// The value without secrets.
fn shown(name: &str, value: &Value) -> String {
    match name {
        "api_tokens" => {
            let texts = value.deserialize().map(Texts::into_vec).unwrap_or_default();
            let tokens = texts.iter().map(|text| match text.parse::<AccessToken>() {
                Ok(token) => format!("{token:?}"),
                Err(_) => "(invalid)".to_owned(),
            });
            tokens.collect::<Vec<_>>().join(", ")
        }
        "database_url" => redact(value.as_str().unwrap_or_default()),
        "secret_key" => "(not shown)".to_owned(),
        _ => plain(value),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Dict(_, members) => {
            let members = members.iter().map(|(name, value)| match name.as_str() {
                // The setting may have the content of the file instead of its path.
                "certs" | "key" if value.as_str().is_none_or(|path| path.contains('\n')) => {
                    format!("{name}=(not shown)")
                }
                _ => format!("{name}={}", plain(value)),
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(_, values) => {
            let values: Vec<_> = values.iter().map(plain).collect();
            format!("[{}]", values.join(","))
        }
        other => scalar(&other.to_actual()),
    }
}

/// The source of a value: `default`, a file with its profile, or a variable.
fn origin(name: &str, value: &Value, figment: &Figment) -> String {
    let metadata = figment.get_metadata(value.tag());
    let file = metadata.and_then(|metadata| metadata.source.as_ref()?.file_path());
    if let Some(file) = file {
        let profile = value.tag().profile();
        let profile = profile.unwrap_or_else(|| figment.profile().clone());
        return format!("{} [{profile}]", file.display());
    }
    match metadata {
        Some(variable) if variable.name.contains("environment") => {
            place(metadata, &Profile::Default, &[name])
        }
        _ => "default".to_owned(),
    }
}
