//! Names that are not settings: misspelt ones are errors, others are warnings.
//!
//! A misspelt name would have no effect. For `api_tokens`, the server would accept anonymous writes; for
//! `tls`, it would not encrypt. Names that other programs may need are no errors.

use std::env;

use robot_core::http::similar;
use rocket::figment::{
    Profile, Provider,
    providers::{Env, Format, Toml},
    value::{Dict, Value},
};
use tracing_subscriber::filter::Directive;

use super::{reader::Reader, value::place};

/// The profiles of Rocket.
const PROFILES: [&str; 4] = ["default", "global", "debug", "release"];

/// The levels of the log.
const LOG_LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Checks the names of all settings, of all profiles.
pub(super) fn check(reader: &mut Reader<'_>) {
    check_file(reader);
    for (profile, settings) in reader.figment.data().into_iter().flatten() {
        check_profile(reader, &profile, &settings);
        for (name, value) in &settings {
            check_name(reader, &profile, name, value);
        }
    }
    check_selected_profile(reader);
    check_variables(reader);
}

/// Checks the name of a setting, and those of its members if it is a table.
fn check_name(reader: &mut Reader<'_>, profile: &Profile, name: &str, value: &Value) {
    if !reader.known.contains(&name) {
        let suggestion = suggestion(name, &reader.known);
        return report_name(reader, profile, &[name], value, suggestion);
    }
    let (Some(settings), Some(known)) = (value.as_dict(), members(name)) else {
        return;
    };
    for (member, value) in settings {
        // The limit `file/jpeg` is a part of the limit `file`.
        let first = member.split('/').next().unwrap_or(member);
        if !known.contains(&first) {
            let similar = similar(first, known.clone());
            let suggestion = similar.map(|similar| format!("{name}.{similar}"));
            report_name(reader, profile, &[name, member], value, suggestion);
        }
    }
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
        let problem = if level.parse::<Directive>().is_err() {
            "is ignored; write a level, such as info, or MODULE=LEVEL".to_owned()
        } else if let Some(known) = similar(level, LOG_LEVELS)
            && !level.eq_ignore_ascii_case(known)
        {
            format!("is not a level; did you mean {known}?")
        } else {
            continue;
        };
        reader.warning(format!("'{level}' of RUST_LOG {problem}"));
    }
}

/// A table `[tls]` is a profile to Rocket, not the setting `tls`.
fn check_profile(reader: &mut Reader<'_>, profile: &Profile, settings: &Dict) {
    let name = profile.as_str().as_str();
    if profile == reader.figment.profile() || PROFILES.contains(&name) {
        return;
    }
    let problem = if reader.known.contains(&name) {
        format!("has no effect, because settings stand below a profile; write [default.{name}]")
    } else if let Some(similar) = similar(name, PROFILES) {
        format!("is not the selected profile, so it has no effect; did you mean [{similar}]?")
    } else {
        return;
    };
    let value = settings.values().next();
    let metadata = value.and_then(|value| reader.figment.get_metadata(value.tag()));
    let place = place(metadata, profile, &[&format!("[{name}]")]);
    reader.problem(format!("{place} {problem}"));
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
    let suggestion = similar(name, existing.chain(PROFILES)).map(str::to_owned);
    let what = format!("ROCKET_PROFILE={name} selects no table of Rocket.toml");
    report(reader, &what, suggestion);
}

/// Reports a name that is not a setting.
fn report_name(
    reader: &mut Reader<'_>,
    profile: &Profile,
    path: &[&str],
    value: &Value,
    suggestion: Option<String>,
) {
    let place = place(reader.figment.get_metadata(value.tag()), profile, path);
    let suggestion = match suggestion {
        Some(name) if place.starts_with("ROCKET_") => {
            Some(format!("ROCKET_{}", name.to_uppercase()))
        }
        other => other,
    };
    report(reader, &format!("{place} is not a setting"), suggestion);
}

/// Reports a name without effect: it is an error if it is similar to one that has an effect.
fn report(reader: &mut Reader<'_>, what: &str, suggestion: Option<String>) {
    match suggestion {
        Some(name) => reader.problem(format!("{what}; did you mean {name}?")),
        None => reader.warning(format!("{what}, and has no effect")),
    }
}

/// The setting that a name probably stands for. `tls_certs` stands for a member of the table `tls`.
fn suggestion(name: &str, known: &[&'static str]) -> Option<String> {
    let lowercase = name.to_lowercase();
    let table = lowercase.split(['_', '-']).next();
    let table = table.filter(|table| members(table).is_some());
    let suggestion = table.or_else(|| similar(name, known.iter().copied()));
    suggestion.map(str::to_owned)
}

/// The members of a setting that is a table; `None` if it is none.
fn members(name: &str) -> Option<Vec<&'static str>> {
    let members = match name {
        "limits" => "bytes data-form file form json msgpack string",
        "shutdown" => "ctrlc force grace mercy signals",
        "tls" => "certs ciphers key mutual prefer_server_cipher_order",
        _ => return None,
    };
    Some(members.split(' ').collect())
}
