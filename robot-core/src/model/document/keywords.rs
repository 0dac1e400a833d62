//! The keywords of a field.

use std::{borrow::Cow, sync::Arc};

use regex_lite::{Regex, RegexBuilder};
use serde_json::Number;

use super::location::{KeywordLocation, Result};
use crate::model::{
    field::{Field, Member, NAME_LENGTH_LIMIT},
    format::{Format, Pattern},
    kind::{Kind, listed},
    members::Members,
    text::excerpt,
};

const TEXT_LENGTH_LIMIT: usize = 10_000;
pub(crate) const CHOICE_LIMIT: usize = 200;
const PATTERN_LIMIT: usize = 1000;
/// The maximum length of titles.
pub(crate) const TITLE_LIMIT: usize = 100;
const DESCRIPTION_LIMIT: usize = 1000;

/// The maximum size of a compiled pattern. Greater, and a long text takes more than a tenth of a
/// second.
const PATTERN_SIZE: usize = 32 * 1024;

/// The keywords of a field.
#[derive(Default)]
pub(super) struct Keywords {
    pub(super) kind: Option<String>,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) max_length: Option<usize>,
    pub(super) pattern: Option<Pattern>,
    pub(super) format: Option<Format>,
    pub(super) minimum: Option<Number>,
    pub(super) maximum: Option<Number>,
    pub(super) choices: Option<Vec<String>>,
    pub(super) unique: Option<bool>,
    pub(super) index: bool,
    pub(super) search: bool,
    pub(super) given: Vec<String>,
}

impl Keywords {
    pub(super) fn read(members: Members<'_>, location: KeywordLocation<'_>) -> Result<Self> {
        let mut read = Self::default();
        for (keyword, json) in members.0 {
            let location = location.with(&keyword);
            match &*keyword {
                "type" => read.kind = Some(location.value(json, KINDS)?),
                "title" => read.title = Some(location.text(json, TITLE_LIMIT)?),
                "description" => read.description = Some(location.text(json, DESCRIPTION_LIMIT)?),
                "maxLength" => {
                    let expected = format!("an integer from 1 to {TEXT_LENGTH_LIMIT}");
                    let length: usize = location.value(json, &expected)?;
                    if !(1..=TEXT_LENGTH_LIMIT).contains(&length) {
                        return location.error(format_args!("must be {expected}"));
                    }
                    read.max_length = Some(length);
                }
                "pattern" => {
                    let pattern = location.text(json, PATTERN_LIMIT)?;
                    match regex(&pattern) {
                        Ok(regex) => read.pattern = Some(Pattern(Arc::new(regex))),
                        Err(message) => return location.error(message),
                    }
                }
                "format" => {
                    let names: Vec<_> = Format::NAMED.iter().map(|format| format.name).collect();
                    let expected = listed(&names, "or");
                    let name: String = location.value(json, &expected)?;
                    let format = Format::NAMED.iter().find(|format| format.name == name);
                    read.format = format.map(Format::Named);
                    if format.is_none() {
                        return location.error(format_args!("must be {expected}"));
                    }
                }
                "minimum" => read.minimum = Some(location.value(json, "a number")?),
                "maximum" => read.maximum = Some(location.value(json, "a number")?),
                "enum" => read.choices = Some(choices(json, location)?),
                "unique" => read.unique = Some(location.value(json, "true or false")?),
                "index" => read.index = location.value(json, "true or false")?,
                "search" => read.search = location.value(json, "true or false")?,
                _ => {
                    return location.error(
                        "is not a keyword here; the keywords are type, enum, maxLength, pattern, format, \
                         minimum, maximum, unique, index, search, title and description",
                    );
                }
            }
            read.given.push(keyword.into_owned());
        }
        Ok(read)
    }

