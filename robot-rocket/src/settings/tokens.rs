//! Tokens, from the setting `api_tokens`, or from the file `api_tokens_file`.

use std::fs;

use robot_core::http::{AccessToken, TokenName};
use rocket::figment::{Figment, value::magic::RelativePathBuf};

use super::{SettingProblem, SettingsError, optional, parsed_list};

/// The tokens, at least one if a setting is present.
pub(super) fn read(figment: &Figment) -> Result<Option<Vec<AccessToken>>, SettingsError> {
    let listed = parsed_list(figment, "api_tokens")?;
    let tokens = match optional::<RelativePathBuf>(figment, "api_tokens_file")? {
        Some(_) if listed.is_some() => return Err(SettingProblem::TokensTwice.into()),
        Some(path) => Some(read_file(&path)?),
        None => listed,
    };
    if tokens.as_ref().is_some_and(Vec::is_empty) {
        return Err(SettingProblem::NoTokens.into());
    }
    match tokens.as_deref().and_then(repeated) {
        Some(name) => Err(SettingProblem::RepeatedToken(name.clone()).into()),
        None => Ok(tokens),
    }
}

fn read_file(path: &RelativePathBuf) -> Result<Vec<AccessToken>, SettingsError> {
    let path = path.relative();
    let file = path.display().to_string();
    match fs::read_to_string(&path) {
        Ok(text) => parse(&file, &text),
        Err(cause) => Err(SettingProblem::TokensFile { file, cause }.into()),
    }
}

/// One token per line. Empty lines, and lines that begin with `#`, are ignored.
fn parse(file: &str, text: &str) -> Result<Vec<AccessToken>, SettingsError> {
    let (mut tokens, mut problems) = (Vec::new(), Vec::new());
    for (index, line) in text.lines().map(str::trim).enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.parse() {
            Ok(token) => tokens.push(token),
            Err(cause) => problems.push(SettingProblem::TokensFileLine {
                file: file.to_owned(),
                line: index + 1,
                cause,
            }),
        }
    }
    if tokens.is_empty() && problems.is_empty() {
        problems.push(SettingProblem::EmptyTokensFile(file.to_owned()));
    }
    SettingsError::check(problems).map(|()| tokens)
}

/// The name of a token that occurs twice, or whose text another entry has: without that entry, the
/// token would still be valid.
fn repeated(tokens: &[AccessToken]) -> Option<&TokenName> {
    let is_repeated = |(index, token): &(usize, &AccessToken)| {
        token.name().is_some_and(|name| {
            tokens.iter().enumerate().any(|(other_index, other)| {
                other_index != *index && (other.name() == Some(name) || other.has_text_of(token))
            })
        })
    };
    let found = tokens.iter().enumerate().find(is_repeated);
    found.and_then(|(_, token)| token.name())
}

#[cfg(test)]
mod tests {
    use robot_core::http::Permission;

    use super::*;

    #[test]
    fn file_has_one_token_per_line() {
        let token = AccessToken::of("robots_a", Permission::Read);
        let named = AccessToken::of("robots_b", Permission::Write).named("ci".parse().unwrap());
        let text = format!("# tokens\r\n\n  {token} \r\n{named}");
        assert_eq!(parse("f", &text).unwrap(), [token, named]);
    }

    #[test]
    fn problems_in_the_file_name_their_lines() {
        let token = AccessToken::of("robots_a", Permission::Read);
        let error = parse("f", &format!("robots_a\n{token}\nread:A:sha256:0")).unwrap_err();
        assert_eq!(error.problems().len(), 2);
        let error = error.to_string();
        assert!(error.contains("line 1 of the file 'f'"), "{error}");
        assert!(error.contains("line 3 of the file 'f'"), "{error}");
        assert!(!error.contains("robots_a"), "{error}");
        let error = parse("f", "# none\n").unwrap_err().to_string();
        assert!(error.contains("has no token"), "{error}");
    }
}
