//! Tokens for the server: the client gets the text, and the server's configuration its hash.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use robot_core::http::{AccessToken, Permission};
use serde_json::json;

use crate::{arguments::TokenCommand, failure::Failure, format::Format};

/// What tokens begin with, so that one which turns up in the wrong place is known for what it is.
const PREFIX: &str = "robots_";

/// Carries out a command about tokens. What is printed has been flushed at the end.
pub(crate) fn run(
    command: TokenCommand,
    format: Format,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let TokenCommand::New { permission } = command;
    let permission = Permission::from(permission);
    let text = random_text()?;
    let token = AccessToken::of(&text, permission);
    print(&text, permission, &token, format, output).map_err(Failure::Output)
}

/// 32 random bytes, in letters and digits.
fn random_text() -> Result<String, Failure> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| Failure::NoRandomness(io::Error::from(error)))?;
    let mut text = PREFIX.to_owned();
    for byte in bytes {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

fn print(
    text: &str,
    permission: Permission,
    token: &AccessToken,
    format: Format,
    output: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Table => writeln!(
            output,
            "For the client, who may {does} (it is shown this once):\n  \
             {text}\n\n\
             It sends it as a header:\n  \
             curl -H 'Authorization: Bearer {text}' http://127.0.0.1:8000/api/robots\n\n\
             For the server, in its environment (several with commas between them):\n  \
             ROCKET_API_TOKENS={token}\n\
             or in its Rocket.toml, below [default]:\n  \
             api_tokens = [\"{token}\"]",
            does = match permission {
                Permission::Read => "read",
                Permission::Write => "read and write",
            }
        )?,
        Format::Json | Format::Ndjson => {
            let object = json!({ "token": text, "api_token": token.to_string() });
            writeln!(output, "{object}")?;
        }
        Format::Csv => writeln!(output, "token,api_token\n{text},{token}")?,
    }
    output.flush()
}
