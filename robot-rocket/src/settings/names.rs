//! Names that are not settings: misspelt ones are errors, others are warnings.
//!
//! A misspelt name would have no effect. For `api_tokens`, the server would accept anonymous writes; for
//! `tls`, it would not encrypt. Names that other programs may need are no errors.

use std::env;

use rocket::{
    Config,
    figment::{
        self, Profile, Provider,
        providers::{Env, Format, Toml},
        value::{Dict, Value},
    },
};
use strsim::damerau_levenshtein;
use tracing_subscriber::filter::Directive;

use super::{SettingsError, error::place, keys, reader::Reader};

/// The profiles of Rocket.
const PROFILES: [&str; 4] = ["default", "global", "debug", "release"];

/// The levels of the log.
const LOG_LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Checks the names of all settings, of all profiles.
pub(super) fn check(reader: &mut Reader<'_>) -> Result<(), SettingsError> {
    check_file(reader);
    let known = known();
    for (profile, settings) in reader.figment.data()? {
        check_profile(reader, &profile, &settings);
        check_settings(reader, &profile, &mut Vec::new(), &settings, &known);
    }
    check_selected_profile(reader);
    check_variables(reader);
    Ok(())
}

/// All settings, with the settings within them.
fn known() -> Dict {
    let names = keys::ALL.iter().map(|(name, _)| (*name).to_owned());
    let mut known: Dict = names.map(|name| (name, Value::from(""))).collect();
    known.extend(members(&Value::serialize(Config::default())));
    #[cfg(feature = "tls")]
    {
        let tls = rocket::config::TlsConfig::from_bytes(&[], &[]);
        let tls = members(&Value::serialize(tls));
        known.insert(Config::TLS.to_owned(), tls.into());
    }
    known
}

fn members(value: &Result<Value, figment::Error>) -> Dict {
    let members = value.as_ref().ok().and_then(Value::as_dict);
    members.cloned().unwrap_or_default()
}

/// Rocket ignores `ROCKET_CONFIG` if there is no such file.
fn check_file(reader: &mut Reader<'_>) {
    if let Some(path) = Env::var("ROCKET_CONFIG")
        && Toml::file(&path).metadata().source.is_none()
    {
        reader.problem(format!(
            "ROCKET_CONFIG names '{path}', which is not a file; correct the path, or remove \
             the variable"
        ));
    }
}

/// Variables whose names do not begin with `ROCKET_`.
fn check_variables(reader: &mut Reader<'_>) {
    if !reader.figment.contains("database_url") {
        let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        for name in names.filter(|name| similar(name, ["database_url"]).is_some()) {
            reader.warning(format!(
                "{name} is not a setting; did you mean DATABASE_URL?"
            ));
        }
    }
    let filter = env::var("RUST_LOG").unwrap_or_default();
    for level in filter.split(',').filter(|level| !level.is_empty()) {
        if level.parse::<Directive>().is_err() {
            reader.warning(format!(
                "'{level}' of RUST_LOG is ignored; write a level, such as info, or MODULE=LEVEL"
            ));
        } else if !LOG_LEVELS.contains(&level.to_lowercase().as_str())
            && let Some(known) = similar(level, LOG_LEVELS)
        {
            reader.warning(format!(
                "'{level}' of RUST_LOG is not a level; did you mean {known}?"
            ));
        }
    }
}

/// A table `[tls]` is a profile to Rocket, not the setting `tls`.
fn check_profile(reader: &mut Reader<'_>, profile: &Profile, settings: &Dict) {
    let name = profile.as_str().as_str();
    let figment = reader.figment;
    if profile == figment.profile() || PROFILES.contains(&name) {
        return;
    }
    let value = settings.values().next();
    let metadata = value.and_then(|value| figment.get_metadata(value.tag()));
    let source = metadata.and_then(|metadata| metadata.source.as_ref());
    let file = source.map_or_else(|| "Rocket.toml".to_owned(), ToString::to_string);
    if keys::expected(name).is_some() {
        reader.problem(format!(
            "[{name}] in {file} has no effect, because settings stand below a profile; write \
             [default.{name}]"
        ));
    } else if let Some(similar) = similar(name, PROFILES) {
        reader.problem(format!(
            "[{name}] in {file} is not the selected profile, so it has no effect; did you \
             mean [{similar}]?"
        ));
    }
}

