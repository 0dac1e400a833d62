//! The parameters of queries: which an operation has, and the values in a request.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr};

use compact_str::CompactString;
use percent_encoding::percent_decode;

use super::failure::Failure;
use crate::{
    catalogue::Condition,
    model::{Definition, text},
    transfer::FileFormat,
};

/// The maximum number of robots, changes or values in a response that has a part of them.
const LIMIT_MAXIMUM: usize = 1000;

/// The parameters of an operation.
pub(super) struct Parameters {
    /// Whether conditions for fields choose robots.
    has_conditions: bool,
    /// Whether unknown parameters are errors, whatever the client prefers.
    is_always_strict: bool,
    /// The names of the others, separated by spaces.
    others: &'static str,
}

/// The parameters of a list.
pub(super) const LIST: Parameters =
    Parameters::with_conditions("containing fold q fields limit after cursor sort count");

/// The parameters of a search.
pub(super) const SEARCH: Parameters =
    Parameters::with_conditions("fold q fields limit after cursor sort count");

/// The parameters of a single robot.
pub(super) const ROBOT: Parameters = Parameters::new("fields");

/// The parameters of a summary.
pub(super) const SUMMARY: Parameters = Parameters::with_conditions("containing fold q by limit");

/// The parameters of an operation that has none.
pub(super) const NONE: Parameters = Parameters::new("");

/// The parameters of an export.
pub(super) const EXPORT: Parameters =
    Parameters::with_conditions("fields format spreadsheet headings sort containing fold q");

/// The parameters of a change of all robots that meet conditions.
pub(super) const BULK: Parameters = Parameters {
    // A misspelt condition would be ignored, and more robots would change.
    is_always_strict: true,
    ..Parameters::with_conditions("containing fold q dry_run")
};

/// The parameters of an import.
pub(super) const IMPORT: Parameters = Parameters {
    // A misspelt `dry_run` would store the file.
    is_always_strict: true,
    ..Parameters::new(
        "format header encoding sheet on_conflict match columns kinds nulls dates add_equal \
         propose define keep_going choices dry_run atomic",
    )
};

/// The parameters of the changes of the catalogue.
pub(super) const CHANGES: Parameters =
    Parameters::with_conditions("containing fold q after every limit wait");

/// The parameters of the history of a robot.
pub(super) const HISTORY: Parameters = Parameters::new("before limit");

/// The parameters of undoing changes.
pub(super) const REVERT: Parameters = Parameters {
    is_always_strict: true,
    ..Parameters::new("dry_run")
};

/// The parameters of a change of the definition.
pub(super) const DEFINE: Parameters = Parameters::new("drop_values");

/// The conditions for the fields of robots.
pub(super) fn conditions(definition: &Definition) -> impl Iterator<Item = Condition> {
    [Condition::ID].into_iter().chain(definition.conditions())
}

impl Parameters {
    const fn new(others: &'static str) -> Self {
        Self {
            has_conditions: false,
            is_always_strict: false,
            others,
        }
    }

    const fn with_conditions(others: &'static str) -> Self {
        Self {
            has_conditions: true,
            ..Self::new(others)
        }
    }

    /// The names in a catalogue with this definition, some of which are conditions.
    pub(super) fn all(
        &self,
        definition: &Definition,
    ) -> impl Iterator<Item = (CompactString, Option<Condition>)> {
        let conditions = conditions(definition).filter(|_| self.has_conditions);
        let conditions = conditions.map(|condition| (condition.name().into(), Some(condition)));
        let others = self
            .others
            .split_ascii_whitespace()
            .map(CompactString::const_new);
        conditions.chain(others.map(|name| (name, None)))
    }

