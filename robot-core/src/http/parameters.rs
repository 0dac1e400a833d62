//! The parameters of queries: their names, and reading their text.

use std::{borrow::Cow, num::NonZeroUsize};

use percent_encoding::percent_decode;

use super::failure::Failure;
use crate::{
    catalogue::Condition,
    model::{
        Definition, excerpt, listed,
        text::{self, UNKNOWN_LIMIT},
    },
    transfer::OnConflict,
};

/// The maximum number of robots on a page.
pub(super) const LIMIT_MAXIMUM: usize = 1000;

/// A parameter of a query.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) value: Value,
}

/// The value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    Text,
    /// `true` or `false`.
    Flag,
    /// The value of a field.
    Condition(Condition),
    /// One of these texts.
    OneOf(&'static [&'static str]),
}

impl Parameter {
    /// An error if a value of few possible texts is none of these.
    fn check(&self, value: &str) -> Result<(), Message> {
        let texts = match self.value {
            Value::Flag => &["true", "false"],
            Value::OneOf(texts) => texts,
            _ => return Ok(()),
        };
        if texts.contains(&value) {
            return Ok(());
        }
        Err(format!("{} must be {}", self.name, listed(texts, "or")).into())
    }
}

const fn parameter(name: &'static str, value: Value) -> Parameter {
    Parameter { name, value }
}

const FIELDS: Parameter = parameter("fields", Value::Text);
const CONTAINING: Parameter = parameter("containing", Value::Text);
const FOLD: Parameter = parameter("fold", Value::Flag);
const FORMATS: Value = Value::OneOf(&["csv", "json", "ndjson"]);

const WORDS: Parameter = parameter("q", Value::Text);

/// The parameters of an operation.
pub(super) struct Parameters {
    /// Whether conditions for fields choose robots.
    has_conditions: bool,
    /// Whether unknown parameters are errors, whatever the client prefers.
    pub(super) is_always_strict: bool,
    others: &'static [Parameter],
}

impl Parameters {
    const fn new(others: &'static [Parameter]) -> Self {
        Self {
            has_conditions: false,
            is_always_strict: false,
            others,
        }
    }

    const fn with_conditions(others: &'static [Parameter]) -> Self {
        Self {
            has_conditions: true,
            is_always_strict: false,
            others,
        }
    }

    /// All parameters in a catalogue with this definition.
    pub(super) fn all(&self, definition: &Definition) -> impl Iterator<Item = Parameter> {
        let conditions = conditions(definition).filter(|_| self.has_conditions);
        let conditions = conditions.map(|condition| Parameter {
            name: condition.name(),
            value: Value::Condition(condition),
        });
        conditions.chain(self.others.iter().copied())
    }
}

/// The conditions for the fields of robots.
pub(super) fn conditions(definition: &Definition) -> impl Iterator<Item = Condition> {
    [Condition::ID].into_iter().chain(definition.conditions())
}

const LIMIT: Parameter = parameter("limit", Value::Text);
const AFTER: Parameter = parameter("after", Value::Text);
const CURSOR: Parameter = parameter("cursor", Value::Text);
const SORT: Parameter = parameter("sort", Value::Text);
const COUNT: Parameter = parameter("count", Value::Flag);
const BY: Parameter = parameter("by", Value::Text);

/// The parameters of a list.
pub(super) const LIST: Parameters = Parameters::with_conditions(&[
    CONTAINING, FOLD, WORDS, FIELDS, LIMIT, AFTER, CURSOR, SORT, COUNT,
]);

/// The parameters of a search.
pub(super) const SEARCH: Parameters =
    Parameters::with_conditions(&[FOLD, WORDS, FIELDS, LIMIT, AFTER, CURSOR, SORT, COUNT]);

/// The parameters of a single robot.
pub(super) const ROBOT: Parameters = Parameters::new(&[FIELDS]);

/// The parameters of a summary.
pub(super) const SUMMARY: Parameters = Parameters::with_conditions(&[CONTAINING, FOLD, WORDS, BY]);

/// The parameters of an operation that has none.
pub(super) const NONE: Parameters = Parameters::new(&[]);

/// The parameters of an export.
pub(super) const EXPORT: Parameters = Parameters::with_conditions(&[
    FIELDS,
    parameter("format", FORMATS),
    parameter("spreadsheet", Value::Flag),
    CONTAINING,
    FOLD,
    WORDS,
]);

