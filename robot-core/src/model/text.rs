//! Values that are texts in every format of serde.

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

pub(crate) use {deserialize_from_text, serialize_as_text};
