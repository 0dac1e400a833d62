//! Places in a document, for messages.

use std::{
    collections::HashSet,
    fmt::{self, Display},
};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::model::text::excerpt;

/// Why a text is not a definition: the place in the document, what is wrong there, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct DefinitionError {
    place: String,
    message: String,
}

pub(super) type Result<T, E = DefinitionError> = std::result::Result<T, E>;

/// A place in the document.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    property: Option<&'a str>,
    keyword: &'a str,
}

impl<'a> Place<'a> {
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
        let place = match self.property {
            Some(name) if keyword.is_empty() => format!("properties.{}", excerpt(name)),
            Some(name) => format!("properties.{}.{keyword}", excerpt(name)),
            None if keyword.is_empty() => "the definition".to_owned(),
            None => keyword.into_owned(),
        };
        Err(DefinitionError {
            place,
            message: message.to_string(),
        })
    }

    /// The value of a keyword.
    pub(super) fn value<T: DeserializeOwned>(self, json: &RawValue, expected: &str) -> Result<T> {
        self.parse(json.get(), expected)
    }

    pub(super) fn parse<T: DeserializeOwned>(self, json: &str, expected: &str) -> Result<T> {
        match serde_json::from_str(json) {
            Ok(value) => Ok(value),
            Err(_) => self.error(format_args!("must be {expected}")),
        }
    }

    /// A text for people.
    pub(super) fn text(self, json: &RawValue, limit: usize) -> Result<String> {
        let text: String = self.value(json, "a string")?;
        if text.trim().is_empty() || text.chars().count() > limit || text.contains('\0') {
            return self.error(format_args!("must have 1 to {limit} characters"));
        }
        Ok(text)
    }
}

/// The members of an object, in their order.
pub(super) struct Members(pub(super) Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

impl Members {
    /// Fails if a member is repeated.
    pub(super) fn each_once(self, place: Place<'_>) -> Result<Self> {
        let mut names = HashSet::new();
        for (name, _) in &self.0 {
            if !names.insert(name) {
                return place.with(name).error("is given twice; give it once");
            }
        }
        Ok(self)
    }
}
