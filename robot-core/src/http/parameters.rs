//! The parameters of queries: their names, and reading their text.

use std::{borrow::Cow, num::NonZeroUsize, sync::LazyLock};

use percent_encoding::percent_decode;
use strsim::damerau_levenshtein;

use super::failure::Failure;
use crate::{catalogue::Condition, model::excerpt, transfer::OnConflict};

/// The maximum number of robots on a page.
pub(super) const LIMIT_MAXIMUM: usize = 1000;

/// A parameter of a query.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) value: Value,
    /// What it means, for people.
    pub(super) text: Cow<'static, str>,
}

/// The value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    Text,
    /// `true` or `false`.
    Flag,
    /// The number of robots on a page.
    Limit,
    Sort,
    /// Names of fields, separated by commas.
    Fields,
    /// The value of a field.
    Condition(&'static Condition),
    /// One of these texts.
    OneOf(&'static [&'static str]),
}

const fn parameter(name: &'static str, value: Value, text: &'static str) -> Parameter {
    Parameter {
        name,
        value,
        text: Cow::Borrowed(text),
    }
}

const FIELDS: Parameter = parameter(
    "fields",
    Value::Fields,
    "The fields of each robot, each once, in this order, separated by commas. Default: `id,name`, and all but `revision` in exports.",
);
const CONTAINING: Parameter = parameter(
    "containing",
    Value::Text,
    "Only robots whose name contains this text, as in a search.",
);
const FOLD: Parameter = parameter(
    "fold",
    Value::Flag,
    "Whether the text is compared without case and diacritics: `katerina` finds `Kateřina`.",
);
const FORMATS: Value = Value::OneOf(&["csv", "json", "ndjson"]);

/// The parameters of an operation.
pub(super) type Parameters = LazyLock<Vec<Parameter>>;

/// These parameters, and those that choose robots by the values of fields.
fn with_conditions(others: &[Parameter]) -> Vec<Parameter> {
    let conditions = Condition::all().iter().map(|condition| Parameter {
        name: condition.name(),
        value: Value::Condition(condition),
        text: format!("{}.", condition.description()).into(),
    });
    conditions.chain(others.iter().cloned()).collect()
}

/// The parameters of a list in pages.
const PAGING: [Parameter; 6] = [
    FIELDS,
    parameter(
        "limit",
        Value::Limit,
        "One page of this many robots. Default: all of them.",
    ),
    parameter(
        "after",
        Value::Text,
        "Only robots whose name is greater, by bytes.",
    ),
    parameter(
        "cursor",
        Value::Text,
        "Continue at this place, which a `Link` contains; with the same `sort`. It excludes `after`.",
    ),
    parameter(
        "sort",
        Value::Sort,
        "The order; with a hyphen, the greatest first. Default: `name`, by bytes. Robots of the same \
         year are in the order of their ids.",
    ),
    parameter(
        "count",
        Value::Flag,
        "Whether the reply has the header `X-Total-Count`.",
    ),
];

/// The parameters of a list.
pub(super) static LIST: Parameters =
    LazyLock::new(|| with_conditions(&[&[CONTAINING, FOLD][..], &PAGING].concat()));

/// The parameters of a search.
pub(super) static SEARCH: Parameters =
    LazyLock::new(|| with_conditions(&[&[FOLD][..], &PAGING].concat()));

/// The parameters of a single robot.
pub(super) static ROBOT: Parameters = LazyLock::new(|| vec![FIELDS]);

/// The parameters of a summary.
pub(super) static SUMMARY: Parameters = LazyLock::new(|| with_conditions(&[CONTAINING, FOLD]));

/// The parameters of an operation that has none.
pub(super) static NONE: Parameters = LazyLock::new(Vec::new);

/// The parameters of an export.
pub(super) static EXPORT: Parameters = LazyLock::new(|| {
    with_conditions(&[
        FIELDS,
        parameter(
            "format",
            FORMATS,
            "The format of the file. Default: `ndjson`.",
        ),
        parameter(
            "spreadsheet",
            Value::Flag,
            "Whether names that a spreadsheet would interpret as formulas begin with an apostrophe; \
             only for `csv`.",
        ),
        CONTAINING,
        FOLD,
    ])
});