    /// The kind.
    pub(super) fn kind(&self, member: Member, location: KeywordLocation<'_>) -> Result<Kind> {
        let permit = |keywords| self.permit(keywords, location);
        match (member, self.kind.as_deref(), &self.choices) {
            (Member::Name, None | Some("string"), _) => {
                permit(&["maxLength", "unique"])?;
                if self
                    .max_length
                    .is_some_and(|length| length != NAME_LENGTH_LIMIT)
                {
                    let location = location.with("maxLength");
                    return location.error(format_args!("must be {NAME_LENGTH_LIMIT}, or missing"));
                }
                self.text(location)
            }
            (Member::Type, None | Some("string"), choices) => {
                permit(&["enum"])?;
                Ok(choices
                    .as_deref()
                    .map_or(Field::TYPE.kind().clone(), choice))
            }
            (Member::Year, None | Some("integer"), _) => {
                permit(&["minimum", "maximum"])?;
                self.integer(0, location)
            }
            (Member::Own, None | Some("string"), Some(choices)) => {
                permit(&["enum", "unique", "index", "search"])?;
                Ok(choice(choices))
            }
            (Member::Own, Some("string"), None) => {
                permit(&[
                    "maxLength",
                    "pattern",
                    "format",
                    "unique",
                    "index",
                    "search",
                ])?;
                self.text(location)
            }
            (Member::Own, Some("integer"), None) => {
                permit(&["minimum", "maximum", "unique", "index"])?;
                self.integer(i64::MIN, location)
            }
            (Member::Own, Some("number"), None) => {
                permit(&["minimum", "maximum", "unique", "index"])?;
                let [minimum, maximum] =
                    self.limits([f64::MIN, f64::MAX], Number::as_f64, location)?;
                Ok(Kind::Number { minimum, maximum })
            }
            (Member::Own, Some("boolean"), None) => {
                permit(&["unique", "index"])?;
                Ok(Kind::Boolean)
            }
            (_, None, _) => location.error(format_args!("needs a type ({KINDS}), or an enum")),
            _ => location.with("type").error(format_args!(
                "must be {KINDS}; an enum has strings, and the built-in fields keep their types"
            )),
        }
    }

    /// Fails if a keyword is given that the field does not permit.
    fn permit(&self, keywords: &[&str], location: KeywordLocation<'_>) -> Result<()> {
        let all = [&["type", "title", "description"], keywords].concat();
        let mut given = self.given.iter();
        match given.find(|given| !all.contains(&given.as_str())) {
            Some(keyword) => location.with(keyword).error(format_args!(
                "does not fit the field, which permits {}; leave it out",
                all.join(", ")
            )),
            None => Ok(()),
        }
    }

    fn text(&self, location: KeywordLocation<'_>) -> Result<Kind> {
        let format = match (&self.pattern, &self.format) {
            (Some(_), Some(_)) => {
                let location = location.with("pattern");
                return location.error("excludes format; give one of them");
            }
            (Some(pattern), None) => Format::Pattern(pattern.clone()),
            (None, format) => format.clone().unwrap_or(Format::Any),
        };
        Ok(Kind::Text {
            max_length: self.max_length.unwrap_or(NAME_LENGTH_LIMIT),
            format,
        })
    }

    fn integer(&self, least: i64, location: KeywordLocation<'_>) -> Result<Kind> {
        let [minimum, maximum] = self.limits([least, i64::MAX], Number::as_i64, location)?;
        Ok(Kind::Integer { minimum, maximum })
    }

    /// The minimum and the maximum, by default these.
    fn limits<T: PartialOrd>(
        &self,
        [least, greatest]: [T; 2],
        read: fn(&Number) -> Option<T>,
        location: KeywordLocation<'_>,
    ) -> Result<[T; 2]> {
        let limit = |given: &Option<Number>, default, keyword| match given.as_ref().map(read) {
            Some(None) => location
                .with(keyword)
                .error("must be an integer of 64 bits"),
            Some(Some(limit)) => Ok(limit),
            None => Ok(default),
        };
        let minimum = limit(&self.minimum, least, "minimum")?;
        let maximum = limit(&self.maximum, greatest, "maximum")?;
        if minimum > maximum {
            let location = location.with("minimum");
            return location.error("must not be greater than maximum");
        }
        Ok([minimum, maximum])
    }
}

const KINDS: &str = "string, integer, number or boolean";

fn choices(json: &str, location: KeywordLocation<'_>) -> Result<Vec<String>> {
    let choices: Vec<String> = location.value(json, "an array of strings")?;
    if !(1..=CHOICE_LIMIT).contains(&choices.len()) {
        return location.error(format_args!("must have 1 to {CHOICE_LIMIT} choices"));
    }
    for (index, choice) in choices.iter().enumerate() {
        let is_text = (1..=NAME_LENGTH_LIMIT).contains(&choice.chars().count());
        if !is_text || choice.contains('\0') {
            return location.error(format_args!(
                "choices have 1 to {NAME_LENGTH_LIMIT} characters"
            ));
        }
        if choices[..index].contains(choice) {
            return location.error(format_args!("has '{}' twice", excerpt(choice)));
        }
    }
    Ok(choices)
}

/// A regular expression, which matches in linear time, and whose memory is limited.
fn regex(pattern: &str) -> Result<Regex, String> {
    let mut builder = RegexBuilder::new(pattern);
    let regex = builder.size_limit(PATTERN_SIZE).nest_limit(50).build();
    regex.map_err(|error| {
        format!("is too large, or no regular expression that this program knows: {error}")
    })
}

fn choice(choices: &[String]) -> Kind {
    Kind::Choice(choices.iter().cloned().map(Cow::Owned).collect())
}
