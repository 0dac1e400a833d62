//! Values of settings, as messages and the table of settings show them.

use robot_core::{http::AccessToken, redact};
use rocket::figment::{Figment, Metadata, Profile, value::Value};

/// The settings whose values no message may show.
const SECRETS: [&str; 4] = ["api_tokens", "database_url", "secret_key", "tls"];

/// The message about a value that is not as it must be.
pub(super) fn wrong(figment: &Figment, name: &str, expected: &str, value: &Value) -> String {
    let found = if SECRETS.contains(&name) {
        String::new()
    } else {
        format!(", not '{}'", plain(value))
    };
    let metadata = figment.get_metadata(value.tag());
    let place = place(metadata, figment.profile(), &[name]);
    format!("{place} must be {expected}{found}")
}

/// The value without secrets.
pub(super) fn shown(name: &str, value: &Value) -> String {
    match name {
        "api_tokens" => {
            let tokens = texts(value).unwrap_or_default().into_iter().map(|text| {
                let token = text.parse::<AccessToken>();
                token.map_or("(invalid)".to_owned(), |token| format!("{token:?}"))
            });
            tokens.collect::<Vec<_>>().join(", ")
        }
        "database_url" => redact(value.as_str().unwrap_or_default()),
        "secret_key" => "(not shown)".to_owned(),
        "tls" if !has_files(value) => "(not shown)".to_owned(),
        _ => plain(value),
    }
}

/// Whether the certificates and the key are files, and not their content.
fn has_files(tls: &Value) -> bool {
    ["certs", "key"].iter().all(|name| {
        let path = tls.find_ref(name).and_then(Value::as_str);
        path.is_some_and(|path| !path.contains('\n'))
    })
}

/// The value as in a variable, but texts without quotation marks.
fn plain(value: &Value) -> String {
    match value {
        Value::String(_, text) => text.escape_debug().to_string(),
        Value::Dict(_, members) => {
            let members = members.iter();
            let members = members.map(|(name, value)| format!("{name}={}", plain(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        other => serde_json::to_string(other).unwrap_or_default(),
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
    if metadata.is_some_and(is_variable) {
        return place(metadata, &Profile::Default, &[name]);
    }
    "default".to_owned()
}

/// The place of a setting as its author wrote it: the name of a variable, or a key and its file.
pub(super) fn place(metadata: Option<&Metadata>, profile: &Profile, path: &[&str]) -> String {
    let key = path.join(".");
    let Some(metadata) = metadata else {
        return key;
    };
    match &metadata.source {
        Some(source) if source.file_path().is_some() => format!("{key} in {source}"),
        _ if is_variable(metadata) => {
            let prefix = metadata.name.split('`').nth(1).unwrap_or_default();
            prefix.to_owned() + &metadata.interpolate(profile, path)
        }
        _ => key,
    }
}

fn is_variable(metadata: &Metadata) -> bool {
    metadata.name.contains("environment")
}

/// The texts of a list, or of one text with commas, that are not empty. `None` if the value is neither.
pub(super) fn texts(value: &Value) -> Option<Vec<String>> {
    let mut texts: Vec<String> = match value.as_str() {
        Some(text) => text.split(',').map(|part| part.trim().to_owned()).collect(),
        None => value.deserialize().ok()?,
    };
    texts.retain(|text| !text.is_empty());
    Some(texts)
}
