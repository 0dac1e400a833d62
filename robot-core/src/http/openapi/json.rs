//! JSON values whose objects keep the order of their members.

use std::borrow::Cow;

use serde::{Serialize, Serializer, ser::SerializeMap};

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Json {
    Flag(bool),
    Number(i64),
    Text(Cow<'static, str>),
    List(Vec<Json>),
    Object(Vec<(Cow<'static, str>, Json)>),
}

/// An object: `object! { "type" => "integer", "minimum" => 0 }`.
macro_rules! object {
    ($($name:expr => $value:expr),* $(,)?) => {
        Json::Object(vec![$(($name.into(), Json::from($value))),*])
    };
}
pub(super) use object;

impl Json {
    /// A list of texts.
    pub(super) fn texts<T: Into<Self>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::List(texts.into_iter().map(Into::into).collect())
    }

    /// A reference to a component, such as `#/components/schemas/Robot`.
    pub(super) fn reference(kind: &str, name: &str) -> Self {
        object! { "$ref" => format!("#/components/{kind}/{name}") }
    }

    /// Adds a member. A value that is no object stays as it is.
    pub(super) fn with(mut self, name: &'static str, value: impl Into<Self>) -> Self {
        if let Self::Object(members) = &mut self {
            members.push((name.into(), value.into()));
        }
        self
    }

    /// Adds a property that need not be there to the schema of an object.
    pub(super) fn with_optional(mut self, name: &'static str, schema: Self) -> Self {
        if let Self::Object(members) = &mut self
            && let Some((_, Self::Object(properties))) = members
                .iter_mut()
                .find(|(member, _)| member == "properties")
        {
            properties.push((name.into(), schema));
        }
        self
    }
}

impl From<bool> for Json {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&'static str> for Json {
    fn from(text: &'static str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Object(members) => {
                let members = members.into_iter();
                Self::Object(
                    members
                        .map(|(name, value)| (name.into(), value.into()))
                        .collect(),
                )
            }
            serde_json::Value::Array(list) => {
                Self::List(list.into_iter().map(Into::into).collect())
            }
            serde_json::Value::Bool(flag) => Self::Flag(flag),
            serde_json::Value::String(text) => Self::Text(text.into()),
            other => Self::Number(other.as_i64().unwrap_or_default()),
        }
    }
}

impl From<Vec<Json>> for Json {
    fn from(list: Vec<Json>) -> Self {
        Self::List(list)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Flag(flag) => flag.serialize(serializer),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
            Self::List(list) => list.serialize(serializer),
            Self::Object(members) => {
                let mut object = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    object.serialize_entry(name, value)?;
                }
                object.end()
            }
        }
    }
}
