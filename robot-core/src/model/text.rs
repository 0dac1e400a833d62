//! Texts: values that are texts in every format of serde, and excerpts.

use std::borrow::Cow;

/// Implements `Deserialize` for types that parse their text.
macro_rules! deserialize_from_text {
    ($($type:ty),+) => {
        $(impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        })+
    };
}

/// Implements `Serialize` for types by the text that `Display` shows.
macro_rules! serialize_as_text {
    ($($type:ty),+) => {
        $(impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        })+
    };
}

/// The beginning of a client's text, for a message that quotes it.
pub(crate) fn excerpt(text: &str) -> Cow<'_, str> {
    const LIMIT: usize = 40;
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

pub(crate) use {deserialize_from_text, serialize_as_text};