/// The parameters of an import.
pub(super) static IMPORT: Parameters = LazyLock::new(|| {
    vec![
        parameter(
            "format",
            FORMATS,
            "The format of the body. Default: that of the `Content-Type`.",
        ),
        parameter(
            "on_conflict",
            Value::OneOf(OnConflict::NAMES),
            "What happens to a record whose name is taken: it fails (default), is skipped, or replaces type \
         and year.",
        ),
        parameter(
            "dry_run",
            Value::Flag,
            "Whether everything is checked, and nothing stored.",
        ),
        parameter(
            "atomic",
            Value::Flag,
            "Whether all records are stored, up to 10,000, or none if one of them fails.",
        ),
    ]
});

/// The maximum number of unknown parameters that a reply names.
const UNKNOWN_LIMIT: usize = 10;

/// The message about an invalid parameter.
pub(super) type Message = Cow<'static, str>;

/// Passes each known parameter to `take`. Unknown parameters are ignored.
pub(super) fn parameters(
    query: &str,
    known: &'static [Parameter],
    mut take: impl FnMut(&'static Parameter, String) -> Result<(), Message>,
) -> Result<(), Failure> {
    let mut messages = Vec::new();
    let mut taken = Vec::new();
    for parameter in query.split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let name = decode(name).unwrap_or_default();
        let Some(parameter) = known.iter().find(|known| known.name == name) else {
            continue;
        };
        let is_repeatable =
            matches!(parameter.value, Value::Condition(condition) if condition.is_repeatable());
        let result = if taken.contains(&name) && !is_repeatable {
            Err(format!("{name} is given twice; give it once").into())
        } else {
            let value = decode(value).ok_or_else(|| format!("{name} is not UTF-8").into());
            taken.push(name);
            value.and_then(|value| take(parameter, value))
        };
        if let Err(message) = result {
            report(&mut messages, message);
        }
    }
    rejection(messages)
}

/// Checks that all parameters of a query are known, for clients that want it.
pub(super) fn check_known(query: &str, known: &[Parameter]) -> Result<(), Failure> {
    let mut unknown = Vec::new();
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (name, _) = parameter.split_once('=').unwrap_or((parameter, ""));
        let name = decode(name).unwrap_or_else(|| name.to_owned());
        let name = excerpt(&name).into_owned();
        if unknown.len() < UNKNOWN_LIMIT && !known.iter().any(|known| known.name == name) {
            report(&mut unknown, name);
        }
    }
    let message = |name: String| {
        let names: Vec<_> = known.iter().map(|known| known.name).collect();
        let hint = match similar(&name, names.iter().copied()) {
            Some(nearest) => format!("did you mean {nearest}?"),
            None if names.is_empty() => "there are none".to_owned(),
            None => format!("the parameters are {}", names.join(", ")),
        };
        format!("'{name}' is not a parameter; {hint}").into()
    };
    rejection(unknown.into_iter().map(message).collect())
}

/// The greatest distance of a misspelt name. Greater, and a name that means something else, such as the
/// setting `database_port` of another program, seems to be misspelt.
const DISTANCE: usize = 2;

/// The known name that a misspelt one probably stands for. Its distance is at most a third of its length.
///
/// ```
/// use robot_core::http::similar;
///
/// assert_eq!(similar("Limt", ["sort", "limit"]), Some("limit"));
/// assert_eq!(similar("list", ["sort", "limit"]), None);
/// ```
pub fn similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let limit = DISTANCE.min(name.chars().count() / 3);
    let distances = known
        .into_iter()
        .map(|known| (damerau_levenshtein(&name, known), known));
    let (distance, known) = distances.min()?;
    (distance <= limit).then_some(known)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_parameters_are_named_with_the_nearest_known_one() {
        assert!(check_known("limit=1&&type=x", &LIST).is_ok());
        assert_eq!(
            check_known("limt=1&limt=2&%66ields=id", &LIST)
                .unwrap_err()
                .messages(),
            ["'limt' is not a parameter; did you mean limit?"]
        );
    }
}
