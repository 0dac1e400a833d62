//! Values of settings, as messages and the table of settings show them.

use robot_core::{http::AccessToken, redact};
use rocket::figment::{Figment, Metadata, Profile, error::Actual, value::Value};

use super::reader::Texts;

/// The settings whose values no message may show.
const SECRETS: [&str; 4] = ["api_tokens", "database_url", "secret_key", "tls"];

/// The message about a value that is not as it must be.
pub(super) fn wrong(figment: &Figment, name: &str, expected: &str, value: &Value) -> String {
    let found = match value.to_actual() {
        _ if SECRETS.contains(&name) => String::new(),
        Actual::Seq => ", not a list".to_owned(),
        Actual::Map => String::new(),
        Actual::Str(text) => format!(", not '{}'", text.escape_debug()),
        other => format!(", not {}", scalar(&other)),
    };
    let metadata = figment.get_metadata(value.tag());
    let place = place(metadata, figment.profile(), &[name]);
    format!("{place} must be {expected}{found}")
}

/// The value without secrets.
pub(super) fn shown(name: &str, value: &Value) -> String {
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
pub(super) fn origin(name: &str, value: &Value, figment: &Figment) -> String {
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

fn scalar(value: &Actual) -> String {
    match value {
        Actual::Bool(value) => value.to_string(),
        Actual::Unsigned(value) => value.to_string(),
        Actual::Signed(value) => value.to_string(),
        Actual::Float(value) => value.to_string(),
        Actual::Char(value) => value.escape_debug().to_string(),
        Actual::Str(value) => value.escape_debug().to_string(),
        _ => "none".to_owned(),
    }
}

/// The place of a setting as its author wrote it: the name of a variable, or a key and its file.
pub(super) fn place(metadata: Option<&Metadata>, profile: &Profile, path: &[&str]) -> String {
    let key = path.join(".");
    match metadata.map(|metadata| (metadata, &metadata.source)) {
        Some((_, Some(source))) if source.file_path().is_some() => format!("{key} in {source}"),
        Some((metadata, None)) if metadata.name.contains("environment") => {
            let prefix = metadata.name.split('`').nth(1).unwrap_or_default();
            prefix.to_owned() + &metadata.interpolate(profile, path)
        }
        _ => key,
    }
}
