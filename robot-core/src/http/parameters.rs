//! The parameters of queries: their names, and reading their text.

use std::{borrow::Cow, num::NonZeroUsize};

use percent_encoding::percent_decode;
use strsim::damerau_levenshtein;

use super::failure::Failure;
use crate::model::excerpt;

/// The maximum number of robots on a page.
const LIMIT_MAXIMUM: usize = 1000;

/// The names of parameters, and those that choose robots.
macro_rules! with_filter {
    ($($name:literal),*) => {
        &[$($name,)* "type", "year", "year_from", "year_to", "name"]
    };
}

/// The parameters of a list or a search.
pub(super) const LIST: &[&str] =
    with_filter!["fields", "limit", "after", "cursor", "sort", "count"];

/// The parameters of a single robot.
pub(super) const ROBOT: &[&str] = &["fields"];

/// The parameters of a summary.
pub(super) const SUMMARY: &[&str] = with_filter!["containing"];

/// The parameters of an export.
pub(super) const EXPORT: &[&str] = with_filter!["fields", "format", "spreadsheet", "containing"];

/// The parameters of an import.
pub(super) const IMPORT: &[&str] = &["format", "on_conflict", "dry_run", "atomic"];

/// The maximum number of unknown parameters that a reply names.
const UNKNOWN_LIMIT: usize = 10;

/// The message about an invalid parameter.
pub(super) type Message = Cow<'static, str>;

/// The only parameter that may be repeated: a robot may have any of the types.
const REPEATABLE: &str = "type";

/// Passes each known parameter to `take`. Unknown parameters are ignored.
pub(super) fn parameters(
    query: &str,
    known: &[&'static str],
    mut take: impl FnMut(&'static str, String) -> Result<(), Message>,
) -> Result<(), Failure> {
    let mut messages = Vec::new();
    let mut taken = Vec::new();
    for parameter in query.split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let name = decode(name).unwrap_or_default();
        let Some(name) = known.iter().copied().find(|known| *known == name) else {
            continue;
        };
        let result = if taken.contains(&name) && name != REPEATABLE {
            Err(format!("{name} is given twice; give it once").into())
        } else {
            taken.push(name);
            let value = decode(value).ok_or_else(|| format!("{name} is not UTF-8").into());
            value.and_then(|value| take(name, value))
        };
        if let Err(message) = result {
            report(&mut messages, message);
        }
    }
    rejection(messages)
}

/// Checks that all parameters of a query are known, for clients that want it.
pub(super) fn check_known(query: &str, known: &[&str]) -> Result<(), Failure> {
    let mut messages = Vec::new();
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (name, _) = parameter.split_once('=').unwrap_or((parameter, ""));
        let name = decode(name).unwrap_or_else(|| name.to_owned());
        if known.contains(&name.as_str()) {
            continue;
        }
        let nearest = known
            .iter()
            .min_by_key(|known| damerau_levenshtein(known, &name));
        let hint = match nearest {
            Some(nearest) => format!("did you mean {nearest}?"),
            None => "there are none".to_owned(),
        };
        let message = format!("'{}' is not a parameter; {hint}", excerpt(&name));
        report(&mut messages, message.into());
        if messages.len() == UNKNOWN_LIMIT {
            break;
        }
    }
    rejection(messages)
}

/// Adds a message once, however often its cause is repeated, to limit the size of the answer.
fn report(messages: &mut Vec<Message>, message: Message) {
    if !messages.contains(&message) {
        messages.push(message);
    }
}

fn rejection(messages: Vec<Message>) -> Result<(), Failure> {
    if messages.is_empty() {
        Ok(())
    } else {
        Err(Failure::Malformed(messages))
    }
}

/// A value that is `true` or `false`.
pub(super) fn flag(name: &str, value: &str) -> Result<bool, Message> {
    let flag = value.parse();
    flag.map_err(|_| format!("{name} must be true or false").into())
}

/// A name or value, decoded as in forms (`+` is a space); `None` if it is not UTF-8.
fn decode(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    let decoded = percent_decode(spaced.as_bytes()).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

/// A value that is the number of robots on a page.
pub(super) fn limit(value: &str) -> Result<NonZeroUsize, Message> {
    Some(value)
        .filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|value| value.parse().ok())
        .filter(|limit: &NonZeroUsize| limit.get() <= LIMIT_MAXIMUM)
        .ok_or_else(|| format!("limit must be an integer from 1 to {LIMIT_MAXIMUM}").into())
}

/// A value that is a year.
pub(super) fn year(name: &str, value: &str) -> Result<i64, Message> {
    Some(value)
        .filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|value| value.parse().ok())
        .ok_or_else(|| format!("{name} must be an integer from 0 to {}", i64::MAX).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_parameters_are_named_with_the_nearest_known_one() {
        assert_eq!(check_known("limit=1&&type=x", LIST), Ok(()));
        assert_eq!(
            check_known("limt=1&limt=2&%66ields=id", LIST),
            Err(Failure::Malformed(vec![
                "'limt' is not a parameter; did you mean limit?".into()
            ]))
        );
    }
}
