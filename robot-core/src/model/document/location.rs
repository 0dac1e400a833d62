//! Locations of keywords in a document, for messages.

use std::fmt::Display;

use serde::de::DeserializeOwned;

use crate::model::{members::Members, text::excerpt};

/// Why a text is not a definition: the location in the document, what is wrong there, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{location}: {message}")]
pub struct DefinitionError {
    location: String,
    message: String,
}

pub(super) type Result<T, E = DefinitionError> = std::result::Result<T, E>;

/// The location of a keyword in the document, or of a property.
#[derive(Clone, Copy)]
pub(super) struct KeywordLocation<'a> {
    property: Option<&'a str>,
    keyword: &'a str,
}

impl<'a> KeywordLocation<'a> {
    pub(super) const fn root(keyword: &'a str) -> Self {
        Self {
            property: None,
            keyword,
        }
    }

    pub(super) const fn property(name: &'a str) -> Self {
        Self {
            property: Some(name),
            keyword: "",
        }
    }

    pub(super) const fn with(self, keyword: &'a str) -> Self {
        Self { keyword, ..self }
    }

    pub(super) fn error<T>(self, message: impl Display) -> Result<T> {
        let keyword = excerpt(self.keyword);
        let location = match self.property {
            Some(name) if keyword.is_empty() => format!("properties.{}", excerpt(name)),
            Some(name) => format!("properties.{}.{keyword}", excerpt(name)),
            None if keyword.is_empty() => "the definition".to_owned(),
            None => keyword.into_owned(),
        };
        Err(DefinitionError {
            location,
            message: message.to_string(),
        })
    }

    /// The value of a keyword.
    pub(super) fn value<T: DeserializeOwned>(self, json: &str, expected: &str) -> Result<T> {
        serde_json::from_str(json).or_else(|_| self.error(format_args!("must be {expected}")))
    }

    /// The members of an object, each of which is given once.
    pub(super) fn members(self, json: &str) -> Result<Members<'_>> {
        let members = serde_json::from_str(json);
        let members: Members<'_> = members.or_else(|error: serde_json::Error| {
            if error.is_data() {
                return self.error("must be a JSON object");
            }
            let (line, column) = (error.line(), error.column());
            self.error(format_args!(
                "is not valid JSON (line {line}, column {column})"
            ))
        })?;
        match members.repeated() {
            Some(name) => self.member(name).error("is given twice; give it once"),
            None => Ok(members),
        }
    }

    /// The location of a member of the object here.
    const fn member(self, name: &'a str) -> Self {
        match self {
            Self {
                property: None,
                keyword,
            } if !keyword.is_empty() => Self::property(name),
            location => location.with(name),
        }
    }

    /// A text for people.
    pub(super) fn text(self, json: &str, limit: usize) -> Result<String> {
        let text: String = self.value(json, "a string")?;
        if text.trim().is_empty() || text.chars().count() > limit || text.contains('\0') {
            return self.error(format_args!("must have 1 to {limit} characters"));
        }
        Ok(text)
    }
}