    /// Reads a query. Unknown parameters are ignored or are errors, as the client wants it.
    pub(super) fn read(
        &self,
        query: &str,
        definition: &Definition,
        is_strict: bool,
    ) -> Result<Arguments, Failure> {
        let mut read: Vec<Argument> = Vec::new();
        for (name, value) in split(query) {
            let mut known = self.all(definition);
            let Some((name, condition)) = known.find(|(known, _)| *known == name) else {
                if is_strict || self.is_always_strict {
                    let names: Vec<_> = self.all(definition).map(|(name, _)| name).collect();
                    return Err(Failure::malformed(text::unknown(
                        &name,
                        "parameter",
                        &names,
                    )));
                }
                continue;
            };
            let value = value.ok_or_else(|| Failure::malformed(format!("{name} is not UTF-8")))?;
            let limit = condition.as_ref().map_or(1, Condition::value_limit);
            let others = || read.iter().filter(|other| other.name == name);
            if limit > 1 && others().any(|other| other.value == value) {
                continue;
            }
            if others().count() >= limit {
                return Err(Failure::malformed(match limit {
                    1 => format!("{name} is given twice; give it once"),
                    _ => format!("{name} must have at most {limit} different values"),
                }));
            }
            read.push(Argument {
                name,
                condition,
                value,
            });
        }
        Ok(Arguments(read))
    }
}

/// Whether a query, of which nothing else is known, asks for the number of robots.
pub(super) fn has_count(query: &str) -> bool {
    split(query).any(|(name, value)| name == "count" && value.as_deref() == Some("true"))
}

/// The names and values of a query, decoded. A value is `None` if it is not UTF-8.
fn split(query: &str) -> impl Iterator<Item = (String, Option<String>)> {
    let arguments = query.split('&').filter(|argument| !argument.is_empty());
    arguments.map(|argument| {
        let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
        let name = decode(name).unwrap_or_else(|| name.to_owned());
        (name, decode(value))
    })
}

/// A name or value, decoded as in forms (`+` is a space); `None` if it is not UTF-8.
fn decode(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    let decoded = percent_decode(spaced.as_bytes()).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

/// A parameter with its value.
pub(super) struct Argument {
    pub(super) name: CompactString,
    /// The condition for a field that it is.
    pub(super) condition: Option<Condition>,
    pub(super) value: String,
}

/// The parameters of a request that have a meaning, in its order.
pub(super) struct Arguments(pub(super) Vec<Argument>);

impl Arguments {
    /// The value of a parameter, if the request has it.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let argument = self.0.iter().find(|argument| argument.name == name);
        argument.map(|argument| &*argument.value)
    }

    /// The parsed value of a parameter, if the request has it.
    pub(super) fn parse<T, E: ToString>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, Failure> {
        let parsed = self.text(name).map(parse).transpose();
        parsed.map_err(|error| Failure::malformed(error.to_string()))
    }

    /// Whether a parameter is `true`.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Failure> {
        let flag = self.parse(name, |value| {
            let parsed = value.parse();
            parsed.map_err(|_| format!("{name} must be true or false"))
        });
        Ok(flag?.unwrap_or_default())
    }

    /// An integer of a range.
    pub(super) fn integer<T: FromStr + PartialOrd + Display>(
        &self,
        name: &str,
        range: RangeInclusive<T>,
    ) -> Result<Option<T>, Failure> {
        self.parse(name, |text| {
            let digits = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            let integer = digits.and_then(|digits| digits.parse().ok());
            integer
                .filter(|integer| range.contains(integer))
                .ok_or_else(|| {
                    let (least, greatest) = (range.start(), range.end());
                    format!("{name} must be an integer from {least} to {greatest}")
                })
        })
    }

    /// The number of robots, changes or values that the client wants.
    pub(super) fn limit(&self) -> Result<Option<usize>, Failure> {
        self.integer("limit", 1..=LIMIT_MAXIMUM)
    }

    /// The format of a file.
    pub(super) fn format(&self) -> Result<Option<FileFormat>, Failure> {
        self.parse("format", |name| {
            FileFormat::of_name(name).ok_or("format must be csv, json, ndjson or xlsx")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::is_reserved;

    #[test]
    fn no_field_has_the_name_of_a_parameter() {
        // An import and a definition have no conditions for fields.
        for known in [&LIST, &SEARCH, &ROBOT, &SUMMARY, &EXPORT, &BULK, &CHANGES] {
            for name in known.others.split_ascii_whitespace() {
                assert!(is_reserved(name), "{name}");
            }
        }
    }

    #[test]
    fn unknown_parameter_is_named_with_the_nearest_known_one() {
        let read = |query: &str| LIST.read(query, Definition::built_in(), true);
        assert!(read("limit=1&&type=x").is_ok());
        assert_eq!(
            read("limt=1&limt=2&%66ields=id").err().unwrap().messages(),
            ["'limt' is not a parameter; did you mean limit?"]
        );
    }
}