const DRY_RUN: Parameter = parameter("dry_run", Value::Flag);

/// The parameters of a change of all robots that meet conditions.
pub(super) const BULK: Parameters = Parameters {
    // Without a condition that is misspelt, more robots would change.
    is_always_strict: true,
    ..Parameters::with_conditions(&[CONTAINING, FOLD, WORDS, DRY_RUN])
};

/// The parameters of an import.
pub(super) const IMPORT: Parameters = Parameters::new(&[
    parameter("format", FORMATS),
    parameter("on_conflict", Value::OneOf(OnConflict::NAMES)),
    parameter("match", Value::OneOf(&["name", "id"])),
    parameter("columns", Value::Text),
    parameter("propose", Value::Flag),
    parameter("choices", Value::Flag),
    DRY_RUN,
    parameter("atomic", Value::Flag),
]);

/// The parameters of a change of the definition.
pub(super) const DEFINE: Parameters = Parameters::new(&[parameter("drop_values", Value::Flag)]);

/// The message about an invalid parameter.
pub(super) type Message = Cow<'static, str>;

/// Passes each known parameter, with a flag or one of several texts checked, to `take`. Unknown parameters are ignored.
pub(super) fn parameters(
    query: &str,
    definition: &Definition,
    known: &Parameters,
    mut take: impl FnMut(Parameter, String) -> Result<(), Message>,
) -> Result<(), Failure> {
    let mut messages = Vec::new();
    let mut taken = Vec::new();
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let name = decode(name).unwrap_or_default();
        let Some(parameter) = known.all(definition).find(|known| known.name == name) else {
            continue;
        };
        let is_repeatable =
            matches!(parameter.value, Value::Condition(condition) if condition.is_repeatable());
        let result = if !is_repeatable && taken.contains(&name) {
            Err(format!("{name} is given twice; give it once").into())
        } else {
            let value = decode(value).ok_or_else(|| format!("{name} is not UTF-8").into());
            taken.push(name);
            value.and_then(|value| {
                parameter.check(&value)?;
                take(parameter, value)
            })
        };
        if let Err(message) = result {
            report(&mut messages, message);
        }
    }
    rejection(messages)
}

/// Checks that all parameters of a query are known, for clients that want it.
pub(super) fn check_known(
    query: &str,
    definition: &Definition,
    known: &Parameters,
) -> Result<(), Failure> {
    let mut unknown = Vec::new();
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (name, _) = parameter.split_once('=').unwrap_or((parameter, ""));
        let name = decode(name).unwrap_or_else(|| name.to_owned());
        let name = excerpt(&name).into_owned();
        if unknown.len() < UNKNOWN_LIMIT && !known.all(definition).any(|known| known.name == name) {
            report(&mut unknown, name);
        }
    }
    let names: Vec<_> = known.all(definition).map(|known| known.name).collect();
    let message = |name: String| text::unknown(&name, "parameter", &names).into();
    rejection(unknown.into_iter().map(message).collect())
}

/// Adds a message or name once, however often its cause is repeated, to limit the size of the answer.
fn report<T: PartialEq>(reported: &mut Vec<T>, one: T) {
    if !reported.contains(&one) {
        reported.push(one);
    }
}

fn rejection(messages: Vec<Message>) -> Result<(), Failure> {
    if messages.is_empty() {
        Ok(())
    } else {
        let messages = messages.into_iter().map(Into::into);
        Err(Failure::Malformed(messages.collect()))
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RESERVED;

    #[test]
    fn no_field_has_the_name_of_a_parameter() {
        // An import and a definition have no conditions for fields.
        for known in [&LIST, &SEARCH, &ROBOT, &SUMMARY, &EXPORT, &BULK] {
            for parameter in known.others {
                assert!(RESERVED.contains(&parameter.name), "{}", parameter.name);
            }
        }
    }

    #[test]
    fn unknown_parameters_are_named_with_the_nearest_known_one() {
        assert!(check_known("limit=1&&type=x", Definition::built_in(), &LIST).is_ok());
        assert_eq!(
            check_known("limt=1&limt=2&%66ields=id", Definition::built_in(), &LIST)
                .unwrap_err()
                .messages(),
            ["'limt' is not a parameter; did you mean limit?"]
        );
    }
}
