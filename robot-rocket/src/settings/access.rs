//! Permissions of clients: `api_tokens` or `api_tokens_file`, and `allow_anonymous`.

use std::{fs, net::IpAddr, path::Path, ptr};

use robot_core::http::{Access, AccessToken, Permission, TokenName};
use rocket::serde::Deserialize;

use super::reader::Reader;

/// The address that the application listens on, unless it is a loopback address. Rocket rejects an
/// invalid one.
pub(super) fn network(reader: &Reader<'_>) -> Option<IpAddr> {
    let address: IpAddr = reader.figment.extract_inner("address").ok()?;
    (!address.is_loopback()).then_some(address)
}

/// The permission without a token: `true`, `false` or `read`.
#[derive(Deserialize)]
#[serde(crate = "rocket::serde", untagged)]
enum Anonymous {
    Everything(bool),
    Only(Reads),
}

#[derive(Deserialize)]
#[serde(crate = "rocket::serde", rename_all = "lowercase")]
enum Reads {
    Read,
}

/// The permissions, by default none if there is a problem.
pub(super) fn access(reader: &mut Reader<'_>) -> Access {
    let access = checked_access(reader);
    reader.report_default("allow_anonymous", &format!("not set: {access}"));
    access
}

fn checked_access(reader: &mut Reader<'_>) -> Access {
    let before = reader.problems();
    let tokens = tokens(reader);
    let anonymous = reader.get("allow_anonymous", "true, false or read");
    if reader.problems() > before {
        return Access::default();
    }
    let network = network(reader);
    let problem = match (anonymous, tokens.is_empty(), network) {
        (Some(Anonymous::Only(Reads::Read)), ..) => {
            return Access::new(tokens, Some(Permission::Read));
        }
        (Some(Anonymous::Everything(true)), true, _) | (None, true, None) => {
            return Access::default();
        }
        (Some(Anonymous::Everything(false)) | None, false, _) => return Access::new(tokens, None),
        (Some(Anonymous::Everything(true)), false, _) => {
            "with allow_anonymous = true the api_tokens have no effect; remove one of the settings, \
             or set allow_anonymous = \"read\" to require tokens only for writes"
                .to_owned()
        }
        (Some(Anonymous::Everything(false)), true, _) => {
            "allow_anonymous = false without api_tokens rejects every request; create a token with \
             'robot-cli token new' and set ROCKET_API_TOKENS to the entry that it prints"
                .to_owned()
        }
        (None, true, Some(address)) => format!(
            "on {address} every client that reaches this machine could change the robots; create a \
             token with 'robot-cli token new' and set ROCKET_API_TOKENS to the entry that it \
             prints, or allow it with ROCKET_ALLOW_ANONYMOUS=true (or read, only for reads)"
        ),
    };
    reader.problem(problem);
    Access::default()
}

/// The tokens: none if no setting is present, or a problem was added.
fn tokens(reader: &mut Reader<'_>) -> Vec<AccessToken> {
    let before = reader.problems();
    let is_listed = reader.figment.contains("api_tokens");
    reader.report_default("api_tokens", &"none");
    let listed = reader.list("api_tokens", "entries that 'robot-cli token new' prints");
    let (origin, tokens) = match reader.path("api_tokens_file", "the path of a file") {
        Some(_) if is_listed => {
            reader.problem(
                "api_tokens and api_tokens_file are both set; move all tokens to one of them",
            );
            return Vec::new();
        }
        Some(path) => {
            let file = format!("the file '{}' of api_tokens_file", path.display());
            let tokens = read_file(reader, &path, &file);
            (file, tokens)
        }
        None if is_listed => ("api_tokens".to_owned(), listed.unwrap_or_default()),
        None => return Vec::new(),
    };
    if tokens.is_empty() && reader.problems() == before {
        reader.problem(format!(
            "{origin} has no token, which would turn authentication off; add the entry that \
             'robot-cli token new' prints for the server, or remove the setting"
        ));
    }
    if let Some(name) = repeated(&tokens) {
        reader.problem(format!(
            "api_tokens has the name or the token of '{name}' twice; remove one entry, or create a \
             token with another name by 'robot-cli token new write --name NAME'"
        ));
    }
    tokens
}

/// One token per line. Empty lines, and lines that begin with `#`, are ignored.
fn read_file(reader: &mut Reader<'_>, path: &Path, file: &str) -> Vec<AccessToken> {
    let text = fs::read_to_string(path).unwrap_or_else(|cause| {
        reader.problem(format!(
            "{file} cannot be read: {cause}; correct the path, or the permissions of the file"
        ));
        String::new()
    });
    let lines = text.lines().map(str::trim).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let tokens = lines.filter_map(|(index, line)| {
        line.parse()
            .map_err(|cause| reader.problem(format!("line {} of {file}: {cause}", index + 1)))
            .ok()
    });
    tokens.collect()
}

/// The name of a token that occurs twice, or whose text another entry has: without that entry, the
/// token would still be valid.
fn repeated(tokens: &[AccessToken]) -> Option<&TokenName> {
    let names = tokens
        .iter()
        .filter_map(|token| Some((token, token.name()?)));
    names
        .filter(|(token, name)| {
            let mut others = tokens.iter().filter(|other| !ptr::eq(*other, *token));
            others.any(|other| other.name() == Some(name) || other.has_text_of(token))
        })
        .map(|(_, name)| name)
        .next()
}
