//! The keywords of a field.

use regex_lite::Regex;

use super::{
    fields::{choice, regex},
    place::{Place, Result},
};
use crate::model::{
    field::NAME_LENGTH_LIMIT,
    kind::{Format, Kind, Pattern},
    members::Members,
    text::excerpt,
};

const TEXT_LENGTH_LIMIT: usize = 10_000;
pub(crate) const CHOICE_LIMIT: usize = 200;
const PATTERN_LIMIT: usize = 1000;
/// The maximum length of titles.
pub(crate) const TITLE_LIMIT: usize = 100;
const DESCRIPTION_LIMIT: usize = 1000;

/// The keywords of a field.
#[derive(Default)]
pub(super) struct Keywords {
    pub(super) kind: Option<String>,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) max_length: Option<usize>,
    pub(super) pattern: Option<Regex>,
    pub(super) format: Option<Format>,
    pub(super) minimum: Option<serde_json::Number>,
    pub(super) maximum: Option<serde_json::Number>,
    pub(super) choices: Option<Vec<String>>,
    pub(super) unique: Option<bool>,
    pub(super) index: bool,
    pub(super) search: bool,
    pub(super) given: Vec<String>,
}

impl Keywords {
    pub(super) fn read(members: &Members<'_>, place: Place<'_>) -> Result<Self> {
        let mut read = Self::default();
        for (keyword, json) in members.in_order() {
            let place = place.with(&keyword);
            match &*keyword {
                "type" => read.kind = Some(place.value(json, KINDS)?),
                "title" => read.title = Some(place.text(json, TITLE_LIMIT)?),
                "description" => read.description = Some(place.text(json, DESCRIPTION_LIMIT)?),
                "maxLength" => {
                    let expected = format!("an integer from 1 to {TEXT_LENGTH_LIMIT}");
                    let length: usize = place.value(json, &expected)?;
                    if !(1..=TEXT_LENGTH_LIMIT).contains(&length) {
                        return place.error(format_args!("must be {expected}"));
                    }
                    read.max_length = Some(length);
                }
                "pattern" => {
                    let pattern = place.text(json, PATTERN_LIMIT)?;
                    match regex(&pattern) {
                        Ok(regex) => read.pattern = Some(regex),
                        Err(message) => return place.error(message),
                    }
                }
                "format" => {
                    let name: String = place.value(json, FORMATS)?;
                    let mut formats = Format::NAMED.iter();
                    read.format = formats.find(|format| format.name() == Some(&name)).copied();
                    if read.format.is_none() {
                        return place.error(format_args!("must be {FORMATS}"));
                    }
                }
                "minimum" => read.minimum = Some(place.value(json, "a number")?),
                "maximum" => read.maximum = Some(place.value(json, "a number")?),
                "enum" => read.choices = Some(choices(json, place)?),
                "unique" => read.unique = Some(place.value(json, "true or false")?),
                "index" => read.index = place.value(json, "true or false")?,
                "search" => read.search = place.value(json, "true or false")?,
                _ => {
                    return place.error(
                        "is not a keyword here; the keywords are type, enum, maxLength, pattern, format, \
                         minimum, maximum, unique, index, search, title and description",
                    );
                }
            }
            read.given.push(keyword.into_owned());
        }
        Ok(read)
    }

    /// Fails if a keyword is given that others exclude.
    fn permit(&self, keywords: &[&str], place: Place<'_>) -> Result<()> {
        const ALWAYS: [&str; 6] = ["type", "title", "description", "unique", "index", "search"];
        let is_excluded = |given: &&String| {
            !keywords.contains(&given.as_str()) && !ALWAYS.contains(&given.as_str())
        };
        match self.given.iter().find(is_excluded) {
            Some(keyword) => place
                .with(keyword)
                .error("does not fit the type of the field; leave it out"),
            None => Ok(()),
        }
    }

    /// The kind, of which the process keeps the texts.
    pub(super) fn kind(&self, place: Place<'_>) -> Result<Kind> {
        match (self.kind.as_deref(), &self.choices) {
            (None | Some("string"), Some(choices)) => {
                self.permit(&["enum"], place)?;
                Ok(choice(choices))
            }
            (Some("string"), None) => {
                self.permit(&["maxLength", "pattern", "format"], place)?;
                let max_length = self.max_length.unwrap_or(NAME_LENGTH_LIMIT);
                let format = match (&self.pattern, self.format) {
                    (Some(_), Some(_)) => {
                        return place
                            .with("pattern")
                            .error("excludes format; give one of them");
                    }
                    (Some(pattern), None) => {
                        Format::Pattern(Pattern(Box::leak(Box::new(pattern.clone()))))
                    }
                    (None, format) => format.unwrap_or(Format::Any),
                };
                Ok(Kind::Text { max_length, format })
            }
            (Some("integer"), None) => self.integer(i64::MIN, i64::MAX, place),
            (Some("number"), None) => {
                self.permit(&["minimum", "maximum"], place)?;
                let limit = |given: &Option<serde_json::Number>, default| {
                    given
                        .as_ref()
                        .and_then(serde_json::Number::as_f64)
                        .unwrap_or(default)
                };
                let minimum = limit(&self.minimum, f64::MIN);
                let maximum = limit(&self.maximum, f64::MAX);
                ordered(minimum <= maximum, place)?;
                Ok(Kind::Number { minimum, maximum })
            }
            (Some("boolean"), None) => {
                self.permit(&[], place)?;
                Ok(Kind::Boolean)
            }
            (None, None) => place.error(format_args!("needs a type ({KINDS}), or an enum")),
            _ => place
                .with("type")
                .error(format_args!("must be {KINDS}; an enum has strings")),
        }
    }

    pub(super) fn integer(&self, minimum: i64, maximum: i64, place: Place<'_>) -> Result<Kind> {
        self.permit(&["minimum", "maximum"], place)?;
        let limit = |given: &Option<serde_json::Number>, default, keyword| match given {
            None => Ok(default),
            Some(number) => match number.as_i64() {
                Some(integer) => Ok(integer),
                None => place.with(keyword).error("must be an integer of 64 bits"),
            },
        };
        let minimum = limit(&self.minimum, minimum, "minimum")?;
        let maximum = limit(&self.maximum, maximum, "maximum")?;
        ordered(minimum <= maximum, place)?;
        Ok(Kind::Integer { minimum, maximum })
    }
}

const KINDS: &str = "string, integer, number or boolean";
const FORMATS: &str = "date or uri";

fn ordered(is_ordered: bool, place: Place<'_>) -> Result<()> {
    if is_ordered {
        return Ok(());
    }
    place
        .with("minimum")
        .error("must not be greater than maximum")
}

fn choices(json: &str, place: Place<'_>) -> Result<Vec<String>> {
    let choices: Vec<String> = place.value(json, "an array of strings")?;
    if !(1..=CHOICE_LIMIT).contains(&choices.len()) {
        return place.error(format_args!("must have 1 to {CHOICE_LIMIT} choices"));
    }
    for (index, choice) in choices.iter().enumerate() {
        let is_text = (1..=NAME_LENGTH_LIMIT).contains(&choice.chars().count());
        if !is_text || choice.contains('\0') {
            return place.error(format_args!(
                "choices have 1 to {NAME_LENGTH_LIMIT} characters"
            ));
        }
        if choices[..index].contains(choice) {
            return place.error(format_args!("has '{}' twice", excerpt(choice)));
        }
    }
    Ok(choices)
}