/// A profile that no file has selects nothing.
fn check_selected_profile(reader: &mut Reader<'_>) {
    let selected = reader.figment.profile();
    let name = selected.as_str().as_str();
    let profiles: Vec<_> = reader.figment.profiles().collect();
    if PROFILES.contains(&name) || profiles.contains(&selected) {
        return;
    }
    let existing = profiles.iter().map(|profile| profile.as_str().as_str());
    match similar(name, existing.chain(PROFILES)) {
        Some(similar) => reader.problem(format!(
            "ROCKET_PROFILE={name} selects no table of Rocket.toml; did you mean {similar}?"
        )),
        None => reader.warning(format!(
            "ROCKET_PROFILE={name} has no effect, because Rocket.toml has no table [{name}]"
        )),
    }
}

/// Checks the names in a table, and in the tables within it.
fn check_settings(
    reader: &mut Reader<'_>,
    profile: &Profile,
    path: &mut Vec<String>,
    settings: &Dict,
    known: &Dict,
) {
    for (name, value) in settings {
        path.push(name.clone());
        // The limit `file/jpeg` is a part of the limit `file`.
        let first = name.split('/').next().unwrap_or(name);
        match (known.get(first), value.as_dict()) {
            (Some(Value::Dict(_, known)), Some(settings)) => {
                check_settings(reader, profile, path, settings, known);
            }
            (Some(_), _) => {}
            (None, _) => report(reader, profile, path, value, known),
        }
        path.pop();
    }
}

/// Reports a name that is not among the known ones of its table.
fn report(
    reader: &mut Reader<'_>,
    profile: &Profile,
    path: &[String],
    value: &Value,
    known: &Dict,
) {
    let metadata = reader.figment.get_metadata(value.tag());
    let place = place(metadata, profile, path);
    // A problem with this variable is reported by `check_file`.
    if place == "ROCKET_CONFIG" {
        return;
    }
    let Some((name, example)) = suggestion(path, known) else {
        let warning = format!("{place} is not a setting, and has no effect");
        return reader.warning(warning);
    };
    let name = if place.starts_with("ROCKET_") {
        format!("ROCKET_{}", name.to_uppercase())
    } else {
        name
    };
    reader.problem(format!(
        "{place} is not a setting; did you mean {name}{example}?"
    ));
}

/// What a name probably stands for: the path of a setting, and an example of its value if that is a
/// table.
fn suggestion(path: &[String], known: &Dict) -> Option<(String, String)> {
    let (name, tables) = path.split_last()?;
    if tables.is_empty()
        && let Some((table, _)) = name.split_once(['_', '-'])
        && let table = table.to_lowercase()
        && let Some((_, example)) = keys::expected(&table).and_then(|it| it.split_once("as in {"))
    {
        return Some((table, format!("={{{example}")));
    }
    let name = name.split('/').next().unwrap_or(name);
    let similar = similar(name, known.keys().map(String::as_str))?.to_owned();
    Some(([tables, &[similar]].concat().join("."), String::new()))
}

/// The greatest distance of a misspelt name. Greater, and names that belong to other programs, such as
/// `database_port`, are errors.
const DISTANCE: usize = 2;

/// The name that a misspelt one probably stands for. Its distance is at most a third of its length.
fn similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let limit = DISTANCE.min(name.chars().count() / 3);
    let distances = known
        .into_iter()
        .map(|known| (damerau_levenshtein(&name, known), known));
    let (distance, known) = distances.min()?;
    (distance <= limit).then_some(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_few_characters_away() {
        for (name, suggested) in [
            ("api_token", Some("api_tokens")),
            ("api-tokens", Some("api_tokens")),
            ("apitokens", Some("api_tokens")),
            ("Behavior", Some("behaviour")),
            ("database_ulr", Some("database_url")),
            ("allow_hosts", Some("allowed_hosts")),
            ("prot", Some("port")),
            ("tsl", Some("tls")),
            ("tempdir", Some("temp_dir")),
            ("tls_certs", Some("tls")),
            ("TLS-cert", Some("tls")),
            ("limits_form", Some("limits")),
            // Kubernetes sets such variables for a service named "rocket".
            ("service_host", None),
            ("port_8000_tcp_addr", None),
            // Those of other parts of an application.
            ("database_port", None),
            ("databases", None),
            ("date", None),
            ("dir", None),
            ("env", None),
        ] {
            let suggestion = suggestion(&[name.to_owned()], &known());
            let suggestion = suggestion.map(|(name, _)| name);
            assert_eq!(suggestion.as_deref(), suggested, "{name}");
        }
    }

    #[test]
    fn known_settings_include_those_in_tables() {
        let known = known();
        for (table, name) in [
            ("shutdown", "grace"),
            ("limits", "data-form"),
            ("tls", "certs"),
        ] {
            let members = known.get(table).and_then(Value::as_dict);
            let is_known = members.is_some_and(|members| members.contains_key(name));
            assert_eq!(is_known, table != "tls" || cfg!(feature = "tls"), "{table}");
        }
    }
}
