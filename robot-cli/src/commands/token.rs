//! `token`: access tokens for the server.
//!
//! A client sends the token. The configuration of the server contains only its hash.

use clap::{
    Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use robot_core::http::{AccessToken, Permission, TokenName};

use crate::{context::Context, error::CliError};

pub(crate) const EXAMPLES: &str = include_str!("../help/token.txt");

/// Subcommands of `token`.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a token and print it with its entry for the server configuration
    ///
    /// The server stores only a hash, so its configuration does not reveal the token. If a token
    /// is lost or leaked, create a new one and replace the entry in the configuration. The server
    /// reads it again at a restart, or, except for its environment, at SIGHUP.
    #[command(after_help = EXAMPLES)]
    New {
        /// read: get, list and search robots; write: change robots, too; define: also the fields
        #[arg(
            hide_possible_values = true,
            value_parser = PossibleValuesParser::new(Permission::ALL.map(Permission::name))
                .map(|name| Permission::ALL.into_iter().find(|one| one.name() == name).unwrap_or(Permission::Read))
        )]
        permission: Permission,
        /// Name in logs and in the configuration: 1 to 32 characters of a-z, 0-9, '-', '_', '.'
        #[arg(long)]
        name: Option<TokenName>,
        /// Address of the web page, for a link with the token: a person opens it in a browser
        #[arg(long, value_name = "ADDRESS", value_parser = address)]
        link: Option<String>,
    },
}

/// Begins each token, so that a leaked one can be recognized.
const PREFIX: &str = "robots_";

/// Creates a token and prints it.
pub(crate) fn run(command: TokenCommand, context: &mut Context<'_>) -> Result<(), CliError> {
    let TokenCommand::New {
        permission,
        name,
        link,
    } = command;
    let text = random_token()?;
    let mut token = AccessToken::of(&text, permission);
    if let Some(name) = name {
        token = token.named(name);
    }
    let address = link.as_deref().unwrap_or("http://127.0.0.1:8000");
    let link = link
        .as_ref()
        .map(|address| format!("{address}/#token={text}"));
    let opened = link
        .iter()
        .map(|link| format!("A person opens this link:\n  {link}\n\n"));
    let shown = format!(
        "Token of the client, which may {actions} (store it now, it is not shown again):\n  \
         {text}\n\n{opened}\
         The client sends it in a header:\n  \
         curl -H 'Authorization: Bearer {text}' {address}/v1/robots\n\n\
         Environment of the server (separate several tokens by commas):\n  \
         ROCKET_API_TOKENS={token}\n\
         or its Rocket.toml, under [default]:\n  \
         api_tokens = [\"{token}\"]\n\
         or a line of the file ROCKET_API_TOKENS_FILE",
        opened = opened.collect::<String>(),
        actions = match permission {
            Permission::Read => "read",
            Permission::Write => "read and write",
            Permission::Define => "read, write and define fields",
        }
    );
    let token = token.to_string();
    let mut members = vec![("token", text.into()), ("api_token", token.into())];
    members.extend(link.map(|link| ("link", link.into())));
    context.print_result(&shown, &members, CliError::output)
}

/// The address of a page, without the slash at its end.
fn address(text: &str) -> Result<String, String> {
    let is_address = text.starts_with("https://") || text.starts_with("http://");
    if is_address && !text.contains(['?', '#', ' ']) {
        Ok(text.trim_end_matches('/').to_owned())
    } else {
        Err("it must be an address such as https://robots.example".to_owned())
    }
}

/// The prefix and 32 random bytes.
fn random_token() -> Result<String, CliError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        CliError::new(format_args!(
            "cannot create a token, because the system returns no random numbers: {error}; try again"
        ))
    })?;
    Ok(format!("{PREFIX}{}", hex::encode(bytes)))
}
