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

use super::{reader::Reader, value::place};

/// The profiles of Rocket.
const PROFILES: [&str; 4] = ["default", "global", "debug", "release"];

/// The members of settings that are tables.
const MEMBERS: &str = "limits.bytes limits.data-form limits.file limits.form limits.json \
                       limits.msgpack limits.string shutdown.ctrlc shutdown.force shutdown.grace \
                       shutdown.mercy shutdown.signals tls.certs tls.ciphers tls.key tls.mutual \
                       tls.prefer_server_cipher_order";

/// Checks the names of all settings, of all profiles.
pub(super) fn check(reader: &mut Reader<'_>) {
    check_file(reader);
    for (profile, settings) in reader.figment.data().into_iter().flatten() {
        check_profile(reader, &profile, &settings);
        for (name, value) in &settings {
            check_name(reader, &profile, &[name], value);
        }
    }
    check_selected_profile(reader);
    check_database_url(reader);
}

/// Checks the name of a setting, and those of its members if it is a table.
fn check_name(reader: &mut Reader<'_>, profile: &Profile, path: &[&str], value: &Value) {
    let name = path.join(".");
    // The limit `file/jpeg` is a part of the limit `file`.
    let name = name.split('/').next().unwrap_or_default();
    let known = reader.known.iter().copied().chain(MEMBERS.split(' '));
    let similar = similar(name, known);
    if similar == Some(name) {
        if let ([name], Some(members)) = (path, value.as_dict()) {
            for (member, value) in members {
                check_name(reader, profile, &[name, member], value);
            }
        }
        return;
    }
    let suggestion = similar.or(name.starts_with("tls_").then_some("tls"));
    let place = place(reader.figment.get_metadata(value.tag()), profile, path);
    let suggestion = suggestion.map(|name| match name.split_once('.') {
        _ if !place.starts_with("ROCKET_") => name.to_owned(),
        // No shell can set a variable with the name of a member.
        Some((table, _)) if path.len() == 1 => format!("ROCKET_{}", table.to_uppercase()),
        _ => format!("ROCKET_{}", name.to_uppercase()),
    });
    report(reader, &format!("{place} is not a setting"), suggestion);
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

/// The name of this variable does not begin with `ROCKET_`.
fn check_database_url(reader: &mut Reader<'_>) {
    if !reader.figment.contains("database_url") {
        let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        for name in names.filter(|name| similar(name, ["database_url"]).is_some()) {
            reader.warning(format!(
                "{name} is not a setting; did you mean DATABASE_URL?"
            ));
        }
    }
}

/// A table `[tls]` is a profile to Rocket, not the setting `tls`, and a misspelt profile is another one.
fn check_profile(reader: &mut Reader<'_>, profile: &Profile, settings: &Dict) {
    let name = profile.as_str().as_str();
    let known = reader.known.iter().copied().chain(PROFILES);
    let is_used = profile == reader.figment.profile() || PROFILES.contains(&name);
    if !is_used && similar(name, known).is_some() {
        let value = settings.values().next();
        let metadata = value.and_then(|value| reader.figment.get_metadata(value.tag()));
        let place = place(metadata, profile, &[&format!("[{name}]")]);
        reader.problem(format!(
            "{place} is not the selected profile, so it has no effect; write [default], or \
             [default.NAME] for a setting that is a table"
        ));
    }
}

/// A profile that no file has selects nothing.
fn check_selected_profile(reader: &mut Reader<'_>) {
    let name = reader.figment.profile().as_str().as_str();
    let profiles = reader.figment.profiles();
    let existing = profiles.map(|it| it.as_str().as_str()).chain(PROFILES);
    let similar = similar(name, existing);
    if similar != Some(name) {
        let what = format!("ROCKET_PROFILE={name} selects no table of Rocket.toml");
        report(reader, &what, similar.map(str::to_owned));
    }
}

/// Reports a name without effect: it is an error if it is similar to one that has an effect.
fn report(reader: &mut Reader<'_>, what: &str, suggestion: Option<String>) {
    match suggestion {
        Some(name) => reader.problem(format!("{what}; did you mean {name}?")),
        None => reader.warning(format!("{what}, and has no effect")),
    }
}
