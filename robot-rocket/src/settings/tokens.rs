//! Tokens, from the setting `api_tokens`, or from the file `api_tokens_file`.

use std::fs;

use robot_core::http::{AccessToken, TokenName};
use rocket::figment::value::magic::RelativePathBuf;

use super::reader::Reader;

/// The tokens: none if no setting is present, or a problem was added.
pub(super) fn read(reader: &mut Reader<'_>) -> Vec<AccessToken> {
    let listed = reader.list::<AccessToken>("api_tokens");
    let is_listed = reader.figment.contains("api_tokens");
    let tokens = match reader.get::<RelativePathBuf>("api_tokens_file") {
        Some(_) if is_listed => {
            reader.problem(
                "api_tokens and api_tokens_file are both set; move all tokens to one of them",
            );
            Vec::new()
        }
        Some(path) => read_file(reader, &path),
        None => {
            if listed.as_ref().is_some_and(Vec::is_empty) {
                reader.problem(
                    "api_tokens is empty, which would turn authentication off; set it to the entry \
                     that 'robot-cli token new' prints for the server, or remove it",
                );
            }
            listed.unwrap_or_default()
        }
    };
    if let Some(name) = repeated(&tokens) {
        reader.problem(format!(
            "api_tokens has the name or the token of '{name}' twice; remove one entry, or create a \
             token with another name by 'robot-cli token new write --name NAME'"
        ));
    }
    tokens
}

fn read_file(reader: &mut Reader<'_>, path: &RelativePathBuf) -> Vec<AccessToken> {
    let path = path.relative();
    let file = format!("the file '{}' of api_tokens_file", path.display());
    let parsed = match fs::read_to_string(&path) {
        Ok(text) => parse(&file, &text),
        Err(cause) => Err(vec![format!(
            "{file} cannot be read: {cause}; correct the path, or the permissions of the file"
        )]),
    };
    parsed.unwrap_or_else(|problems| {
        for problem in problems {
            reader.problem(problem);
        }
        Vec::new()
    })
}

/// One token per line. Empty lines, and lines that begin with `#`, are ignored.
fn parse(file: &str, text: &str) -> Result<Vec<AccessToken>, Vec<String>> {
    let (mut tokens, mut problems) = (Vec::new(), Vec::new());
    for (index, line) in text.lines().map(str::trim).enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.parse() {
            Ok(token) => tokens.push(token),
            Err(cause) => problems.push(format!("line {} of {file}: {cause}", index + 1)),
        }
    }
    if tokens.is_empty() && problems.is_empty() {
        problems.push(format!(
            "{file} has no token; add the entry that 'robot-cli token new' prints as a line, or \
             remove the setting"
        ));
    }
    if problems.is_empty() {
        Ok(tokens)
    } else {
        Err(problems)
    }
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
        assert_eq!(parse("f", &text).unwrap(), [token.clone(), named]);

        let text = format!("robots_a\n{token}\nread:A:sha256:0");
        let problems = parse("the file 'f'", &text).unwrap_err();
        assert!(problems[0].starts_with("line 1 of the file 'f'"));
        assert!(problems[1].starts_with("line 3 of the file 'f'"));
        assert!(!problems.concat().contains("robots_a"), "{problems:?}");
        assert!(parse("f", "# none\n").unwrap_err()[0].contains("has no token"));
    }
}
